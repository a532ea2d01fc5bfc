/* Schedules as lists and as text. */
#include "nemesis/plan.h"

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

void schedule_add(struct schedule *schedule, const struct scheduled_fault *scheduled)
{
    if (schedule->count == schedule->capacity) {
        schedule->capacity = schedule->capacity ? schedule->capacity * 2 : 16;
        schedule->faults =
            must_grow(schedule->faults, schedule->capacity, sizeof *schedule->faults);
    }
    uint32_t at = schedule->count++;
    for (; at > 0 && schedule->faults[at - 1].at_ns > scheduled->at_ns; at--) {
        schedule->faults[at] = schedule->faults[at - 1];
        schedule->faults[at].id = at + 1;
    }
    schedule->faults[at] = *scheduled;
    schedule->faults[at].id = at + 1;
}

uint32_t schedule_kinds(const struct schedule *schedule, const struct fault *out[FAULTS_MAX])
{
    uint32_t count = 0;
    for (uint32_t kind = 0; faults[kind]; kind++) {
        uint32_t i = 0;
        while (i < schedule->count && schedule->faults[i].fault != faults[kind])
            i++;
        if (i < schedule->count)
            out[count++] = faults[kind];
    }
    return count;
}

void schedule_release(struct schedule *schedule)
{
    free(schedule->faults);
    *schedule = (struct schedule){0};
}

/* How a line says whom the fault is meant for. */
static const char *target_word(const struct fault *fault)
{
    return fault->between ? "from" : "on";
}

void scheduled_fault_format(const struct scheduled_fault *scheduled, struct text *out)
{
    char buffer[UNIT_TEXT_MAX];
    const struct option *table = scheduled->fault->parameters;
    text_add(out, "at=%s ", format_duration(scheduled->at_ns, buffer));
    if (scheduled->after.nth) {
        text_add(out, "after=");
        trigger_format(&scheduled->after, out);
        text_add(out, " ");
    }
    text_add(out, "fault=%s %s=", scheduled->fault->name, target_word(scheduled->fault));
    target_format(&scheduled->target, out);
    if (scheduled->fault->between) {
        text_add(out, " to=");
        target_format(&scheduled->to, out);
    }
    if (scheduled->duration_ns != UINT64_MAX)
        text_add(out, " for=%s", format_duration(scheduled->duration_ns, buffer));
    for (uint32_t i = 0; i < options_count(table); i++) {
        text_add(out, " %s=", table[i].name);
        options_format_one(&table[i], scheduled->parameters.at[i], out);
    }
    if (scheduled->seed)
        text_add(out, " seed=%" PRIu64, scheduled->seed);
}

bool scheduled_is_named(const struct scheduled_fault *scheduled)
{
    return scheduled->target.role == TARGET_NODES &&
           (!scheduled->fault->between || scheduled->to.role == TARGET_NODES);
}

uint32_t scheduled_nodes_min(const struct scheduled_fault *scheduled)
{
    uint32_t min = scheduled->fault->nodes_min;
    uint32_t on = target_nodes_min(scheduled->target.role);
    uint32_t to = target_nodes_min(scheduled->to.role);
    min = on > min ? on : min;
    return to > min ? to : min;
}

/* ---- parsing ---- */

struct word {
    struct slice name;
    const char *value; /* copy, terminated */
};

#define WORDS_MAX (OPTIONS_MAX + 7)

struct words {
    struct word word[WORDS_MAX];
    uint32_t count;
    char *copy;
};

static bool is_named_before(const struct words *words, const char *name)
{
    for (uint32_t i = 0; i < words->count; i++)
        if (slice_equals(words->word[i].name, name))
            return true;
    return false;
}

static int add_word(struct words *words, char *word, struct error *error)
{
    char *equals = strchr(word, '=');
    if (!equals)
        return error_usage(error, "'%.60s' in a schedule is not NAME=VALUE", word);
    *equals = '\0';
    if (is_named_before(words, word))
        return error_usage(error, "'%.60s' is given twice", word);
    if (words->count == WORDS_MAX)
        return error_usage(error, "more than %d words", WORDS_MAX);
    words->word[words->count++] = (struct word){slice_of(word), equals + 1};
    return 0;
}

static int split_words(const char *line, struct words *words, struct error *error)
{
    words->copy = must_copy(line);
    for (char *at = words->copy; *at;) {
        size_t length = strcspn(at, " ");
        bool last = at[length] == '\0';
        at[length] = '\0';
        int rc = length ? add_word(words, at, error) : 0;
        if (rc < 0)
            return rc;
        at += last ? length : length + 1;
    }
    return 0;
}

static const char *value_of(const struct words *words, const char *name)
{
    for (uint32_t i = 0; i < words->count; i++)
        if (slice_equals(words->word[i].name, name))
            return words->word[i].value;
    return NULL;
}

static int parse_fault(const struct words *words, struct scheduled_fault *out, struct error *error)
{
    const char *name = value_of(words, "fault");
    if (!name)
        return error_usage(error, "a scheduled fault needs fault=NAME");
    out->fault = fault_find(slice_of(name));
    if (!out->fault)
        return error_usage(error, "unknown fault '%.60s' (coup list faults names them)", name);
    return 0;
}

static int parse_time(const char *name, const char *value, uint64_t low, uint64_t *out,
                      struct error *error)
{
    uint64_t ns;
    int rc = parse_duration(value, &ns, error);
    if (rc == 0 && (ns < low || ns > SCHEDULE_TIME_MAX_NS))
        rc = error_usage(error, "must be %sat most a year", low ? "above 0 and " : "");
    if (rc < 0)
        error_prefix(error, "%s", name);
    else
        *out = ns;
    return rc;
}

static int parse_on(const char *value, uint32_t nodes, const struct fault *fault,
                    struct target *out, struct error *error)
{
    struct target target;
    int rc = target_parse(slice_of(value), nodes, &target, error);
    if (rc < 0)
        return rc;
    if (target.role == TARGET_ANY && !fault_takes_any(fault))
        return error_usage(error, "'%s' does not choose by itself: on=random, on=leader, ...",
                           fault->name);
    *out = target;
    return 0;
}

static int parse_after(const char *value, uint32_t nodes, struct scheduled_fault *out,
                       struct error *error)
{
    int rc = trigger_parse(value, nodes, &out->after, error);
    if (rc < 0)
        error_prefix(error, "after");
    return rc;
}

static int parse_parameter(const struct word *word, struct scheduled_fault *out,
                           struct error *error)
{
    const struct option *table = out->fault->parameters;
    if (options_find(table, word->name) < 0) {
        struct text allowed = {0};
        for (uint32_t i = 0; i < options_count(table); i++)
            text_add(&allowed, ", %s", table[i].name);
        int rc =
            error_usage(error, "unknown word '%.*s' (accepted: at, after, fault, %s, for, seed%s)",
                        (int)(word->name.length < 60 ? word->name.length : 60), word->name.at,
                        out->fault->between ? "from, to" : "on", text_string(&allowed));
        text_release(&allowed);
        return rc;
    }
    struct text pair = {0};
    text_add_bytes(&pair, word->name.at, word->name.length);
    text_add(&pair, "=%s", word->value);
    int rc = strchr(word->value, ',')
                 ? error_usage(error, "'%.60s' holds a comma", word->value)
                 : options_parse(table, "parameter", text_string(&pair), &out->parameters, error);
    text_release(&pair);
    return rc;
}

static int parse_word(const struct word *word, uint32_t nodes, struct scheduled_fault *out,
                      struct error *error)
{
    if (slice_equals(word->name, "fault"))
        return 0;
    if (slice_equals(word->name, "at"))
        return parse_time("at", word->value, 0, &out->at_ns, error);
    if (slice_equals(word->name, "after"))
        return parse_after(word->value, nodes, out, error);
    if (slice_equals(word->name, "for"))
        return parse_time("for", word->value, 1, &out->duration_ns, error);
    if (slice_equals(word->name, target_word(out->fault)))
        return parse_on(word->value, nodes, out->fault, &out->target, error);
    if (out->fault->between && slice_equals(word->name, "to"))
        return parse_on(word->value, nodes, out->fault, &out->to, error);
    if (slice_equals(word->name, "seed"))
        return parse_count(word->value, &out->seed, error);
    return parse_parameter(word, out, error);
}

static int parse_words(const struct words *words, uint32_t nodes, struct scheduled_fault *out,
                       struct error *error)
{
    struct scheduled_fault parsed = {.duration_ns = UINT64_MAX};
    int rc = parse_fault(words, &parsed, error);
    if (rc < 0)
        return rc;
    if (!value_of(words, "at") && !value_of(words, "after"))
        return error_usage(error, "%s: needs at=TIME or after=EVENT", parsed.fault->name);
    parsed.target = parsed.fault->targets[0];
    options_defaults(parsed.fault->parameters, &parsed.parameters);
    for (uint32_t i = 0; i < words->count; i++) {
        rc = parse_word(&words->word[i], nodes, &parsed, error);
        if (rc < 0) {
            error_prefix(error, "%s", parsed.fault->name);
            return rc;
        }
    }
    bool actor = parsed.target.role == TARGET_ACTOR || parsed.to.role == TARGET_ACTOR;
    if (actor && !parsed.after.nth)
        return error_usage(error, "%s: on=actor needs after=EVENT", parsed.fault->name);
    *out = parsed;
    return 0;
}

int scheduled_fault_parse(const char *line, uint32_t nodes, struct scheduled_fault *out,
                          struct error *error)
{
    struct words words = {0};
    assert(nodes >= 1 && nodes <= NODES_MAX);
    int rc = split_words(line, &words, error);
    if (rc == 0)
        rc = parse_words(&words, nodes, out, error);
    free(words.copy);
    return rc;
}

int schedule_read(char *const *lines, uint32_t count, uint32_t nodes, struct schedule *out,
                  struct error *error)
{
    struct schedule schedule = {0};
    for (uint32_t i = 0; i < count; i++) {
        struct scheduled_fault scheduled;
        int rc = scheduled_fault_parse(lines[i], nodes, &scheduled, error);
        if (rc < 0) {
            error_prefix(error, "planned fault %" PRIu32, i + 1);
            schedule_release(&schedule);
            return rc;
        }
        schedule_add(&schedule, &scheduled);
    }
    *out = schedule;
    return 0;
}

bool schedule_needs(const struct schedule *schedule, enum facility facility)
{
    for (uint32_t i = 0; i < schedule->count; i++)
        if (schedule->faults[i].fault->needs == facility)
            return true;
    return false;
}
