/* Everything about a run that a number can change and that is no algorithm's own: one table, from
 * which come the struct, --set parsing, bounds, `coup list knobs`, and the header of a history.
 * Adding a knob is one line here. */
#ifndef COUP_BASE_KNOBS_H
#define COUP_BASE_KNOBS_H

#include "base/options.h"

/*  field                  name, type, default, min, max, help */
#define COUP_KNOBS(X)                                                                         \
    X(election_timeout_min, "election-timeout-min", DURATION, "150ms", 1000000, 60000000000,  \
      "shortest silence before a follower suspects its leader")                               \
    X(election_timeout_max, "election-timeout-max", DURATION, "300ms", 1000000, 120000000000, \
      "longest silence before a follower suspects its leader")                                \
    X(heartbeat, "heartbeat", DURATION, "30ms", 500000, 60000000000,                          \
      "a leader's sign-of-life period")                                                       \
    X(write_every, "write-every", DURATION, "20ms", 1000000, 60000000000,                     \
      "pause between a leader's own guarded writes")                                          \
    X(request_timeout, "request-timeout", DURATION, "500ms", 1000000, 60000000000,            \
      "after this long an operation's outcome is recorded as unknown")                        \
    X(registers, "registers", COUNT, "4", 1, 64, "registers the clients work on")             \
    X(recover_within, "recover-within", DURATION, "0", 0, 600000000000,                       \
      "bound of the recovers check; 0 means ten election timeouts")                           \
    X(restart_after, "restart-after", DURATION, "200ms", 0, 60000000000,                      \
      "a node that ended outside a fault is started again after this long")                   \
    X(tcp_fast, "tcp-fast", SWITCH, "on", 0, 1,                                               \
      "TCP gives up on dead peers and resends soon; off: as the kernel does by itself")

struct knobs {
#define X(field, name, type, initial, min, max, help) uint64_t field;
    COUP_KNOBS(X)
#undef X
};

extern const struct option knob_table[];

/* knobs_parse() also checks what must hold between knobs and names the inequality that fails. */
void knobs_defaults(struct knobs *out);
int knobs_parse(const char *text, struct knobs *knobs, struct error *error);
void knobs_format(const struct knobs *knobs, bool only_changed, struct text *out);

#endif
