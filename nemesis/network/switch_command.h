/* What the controller tells coup-switch, as text (network/README.md has the grammar): which links
 * have which impairments from now on, or whose counters to add up. Pure. */
#ifndef COUP_NEMESIS_NETWORK_SWITCH_COMMAND_H
#define COUP_NEMESIS_NETWORK_SWITCH_COMMAND_H

#include "nemesis/link.h"

enum switch_verb { SWITCH_LINKS, SWITCH_COUNTERS, SWITCH_VERBS };

/* Zeroed is empty. */
struct switch_command {
    enum switch_verb verb;
    struct link_change *links; /* link_count; owned */
    uint32_t link_count, link_capacity;
};

void switch_command_format(enum switch_verb verb, const struct link_change *links, uint32_t count,
                           struct text *out);

/* All or nothing: a line that is wrong leaves `out` untouched, the error names it. Endpoints beyond
 * `endpoints`, and more lines than there are links, are refused. */
int switch_command_parse(struct slice text, uint32_t endpoints, struct switch_command *out,
                         struct error *error);
void switch_command_release(struct switch_command *command);

#endif
