/* A made-up run for tests of histories: a header with every key set, and events of every f with
 * every field they may carry, the same for the same number. */
#ifndef COUP_TESTS_HISTORY_SAMPLE_H
#define COUP_TESTS_HISTORY_SAMPLE_H

#include <string.h>

#include "base/random.h"
#include "histories/file.h"

/* Borrows static texts: never release it. */
static inline struct history_header sample_header(void)
{
    static char version[] = "0.1.0 (abc123)", command[] = "coup run -a raft -n 5 --note 'a \"b\"'";
    static char world[] = "real", algorithm[] = "raft", options[] = "prevote=on,checkquorum=off";
    static char network[] = "switch", resource[] = "fenced", kinds[] = "kill,pause";
    static char physics[] = "drift=1%";
    static char host[] = "Linux 6.1, 2 cores, 8 GiB \xc3\xa4";
    static char first[] = "at=1s fault=kill on=leader for=500ms", second[] = "at=2s fault=pause";
    static char able[] = "kill: available", unable[] = "clock: no libfaketime";
    static char scenario[] = "raft-leader-crash", expect[] = "valid";
    static char *schedule[] = {first, second}, *capabilities[] = {able, unable};
    struct history_header header = {
        .version = version,
        .command = command,
        .world = world,
        .run = UINT64_MAX - 5,
        .seed = 7,
        .started_unix_ns = UINT64_C(1800000000123456789),
        .algorithm = algorithm,
        .options = options,
        .traits = 1u << TRAIT_MAJORITY | 1u << TRAIT_DURABLE | 1u << TRAIT_TOKEN,
        .nodes = 5,
        .witnesses = 1,
        .clients = 3,
        .network = network,
        .resource = resource,
        .faults = kinds,
        .fault_every_ns = 3000000000,
        .duration_ns = 30000000000,
        .client_pause_ns = 20000000,
        .traced = 1,
        .physics = physics,
        .schedule = schedule,
        .schedule_count = 2,
        .capabilities = capabilities,
        .capability_count = 2,
        .host = host,
        .clock_uncertainty_ns = 12000,
        .scenario = scenario,
        .expect = expect,
    };
    knobs_defaults(&header.knobs);
    header.knobs.registers = 7;
    return header;
}

static inline struct slice sample_text(struct random *random)
{
    static const char *const texts[] = {
        "",
        "higher term",
        "n1>n2,n2>n1",
        "append=12,vote-request=4",
        "a\"\\",
        "\n\t\x01\x7f",
        "caf\xc3\xa9",
        "\xf0\x9f\x92\xa3 with a length of more than 31 bytes",
    };
    return slice_of(texts[random_below(random, sizeof texts / sizeof texts[0])]);
}

/* Small, medium and the largest numbers in turn. */
static inline uint64_t sample_number(struct random *random)
{
    return random_next(random) >> random_below(random, 64);
}

static inline uint32_t sample_process(struct random *random, uint32_t kinds)
{
    uint32_t kind = (uint32_t)random_below(random, PROCESS_KINDS);
    while (!(kinds >> kind & 1))
        kind = (kind + 1) % PROCESS_KINDS;
    uint32_t process = PROCESS_NUMBER(kind, random_between(random, 1, 60));
    return process_valid(process) ? process : PROCESS_NUMBER(kind, 0);
}

static inline void sample_field(struct event *event, enum event_field field, struct random *random)
{
    switch (event_field_kind(field)) {
    case FIELD_KIND_NUMBER: event_set(event, field, sample_number(random)); break;
    case FIELD_KIND_PROCESS: event_set(event, field, sample_process(random, ~0u)); break;
    case FIELD_KIND_TEXT: event_set_text(event, field, sample_text(random)); break;
    }
}

/* Event `number` of the made-up run; has its form (event_check()). */
static inline void sample_event(uint64_t number, struct event *out)
{
    struct random random;
    random_init(&random, 1, "sample", number);
    *out = (struct event){.index = number, .time_ns = number * 1000003};
    const struct event_form *form;
    do {
        out->f = (uint8_t)random_below(&random, EVENT_FS);
        out->type = (uint8_t)random_below(&random, EVENT_TYPES);
        form = event_form((enum event_f)out->f, (enum event_type)out->type);
    } while (form->processes == 0);
    out->process = sample_process(&random, form->processes);
    out->node_ns = random_chance(&random, 500000) ? sample_number(&random) : 0;
    for (int field = 0; field < EVENT_FIELDS; field++)
        if (form->must & FIELD_BIT(field) ||
            ((form->may | FIELD_BIT(FIELD_ERROR)) & FIELD_BIT(field) &&
             random_chance(&random, 300000)))
            sample_field(out, (enum event_field)field, &random);
}

/* Equal in all that is stated. */
static inline bool same_event(const struct event *a, const struct event *b)
{
    if (a->index != b->index || a->time_ns != b->time_ns || a->node_ns != b->node_ns ||
        a->process != b->process || a->type != b->type || a->f != b->f || a->present != b->present)
        return false;
    for (int field = 0; field < EVENT_FIELDS; field++) {
        const union field *x = &a->field[field], *y = &b->field[field];
        if (!event_has(a, (enum event_field)field))
            continue;
        if (event_field_kind((enum event_field)field) != FIELD_KIND_TEXT) {
            if (x->number != y->number)
                return false;
        } else if (x->text.length != y->text.length ||
                   (x->text.length && memcmp(x->text.at, y->text.at, x->text.length) != 0)) {
            return false;
        }
    }
    return true;
}

#endif
