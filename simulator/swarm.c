#include "simulator/swarm.h"

#include <assert.h>
#include <stddef.h>
#include <string.h>

#include "base/units.h"

/* Rows of the tables by field: the structs are nothing but the values in table order. */
#define KNOB(field) (offsetof(struct knobs, field) / sizeof(uint64_t))
#define PHYSIC(field) (offsetof(struct physics, field) / sizeof(uint64_t))

/* Draws that an algorithm refused; then the base is taken, which it accepts. */
#define ATTEMPTS 20

int options_given(const struct option *table, const char *what, const char *text, uint64_t *ret,
                  struct error *error)
{
    struct option_values values;
    uint32_t count = options_count(table);
    memset(&values, 0xff, sizeof values); /* no option may have this value */
    int rc = options_parse(table, what, text, &values, error);
    if (rc < 0)
        return rc;
    *ret = 0;
    for (uint32_t i = 0; i < count; i++)
        if (values.at[i] != UINT64_MAX)
            *ret |= UINT64_C(1) << i;
    return 0;
}

static bool given(uint64_t mask, size_t row)
{
    return mask >> row & 1;
}

static bool coin(struct random *random)
{
    return random_chance(random, PPM_ONE / 2);
}

/* Three digits are enough, and can be read and typed. */
static uint64_t tidy(uint64_t ns)
{
    uint64_t unit = 1;
    while (ns / unit >= 1000)
        unit *= 10;
    return ns / unit * unit;
}

/* Log-uniform: as likely between 1 and 2 ms as between 10 and 20. */
static uint64_t drawn_scale(struct random *random, uint64_t low, uint64_t high)
{
    uint32_t octaves = 0;
    assert(low > 0);
    while (low << (octaves + 1) <= high)
        octaves++;
    uint64_t from = low << random_below(random, octaves + 1);
    uint64_t to = from * 2 < high ? from * 2 : high;
    return tidy(random_between(random, from, to > from ? to : from));
}

static uint64_t smaller(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

/* Timeouts keep the order that knobs_parse() demands; a given one bounds the drawn ones. */
static void draw_timeouts(struct random *random, uint64_t mask, struct knobs *knobs)
{
    static const uint64_t timeouts_ms[] = {50, 100, 150, 150, 200, 300, 500};
    uint64_t min_ns =
        timeouts_ms[random_below(random, sizeof timeouts_ms / sizeof timeouts_ms[0])] * NS_PER_MS;
    uint64_t spread_ppm = random_between(random, PPM_ONE / 5, 3 * PPM_ONE / 2);
    uint64_t beats = random_between(random, 2, 8);
    if (!given(mask, KNOB(election_timeout_min)))
        knobs->election_timeout_min =
            given(mask, KNOB(election_timeout_max)) ? knobs->election_timeout_max / 2 : min_ns;
    if (!given(mask, KNOB(election_timeout_max)))
        knobs->election_timeout_max =
            tidy(knobs->election_timeout_min + knobs->election_timeout_min / PPM_ONE * spread_ppm);
    if (!given(mask, KNOB(heartbeat)))
        knobs->heartbeat = tidy(knobs->election_timeout_min / beats);
    else if (knobs->election_timeout_min < 2 * knobs->heartbeat)
        knobs->election_timeout_min = knobs->election_timeout_max = 2 * knobs->heartbeat;
}

static void draw_knobs(struct random *random, uint64_t mask, struct knobs *knobs)
{
    draw_timeouts(random, mask, knobs);
    uint64_t write_every = drawn_scale(random, 5 * NS_PER_MS, 80 * NS_PER_MS);
    uint64_t request_timeout = drawn_scale(random, 100 * NS_PER_MS, 800 * NS_PER_MS);
    uint64_t registers = random_between(random, 1, 6);
    if (!given(mask, KNOB(write_every)))
        knobs->write_every = write_every;
    if (!given(mask, KNOB(request_timeout)))
        knobs->request_timeout = request_timeout;
    if (!given(mask, KNOB(registers)))
        knobs->registers = registers;
}

/* Clocks may drift as far as the algorithm says it can bear: a lease states its bound as an option;
 * without a lease only timeouts stretch. */
static uint64_t drift_bound(const struct sim_config *config)
{
    const struct algorithm *algorithm = config->algorithm;
    int row = algorithm->options ? options_find(algorithm->options, slice_of("drift")) : -1;
    if (row >= 0)
        return config->elector.options.at[row];
    bool lease = algorithm->traits(&config->elector.options) >> TRAIT_LEASE & 1;
    return lease ? 0 : PPM_ONE / 100;
}

/* Never so slow that a healthy cluster could not elect: liveness is owed after the heal. */
static void draw_speed(struct random *random, uint64_t mask, const struct knobs *knobs,
                       struct physics *physics)
{
    uint64_t slowest = smaller(knobs->election_timeout_min / 10, 10 * NS_PER_MS);
    uint64_t latency = drawn_scale(random, 50 * NS_PER_US, slowest);
    uint64_t part = random_between(random, 1, 10);
    uint64_t fsync = coin(random) ? 0 : drawn_scale(random, 100 * NS_PER_US, slowest);
    if (!given(mask, PHYSIC(latency_max)))
        physics->latency_max = given(mask, PHYSIC(latency_min)) ? physics->latency_min : latency;
    if (!given(mask, PHYSIC(latency_min)))
        physics->latency_min = tidy(physics->latency_max / part);
    if (!given(mask, PHYSIC(fsync_max)))
        physics->fsync_max = given(mask, PHYSIC(fsync_min)) ? physics->fsync_min : fsync;
    if (!given(mask, PHYSIC(fsync_min)))
        physics->fsync_min = tidy(physics->fsync_max / part);
}

static void draw_physics(struct random *random, uint64_t mask, struct sim_config *config)
{
    struct physics *physics = &config->physics;
    draw_speed(random, mask, &config->elector.knobs, physics);
    bool in_order = coin(random);
    uint64_t power_loss = coin(random) ? PPM_ONE / 2 : 0;
    uint64_t bound = drift_bound(config);
    uint64_t drift = coin(random) ? tidy(random_between(random, 0, bound)) : 0;
    uint64_t spread = tidy(random_between(random, 0, 100 * NS_PER_MS));
    if (!given(mask, PHYSIC(in_order)))
        physics->in_order = in_order;
    if (!given(mask, PHYSIC(power_loss)))
        physics->power_loss = power_loss;
    if (!given(mask, PHYSIC(drift)))
        physics->drift = drift;
    if (!given(mask, PHYSIC(start_spread)))
        physics->start_spread = spread;
}

/* Half of the kinds, at least one. */
static void draw_kinds(struct random *random, const struct sim_config *base, struct sim_config *out)
{
    out->kind_count = 0;
    for (uint32_t i = 0; i < base->kind_count; i++)
        if (coin(random))
            out->kinds[out->kind_count++] = base->kinds[i];
    if (out->kind_count == 0 && base->kind_count)
        out->kinds[out->kind_count++] = base->kinds[random_below(random, base->kind_count)];
}

static void draw_rates(struct random *random, const struct sim_config *base, struct sim_config *out)
{
    out->fault_every_ns =
        tidy(random_between(random, base->fault_every_ns / 2, 2 * base->fault_every_ns));
    if (base->clients)
        out->clients = (uint32_t)random_between(random, 1, base->clients);
}

static bool accepted(const struct sim_config *config)
{
    struct error ignored;
    return !config->algorithm->validate ||
           config->algorithm->validate(&config->elector, &ignored) == 0;
}

static void draw_all(const struct swarm_request *request, struct random *random,
                     struct sim_config *out)
{
    draw_kinds(random, &request->base, out);
    draw_rates(random, &request->base, out);
    for (int attempt = 0; attempt < ATTEMPTS; attempt++) {
        out->elector.knobs = request->base.elector.knobs;
        draw_knobs(random, request->knobs_given, &out->elector.knobs);
        if (accepted(out))
            break;
        out->elector.knobs = request->base.elector.knobs;
    }
    draw_physics(random, request->physics_given, out);
}

void swarm_draw(const struct swarm_request *request, uint64_t seed, struct sim_config *out)
{
    struct random random;
    random_init(&random, seed, "swarm", 0);
    *out = request->base;
    out->seed = seed;
    out->elector.nodes = (uint32_t)random_between(&random, request->nodes_min, request->nodes_max);
    if (!request->off)
        draw_all(request, &random, out);
}

void swarm_format(const struct sim_config *config, struct text *out)
{
    char every[UNIT_TEXT_MAX];
    text_add(out, "n=%u clients=%u faults=", config->elector.nodes, config->clients);
    faults_format(config->kinds, config->kind_count, out);
    text_add(out, " every=%s ", format_duration(config->fault_every_ns, every));
    knobs_format(&config->elector.knobs, true, out);
    text_add(out, " ");
    physics_format(&config->physics, true, out);
}
