/* What message faults do to election messages where they reach a process: a list of rules, and the
 * messages that these hold back. Pure; the same in a real process (nodes/edge.h) and in the
 * simulator, so a rule means the same in both.
 *
 * A message is met by the oldest rule that it matches and that has not done all it was to do; one
 * that a rule let go is met by none again. Nothing is said of the senders: they cannot notice. */
#ifndef COUP_NODES_FILTER_H
#define COUP_NODES_FILTER_H

#include "base/error.h"
#include "base/text.h"
#include "nodes/elector.h"

enum filter_deed {
    FILTER_DROP,
    FILTER_HOLD,      /* until the rule is taken out, or another releases it */
    FILTER_DUPLICATE, /* delivered twice in a row */
    FILTER_ECHO,      /* delivered, and once more when the rule is taken out */
    FILTER_REORDER,   /* held until the next one from its sender was delivered */
    FILTER_RELEASE,   /* no rule that stays: lets what is held go, the oldest first */
    FILTER_DEEDS,
};

#define FILTER_ANY_KIND UINT32_MAX
#define FILTER_NO_BOUND UINT64_MAX
#define FILTER_SENDERS ((UINT64_C(1) << (NODES_MAX + 1)) - 1)

struct filter_rule {
    uint64_t fault; /* the fault's id, by which the rule is taken out */
    enum filter_deed deed;
    uint64_t senders; /* bit per node id; bit 0: the coordination service */
    uint32_t kind;    /* index into the algorithm's kinds, or FILTER_ANY_KIND */
    uint64_t term;    /* 0: any */
    uint64_t left;    /* so many messages more, or FILTER_NO_BOUND */
};

/* One step of what becomes of messages: first the event, then the delivery. */
struct filtered {
    const char *outcome; /* the event's word, static; NULL: no event */
    uint64_t fault;
    struct message message; /* ids are borrowed until the filter's next call */
    bool delivered;
};

struct kept_message;

/* Zeroed is empty. `passed` is what the last call made of messages, in order. */
struct filter {
    struct filter_rule *rules; /* the oldest first */
    uint32_t rule_count, rule_capacity;
    struct kept_message *kept; /* in order of arrival */
    uint32_t kept_count, kept_capacity;
    struct filtered *passed;
    uint32_t passed_count, passed_capacity;
    uint32_t **owned; /* ids of what left */
    uint32_t owned_count, owned_capacity;
};

void filter_release(struct filter *filter);

/* Nothing can befall a message. */
static inline bool filter_is_idle(const struct filter *filter)
{
    return filter->rule_count == 0 && filter->kept_count == 0;
}

/* Add a rule, or carry FILTER_RELEASE out. */
void filter_put(struct filter *filter, const struct filter_rule *rule);
/* Take the fault's rule out: what it still holds is delivered. Unknown faults are fine. */
void filter_take_out(struct filter *filter, uint64_t fault);
void filter_message(struct filter *filter, const struct message *message);
/* The process is gone, and with it what had reached its machine; rules belong to the network. */
void filter_forget_kept(struct filter *filter);

/* The outcome that counts as the deed having touched a message. */
const char *filter_outcome(enum filter_deed deed);

/* "3 drop 4 vote-reply 0 1": fault, deed, senders in hexadecimal, kind or any, term, how many
 * (0: no bound); and back, exact. -EINVAL: not one of these, or not a kind of this list. */
void filter_rule_format(const struct filter_rule *rule, const char *const *kinds, struct text *out);
int filter_rule_parse(const char *text, const char *const *kinds, struct filter_rule *out,
                      struct error *error);

#endif
