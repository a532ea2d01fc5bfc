/* coup-keeper: starts the server of a real coordination service, says when it answers, records
 * what it grants and takes back, and ends it. It stands in the service's network namespace, so what
 * it hears crosses no broken network; and it is process 1 of a PID namespace of its own, so when
 * it is killed the kernel kills the server and all its children with it.
 *
 * Grants are recorded when the server tells of them, a little after they were made. What a killed
 * keeper had not recorded the next one does: the server's own history is asked from the place that
 * is marked in a file, after everything before it is with the controller. */
#ifndef COUP_NODES_KEEPER_H
#define COUP_NODES_KEEPER_H

#include "nodes/shell.h"

#define KEEPER_WORDS_MAX 48u

/* A command line, or an environment: owned texts, NULL-terminated. */
struct keeper_words {
    char *at[KEEPER_WORDS_MAX + 1];
    uint32_t count;
};
void keeper_word(struct keeper_words *words, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

struct keeper;

/* One file in nodes/services. */
struct keeper_kind {
    const char *name;  /* as in nodes/services.h */
    bool unprivileged; /* it refuses root: it runs as an ordinary user of a user namespace */
    /* The whole command line, and the environment on top of a bare one. True: that only prepares;
     * once it has ended well, this is asked again. */
    bool (*command)(struct keeper *keeper, struct keeper_words *words,
                    struct keeper_words *environment);
    /* The server runs: ask it until it answers, then call keeper_ready(), and go on to record. */
    int (*begin)(struct keeper *keeper, struct error *error);
    /* End the sessions of a node, then call keeper_dropped(). False: one is dropped already. */
    bool (*drop)(struct keeper *keeper, uint32_t node);
};

struct keeper {
    struct shell *shell;
    const struct keeper_kind *kind;
    void *state;      /* the kind's own */
    uint32_t address; /* the server's, host order */
    pid_t server;     /* 0: it does not run */
    bool prepares;    /* it is not the server yet */
    uv_signal_t child, go_on;
    int mark;                          /* descriptor: up to where all is recorded */
    uint64_t recorded;                 /* what it says */
    uint64_t dropping_id, dropping_ns; /* the command under way */
    bool ready;
};

void keeper_ready(struct keeper *keeper);
void keeper_dropped(struct keeper *keeper, uint32_t count);

/* An event of the service, in the shell's outbox: what was granted to, or taken from, a node. */
void keeper_event(struct keeper *keeper, enum event_f f, const char *record, uint32_t node,
                  uint64_t token, const char *reason);
/* Everything up to `place` is in the outbox: give it to the controller, then mark the place. */
void keeper_recorded(struct keeper *keeper, uint64_t place);

#endif
