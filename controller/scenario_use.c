#include "controller/scenario_use.h"

#include <string.h>

#include <errno.h>

#include "controller/expectation.h"
#include "nemesis/shipped.h"
#include "nodes/elector.h"
#include "simulator/sim.h"
#include "simulator/suited.h"

/* Which option a key stands for. The simulator's physics are nothing to a real run. */
static const struct counterpart {
    const char *key, *option;
    bool added; /* what the user gives comes after it instead of replacing it */
} counterparts[] = {
    {"algorithm", "algorithm", false}, {"nodes", "nodes", false}, {"witnesses", "witness", false},
    {"clients", "clients", false},     {"rate", "rate", false},   {"time", "time", false},
    {"resource", "resource", false},   {"set", "set", true},      {"physics", "physics", true},
    {"expect", "expect", false},
};
#define COUNTERPARTS (sizeof counterparts / sizeof counterparts[0])
_Static_assert(COUNTERPARTS < SCENARIO_KEYS_MAX, "room for every text, and the seed's");

static const char *const excluded[] = {"faults", "every", "swarm", NULL};

static int refuse_excluded(const struct command_line *line, struct error *error)
{
    for (uint32_t i = 0; excluded[i]; i++)
        if (command_has(line, excluded[i]) && command_given(line, excluded[i]))
            return error_usage(error,
                               "--%s and --scenario exclude each other: a scenario says "
                               "itself what breaks when",
                               excluded[i]);
    return 0;
}

/* What only its owner can read, read once for the sake of the line number. */
static int vet(const struct scenario *scenario, struct error *error)
{
    const struct algorithm *algorithm;
    struct elector_config elector = {.nodes = scenario->nodes, .witnesses = scenario->witnesses};
    struct physics physics;
    struct expectation expect;
    knobs_defaults(&elector.knobs);
    physics_defaults(&physics);
    if (algorithm_parse(scenario->algorithm, &algorithm, &elector, error) < 0)
        return scenario_blame(scenario, "algorithm", error);
    if (knobs_parse(scenario->knobs, &elector.knobs, error) < 0)
        return scenario_blame(scenario, "set", error);
    if (physics_parse(scenario->physics, &physics, error) < 0)
        return scenario_blame(scenario, "physics", error);
    if (expectation_parse(scenario->expect, &expect, error) < 0)
        return scenario_blame(scenario, "expect", error);
    return 0;
}

/* Whether "a=1,b=2" gives the name at the head of `pair`. */
static bool gives(const char *list, const char *pair)
{
    size_t name = strcspn(pair, "=") + 1;
    for (const char *at = list; *at; at += *at == ',') {
        if (strncmp(at, pair, name) == 0)
            return true;
        at += strcspn(at, ",");
    }
    return false;
}

/* What the user gives comes instead of what the file gives, name by name. */
static void merge(const char *file, const char *user, struct text *out)
{
    for (const char *at = file; *at; at += *at == ',') {
        size_t length = strcspn(at, ",");
        if (!gives(user, at))
            text_add(out, "%.*s,", (int)length, at);
        at += length;
    }
    text_add(out, "%s", user);
}

static int take_one(const struct counterpart *counterpart, struct text *text,
                    struct scenario_use *use, struct error *error)
{
    bool given = command_given(&use->line, counterpart->option);
    if (given && !counterpart->added)
        return 0;
    scenario_value(&use->scenario, counterpart->key, text);
    if (given) {
        struct text merged = {0};
        merge(text_string(text), command_text(&use->line, counterpart->option), &merged);
        text_release(text);
        *text = merged;
    }
    if (text->length == 0)
        return 0;
    if (command_give(&use->line, counterpart->option, text_string(text), error) < 0)
        return scenario_blame(&use->scenario, counterpart->key, error);
    return 0;
}

/* Where the file fixes no seed a real run draws one, and twenty are simulated. */
static int take_seed(struct scenario_use *use, struct text *text, struct error *error)
{
    bool many = command_has(&use->line, "seeds"), fixed = scenario_gives(&use->scenario, "seed");
    const char *option = many ? "seeds" : "seed";
    if (command_given(&use->line, option) || (!many && !fixed))
        return 0;
    if (fixed)
        scenario_value(&use->scenario, "seed", text);
    if (fixed && many)
        text_add(text, "..%s", text_string(text));
    else if (many)
        text_add(text, "1..20");
    return command_give(&use->line, option, text_string(text), error);
}

static int fit(const struct scenario_use *use, struct error *error)
{
    uint64_t nodes;
    const char *text = command_text(&use->line, "nodes");
    int rc = parse_count(text, &nodes, error);
    if (rc == 0 && (nodes < 1 || nodes > NODES_MAX))
        rc = error_usage(error, "'%.60s' must be between 1 and %u", text, NODES_MAX);
    if (rc < 0) {
        error_prefix(error, "--nodes with --scenario");
        return rc;
    }
    return scenario_fits(&use->scenario, (uint32_t)nodes, command_number(&use->line, "time"),
                         error);
}

/* Steps about messages must be about those which this algorithm sends. */
static int suit(const struct scenario_use *use, struct error *error)
{
    const struct algorithm *algorithm;
    struct elector_config elector = {.nodes = use->scenario.nodes};
    knobs_defaults(&elector.knobs);
    int rc = algorithm_parse(command_text(&use->line, "algorithm"), &algorithm, &elector, error);
    if (rc == 0 && suited_schedule(algorithm, &use->scenario.schedule, error) < 0)
        rc = scenario_blame(&use->scenario, "steps", error);
    return rc;
}

static int fill(struct scenario_use *use, struct error *error)
{
    int rc = scenario_find(command_text(&use->line, "scenario"), &use->scenario, error);
    if (rc == 0)
        rc = vet(&use->scenario, error);
    for (size_t i = 0; rc == 0 && i < COUNTERPARTS; i++)
        if (command_has(&use->line, counterparts[i].option))
            rc = take_one(&counterparts[i], &use->texts[i], use, error);
    if (rc == 0)
        rc = take_seed(use, &use->texts[COUNTERPARTS], error);
    if (rc == 0)
        rc = fit(use, error);
    if (rc == 0)
        rc = suit(use, error);
    if (rc == 0)
        use->kind_count = schedule_kinds(&use->scenario.schedule, use->kinds);
    return rc;
}

int scenario_use(const struct command_line *line, struct scenario_use *out, struct error *error)
{
    *out = (struct scenario_use){.line = *line, .given = command_given(line, "scenario")};
    if (!out->given)
        return 0;
    int rc = refuse_excluded(line, error);
    if (rc == 0)
        rc = fill(out, error);
    if (rc < 0)
        scenario_use_release(out);
    return rc;
}

void scenario_use_release(struct scenario_use *use)
{
    scenario_release(&use->scenario);
    for (size_t i = 0; i < SCENARIO_KEYS_MAX; i++)
        text_release(&use->texts[i]);
    *use = (struct scenario_use){0};
}
