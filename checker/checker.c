/* The pass: every event goes to the checks that asked for its kind, by a table made once. */
#include "checker/checker.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/units.h"
#include "checker/met_messages.h"

/* One check at work. `state` is NULL for a check that is not owed. */
struct running {
    const struct check *check;
    void *state;
    struct finding finding;
};

struct listener {
    void (*step)(void *state, const struct event *event, struct finding *finding);
    void *state;
    struct finding *finding;
};

struct checker {
    struct running running[CHECKS_MAX];
    uint32_t count;
    struct listener listeners[EVENT_FS][CHECKS_MAX];
    uint32_t listener_count[EVENT_FS];
    struct measurer *measurer;
    struct met_messages met;
    uint64_t events, end_ns;
};

/* Whether `name` is in the comma-separated list. */
static bool listed(const char *names, const char *name)
{
    size_t length = strlen(name);
    for (const char *at = names; at; at = strchr(at, ',') ? strchr(at, ',') + 1 : NULL)
        if (strcspn(at, ",") == length && memcmp(at, name, length) == 0)
            return true;
    return false;
}

static int unknown_name(struct slice name, struct error *error)
{
    struct text allowed = {0};
    for (uint32_t i = 0; checks[i]; i++)
        text_add(&allowed, "%s%s", i ? ", " : "", checks[i]->name);
    int rc =
        error_usage(error, "unknown check '%.*s' (accepted: %s)",
                    (int)(name.length < 60 ? name.length : 60), name.at, text_string(&allowed));
    text_release(&allowed);
    return rc;
}

static int vet_names(const char *names, struct error *error)
{
    for (const char *at = names; at; at = strchr(at, ',') ? strchr(at, ',') + 1 : NULL) {
        struct slice name = {at, strcspn(at, ",")};
        if (!check_find(name))
            return unknown_name(name, error);
    }
    return 0;
}

static int vet_header(const struct history_header *header, struct error *error)
{
    if (header->nodes == 0 || header->nodes > SIMULATED_NODES_MAX)
        return error_usage(error, "the header names %u nodes, 1 to %u can be judged", header->nodes,
                           SIMULATED_NODES_MAX);
    if (header->witnesses > header->nodes)
        return error_usage(error, "the header names %u witnesses among %u nodes", header->witnesses,
                           header->nodes);
    return 0;
}

static bool is_owed(const struct check *check, const struct history_header *header)
{
    return (header->traits & check->traits) == check->traits &&
           (!check->owed || check->owed(header));
}

static void listen(struct checker *checker, struct running *running)
{
    for (uint32_t f = 0; f < EVENT_FS; f++)
        if (running->check->events & 1u << f)
            checker->listeners[f][checker->listener_count[f]++] =
                (struct listener){running->check->step, running->state, &running->finding};
}

static void add_check(struct checker *checker, const struct check *check, bool owed,
                      const struct history_header *header)
{
    assert(checker->count < CHECKS_MAX);
    struct running *running = &checker->running[checker->count++];
    running->check = check;
    if (!owed)
        return;
    running->state = must_alloc(1, check->state_bytes);
    check->begin(running->state, header);
    listen(checker, running);
}

int checker_new(const struct history_header *header, const char *names, struct checker **out,
                struct error *error)
{
    int rc = vet_names(names, error);
    if (rc == 0)
        rc = vet_header(header, error);
    if (rc < 0)
        return rc;
    struct checker *checker = must_alloc(1, sizeof *checker);
    for (uint32_t i = 0; checks[i]; i++)
        if (!names || listed(names, checks[i]->name))
            add_check(checker, checks[i], is_owed(checks[i], header), header);
    checker->measurer = measurer_new(header);
    met_init(&checker->met);
    *out = checker;
    return 0;
}

void checker_step(struct checker *checker, const struct event *event)
{
    assert(event->f < EVENT_FS);
    uint32_t count = checker->listener_count[event->f];
    for (uint32_t i = 0; i < count; i++) {
        const struct listener *listener = &checker->listeners[event->f][i];
        bool violated = listener->finding->violations > 0;
        listener->step(listener->state, event, listener->finding);
        if (!violated && listener->finding->violations > 0)
            met_explain(&checker->met, event, listener->finding);
    }
    if (event->f == F_MESSAGE)
        met_step(&checker->met, event);
    measurer_step(checker->measurer, event);
    checker->events++;
    if (event->time_ns > checker->end_ns)
        checker->end_ns = event->time_ns;
}

bool checker_violated(const struct checker *checker)
{
    for (uint32_t i = 0; i < checker->count; i++)
        if (checker->running[i].finding.verdict == VERDICT_INVALID)
            return true;
    return false;
}

bool check_result_counts(const struct check_result *result)
{
    return result->owed && !result->untested;
}

const char *check_result_word(const struct check_result *result)
{
    if (!result->owed)
        return "not owed";
    return result->untested ? "untested" : verdict_name(result->finding.verdict);
}

/* What judged nothing holds nothing. True when it just was not tested. */
static bool settle_evidence(const struct check *check, struct finding *finding)
{
    char counted[COUNT_TEXT_MAX];
    if (!finding->evidence[0])
        finding_evidence(finding, "%s", count_of(finding->judged, check->judges, counted));
    if (finding->judged || finding->verdict != VERDICT_VALID)
        return false;
    if (!check->may_idle)
        finding_unknown(finding, NULL, 0, "nothing to judge: %s", finding->evidence);
    return check->may_idle;
}

static void end_check(struct running *running, uint64_t end_ns, struct check_result *out)
{
    *out = (struct check_result){.check = running->check, .owed = running->state != NULL};
    if (!running->state)
        return;
    running->check->end(running->state, end_ns, &running->finding);
    free(running->state);
    out->untested = settle_evidence(running->check, &running->finding);
    out->finding = running->finding;
}

void checker_end(struct checker *checker, struct report_data *out)
{
    bool judged = false;
    *out = (struct report_data){.events = checker->events, .result_count = checker->count};
    for (uint32_t i = 0; i < checker->count; i++) {
        struct check_result *result = &out->results[i];
        end_check(&checker->running[i], checker->end_ns, result);
        judged = judged || check_result_counts(result);
        if (result->finding.verdict > out->verdict)
            out->verdict = result->finding.verdict;
    }
    if (!judged)
        out->verdict = VERDICT_UNKNOWN;
    measurer_end(checker->measurer, &out->measure);
    met_release(&checker->met);
    if (out->measure.interrupted && out->verdict < VERDICT_UNKNOWN)
        out->verdict = VERDICT_UNKNOWN;
    free(checker);
}

void report_data_release(struct report_data *data)
{
    free(data->measure.failovers);
    data->measure.failovers = NULL;
    data->measure.failover_count = data->measure.failover_capacity = 0;
}

static void note_damage(struct report_data *data, const char *damage)
{
    (void)snprintf(data->damage, sizeof data->damage, "%s", damage);
    if (data->verdict < VERDICT_UNKNOWN)
        data->verdict = VERDICT_UNKNOWN;
}

int check_history(struct history_reader *reader, const char *names, struct report_data *out,
                  struct error *error)
{
    struct checker *checker;
    struct event event;
    int rc = checker_new(history_header(reader), names, &checker, error);
    if (rc < 0)
        return rc;
    while (history_next(reader, &event) == 1)
        checker_step(checker, &event);
    checker_end(checker, out);
    if (history_damage(reader))
        note_damage(out, history_damage(reader));
    return 0;
}

int check_file(const char *path, const char *names, struct report_data *out, struct error *error)
{
    struct history_reader *reader;
    int rc = history_open(path, &reader, error);
    if (rc < 0)
        return rc;
    rc = check_history(reader, names, out, error);
    if (rc < 0)
        error_prefix(error, "%s", path);
    history_reader_close(reader);
    return rc;
}
