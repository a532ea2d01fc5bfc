/* What faults about single election messages share. They are between two sides: "from" and "to"
 * take the place of "on". Pure. */
#ifndef COUP_NEMESIS_MESSAGE_H
#define COUP_NEMESIS_MESSAGE_H

#include "nemesis/fault.h"

/* Every kind of message that some algorithm sends, "any" first; NULL-terminated. A run refuses what
 * its own algorithm does not send. */
extern const char *const message_kinds[];

/* The first entries of each of these faults' tables. */
enum { MESSAGE_KIND, MESSAGE_TERM, MESSAGE_COUNT, MESSAGE_OPTION_COUNT };
#define MESSAGE_OPTIONS                                                                          \
    {"kind", OPTION_WORD, "any", 0, 0, message_kinds, "only messages of this kind"},             \
        {"term", OPTION_COUNT, "0", 0, UINT64_C(1) << 62, NULL, "only of this term; 0: of any"}, \
    {                                                                                            \
        "count", OPTION_COUNT, "0", 0, 1000000, NULL,                                            \
            "only the next so many at each receiver; 0: all"                                     \
    }
extern const struct option message_options[]; /* a table of these alone */

extern const struct target message_targets[];
#define MESSAGE_TARGETS 4u

/* Draw kind and number. */
void message_plan(struct random *random, const struct fault_scale *scale,
                  struct option_values *parameters);

/* From the nodes `from` to those of view->to. Where there is a coordination service all messages
 * go to or come from it, and it belongs to a side that is all nodes. */
bool message_start(enum message_deed deed, const struct cluster_view *view, node_set from,
                   const struct option_values *parameters, struct injection *out,
                   const char **ret_why);

/* The outcome in the event of a message that says that the deed touched it: "dropped". */
const char *message_outcome(enum message_deed deed);

/* Who sends to this receiver, of those that the trouble is about. */
node_set message_senders(const struct message_trouble *trouble, uint32_t receiver);

#endif
