#include "simulator/scenario.h"

#include <string.h>

#include "base/units.h"

static int read_texts(const struct scenario *scenario, struct sim_config *config,
                      struct error *error)
{
    int rc = algorithm_parse(scenario->algorithm, &config->algorithm, &config->elector, error);
    knobs_defaults(&config->elector.knobs);
    if (rc == 0)
        rc = knobs_parse(scenario->knobs, &config->elector.knobs, error);
    physics_defaults(&config->physics);
    if (rc == 0)
        rc = physics_parse(scenario->physics, &config->physics, error);
    config->fenced = strcmp(scenario->resource, "fenced") == 0;
    if (rc == 0 && !config->fenced && strcmp(scenario->resource, "unfenced") != 0)
        rc = error_usage(error, "resource '%.60s' is not one of fenced, unfenced",
                         scenario->resource);
    return rc;
}

int sim_from_scenario(const struct scenario *scenario, struct sim_config *out, struct error *error)
{
    struct sim_config config = {
        .elector = {.nodes = scenario->nodes, .witnesses = scenario->witnesses},
        .clients = scenario->clients,
        .client_pause_ns = NS_PER_S / scenario->rate,
        .duration_ns = scenario->duration_ns,
        .schedule = &scenario->schedule,
    };
    config.kind_count = schedule_kinds(&scenario->schedule, config.kinds);
    int rc = read_texts(scenario, &config, error);
    if (rc == 0)
        *out = config;
    return rc;
}
