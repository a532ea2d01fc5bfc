/* What a script may expect. An expectation that does not hold fails the script, rewriting or not.
 */
#include "tests/script/words.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "base/units.h"
#include "checker/checker.h"

static int mismatch(const struct text *want, const struct text *got, struct error *error)
{
    if (strcmp(text_string(want), text_string(got)) == 0)
        return 0;
    return error_set(error, -EPROTO, "expected%s, got%s", text_string(want), text_string(got));
}

/* expect-leader 1 [2...] | none: exactly these running nodes lead. */
static int expect_leader(struct world *world, const struct words *words, struct error *error)
{
    struct text want = {0}, got = {0};
    for (uint32_t i = 1; i < words->count; i++)
        text_add(&want, " %s", words->at[i]);
    for (uint32_t id = 1; id <= world->count; id++) {
        const struct script_node *node = world_node(world, id);
        if (node->state && node->output.belief.role == ROLE_LEADER)
            text_add(&got, " %" PRIu32, id);
    }
    if (got.length == 0)
        text_add(&got, " none");
    int rc = mismatch(&want, &got, error);
    text_release(&want);
    text_release(&got);
    return rc;
}

static int expect_number(const char *want, uint64_t got, struct error *error)
{
    uint64_t number = 0;
    int rc = strcmp(want, "none") == 0 ? 0 : parse_count(want, &number, error);
    if (rc == 0 && number != got)
        rc = error_set(error, -EPROTO, "expected %s, got %" PRIu64, want, got);
    return rc;
}

static int expect_term(struct world *world, const struct words *words, struct error *error)
{
    uint32_t id;
    int rc = read_id(world, words->at[1], &id, error);
    return rc < 0 ? rc
                  : expect_number(words->at[2], world_node(world, id)->output.belief.term, error);
}

static int expect_follows(struct world *world, const struct words *words, struct error *error)
{
    uint32_t id;
    int rc = read_id(world, words->at[1], &id, error);
    return rc < 0 ? rc
                  : expect_number(words->at[2], world_node(world, id)->output.belief.leader, error);
}

/* expect-role 1 candidate: as it believes itself. */
static int expect_role(struct world *world, const struct words *words, struct error *error)
{
    static const char *const names[] = {
        [ROLE_FOLLOWER] = "follower", [ROLE_CANDIDATE] = "candidate", [ROLE_LEADER] = "leader"};
    uint32_t id;
    int rc = read_id(world, words->at[1], &id, error);
    if (rc < 0)
        return rc;
    const char *got = names[world_node(world, id)->output.belief.role];
    return strcmp(got, words->at[2]) == 0
               ? 0
               : error_set(error, -EPROTO, "expected %s, got %s", words->at[2], got);
}

/* expect-durable 1 vote 3: what the disk says, whether the node runs or not. */
static int expect_durable(struct world *world, const struct words *words, struct error *error)
{
    uint32_t id;
    int rc = read_id(world, words->at[1], &id, error);
    if (rc < 0)
        return rc;
    const char *const *names = world->algorithm->durable;
    for (uint32_t i = 0; names[i]; i++)
        if (strcmp(names[i], words->at[2]) == 0)
            return expect_number(words->at[3], world_node(world, id)->disk.word[i], error);
    return error_usage(error, "%s makes no '%s' durable", world->algorithm->name, words->at[2]);
}

/* Feed all events so far to one check. */
static int run_check(struct world *world, const char *name, struct report_data *out,
                     struct error *error)
{
    const struct elector_config *config = &world->nodes[0].config;
    struct history_header header = {.nodes = world->count,
                                    .witnesses = config->witnesses,
                                    .traits = world->algorithm->traits(&config->options),
                                    .knobs = config->knobs};
    struct checker *checker;
    const uint8_t *bytes = (const uint8_t *)world->events.at;
    size_t used = 0, at = 0;
    struct event event;
    int rc = checker_new(&header, name, &checker, error);
    if (rc < 0)
        return rc;
    for (uint64_t index = 0; rc == 0 && at < world->events.length; index++, at += used) {
        rc = event_decode(bytes + at, world->events.length - at, &event, &used, error);
        event.index = index;
        if (rc == 0)
            checker_step(checker, &event);
    }
    checker_end(checker, out);
    return rc;
}

static int expect_check(struct world *world, const struct words *words, struct error *error)
{
    struct report_data report;
    int rc = run_check(world, words->at[1], &report, error);
    if (rc < 0)
        return rc;
    const char *got = verdict_name(report.verdict);
    if (report.result_count == 1 && report.results[0].finding.verdict != VERDICT_VALID)
        text_add(world->trace, "  %s\n", report.results[0].finding.reason);
    if (strcmp(got, words->at[2]) != 0)
        rc = error_set(error, -EPROTO, "expected %s, got %s", words->at[2], got);
    report_data_release(&report);
    return rc;
}

const struct command expectations[] = {
    {"expect-leader", 1, 12, expect_leader},
    {"expect-term", 2, 2, expect_term},
    {"expect-follows", 2, 2, expect_follows},
    {"expect-durable", 3, 3, expect_durable},
    {"expect-check", 2, 2, expect_check},
    {"expect-role", 2, 2, expect_role},
    {.name = NULL},
};
