/* What a scheduled fault may wait for: the so-manieth event of a kind, of anybody or of one node,
 * and some time more. Pure. */
#ifndef COUP_NEMESIS_TRIGGER_H
#define COUP_NEMESIS_TRIGGER_H

#include "histories/event.h"

struct trigger {
    uint64_t nth;      /* 0: there is none */
    uint64_t delay_ns; /* after that event */
    uint32_t node;     /* whose event; 0: anybody's */
    uint8_t f;         /* enum event_f */
};

#define TRIGGER_NTH_MAX 1000000u
#define TRIGGER_DELAY_MAX_NS (UINT64_C(24) * 3600 * 1000000000)

/* "lead", "vote:2@n3+50ms": kind, number, node, delay; and back, exact. Kinds are those which a
 * node records without being traced, and accept and reject, which count as the writer's. */
void trigger_format(const struct trigger *trigger, struct text *out);
int trigger_parse(const char *text, uint32_t nodes, struct trigger *out, struct error *error);

/* Whose event it is as far as triggers are concerned; 0: none's. */
uint32_t trigger_node(const struct event *event);
bool trigger_matches(const struct trigger *trigger, const struct event *event);

#endif
