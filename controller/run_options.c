#define _GNU_SOURCE /* getrandom */
#include "controller/run_options.h"

#include <assert.h>
#include <sys/random.h>

#include "controller/service_use.h"
#include "nemesis/network/backend.h"

int run_options_algorithm(const char *algorithm, const char *knobs, struct run_config *config,
                          struct error *error)
{
    struct elector_config *elector = &config->elector;
    knobs_defaults(&elector->knobs);
    int rc = algorithm_parse(algorithm, &config->algorithm, elector, error);
    if (rc == 0 && knobs)
        rc = knobs_parse(knobs, &elector->knobs, error);
    if (rc < 0)
        return rc;
    bool asks = algorithm_has_service(config->algorithm->traits(&elector->options));
    config->service = asks ? &service_use_embedded : NULL;
    if (elector->witnesses >= elector->nodes)
        return error_usage(error,
                           "--witness (%u) must be less than --nodes (%u), or nobody can lead",
                           elector->witnesses, elector->nodes);
    return config->algorithm->validate ? config->algorithm->validate(elector, error) : 0;
}

int run_options_network(const char *name, const struct network_backend **out, struct error *error)
{
    struct text accepted = {0};
    text_add(&accepted, "auto");
    for (uint32_t i = 0; network_backends[i]; i++)
        text_add(&accepted, ", %s", network_backends[i]->name);
    const struct network_backend *named = network_find(name);
    bool any = slice_equals(slice_of(name), "auto");
    int rc = 0;
    if (!named && !any)
        rc = error_usage(error, "--network: '%.60s' is unknown (accepted: %s)", name,
                         text_string(&accepted));
    text_release(&accepted);
    if (rc < 0)
        return rc;
    for (uint32_t i = 0; network_backends[i]; i++) {
        if (named && network_backends[i] != named)
            continue;
        rc = network_backends[i]->probe(error);
        *out = network_backends[i];
        if (rc == 0)
            return 0;
        error_prefix(error, "network %s", network_backends[i]->name);
    }
    return rc;
}

uint64_t run_options_draw_seed(void)
{
    uint32_t seed = 0;
    ssize_t got = getrandom(&seed, sizeof seed, 0);
    assert(got == sizeof seed); /* never short for so few bytes */
    (void)got;
    return seed;
}
