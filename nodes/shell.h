/* The frame of a child program: loop, control channel, mesh, and the way out. A program adds what
 * it does with a message and a command. One program, one shell. */
#ifndef COUP_NODES_SHELL_H
#define COUP_NODES_SHELL_H

#include "nodes/arguments.h"
#include "nodes/child.h"
#include "nodes/filter.h"
#include "nodes/mesh.h"
#include "nodes/outbox.h"

struct shell;

/* Points at which a process stops itself, once, for whoever asked for it. */
enum halt { HALT_NOWHERE, HALT_AT_CHECK, HALT_AT_WRITE, HALT_AT_SEND };

struct shell_program {
    enum program program;
    const char *name, *summary;
    bool late; /* it calls shell_ready() itself, some time after start() */
    /* Check the arguments, open files, say who we are and who our peers are: config->self, kinds,
     * peers (copied by the mesh), peer_count. Child and mesh do not exist yet. */
    int (*open)(struct shell *shell, struct mesh_config *config, struct error *error);
    /* Child and mesh are there: begin. May be NULL. */
    void (*start)(struct shell *shell);
    void (*message)(struct shell *shell, const struct envelope *envelope);
    void (*drained)(struct shell *shell); /* may be NULL */
    /* NULL: done, shell->answer may say more; shell_later: shell_done() will tell; else why not. */
    const char *(*command)(struct shell *shell, const char *text);
    /* The child ends: last events. May be NULL. */
    void (*stop)(struct shell *shell);
    /* A message that certainly did not leave: add what follows to the outbox. May be NULL. */
    void (*unsent)(struct shell *shell, const struct envelope *envelope);
};

struct shell {
    const struct shell_program *program;
    struct arguments arguments;
    struct knobs knobs;
    uv_loop_t loop;
    uv_signal_t terminate;
    struct child child;
    struct mesh *mesh;
    struct outbox outbox;
    struct text answer;          /* to the command at hand */
    uint64_t asked_id, asked_ns; /* the command at hand */
    struct filter filter;        /* of election messages that come */
    const char *const *kinds;    /* their names; set by open(), NULL: it takes none */
    uint32_t recorded;           /* events of the outbox that are out */
    enum halt halt;              /* the point at which the process stops itself next */
    struct error failure;        /* why it ended, if `failed` */
    bool failed;
    void *state; /* the program's own */
};

/* main() of a child: parse, open, run until EOF, end the process. Nothing is closed or freed on the
 * way out (nodes/mesh.h says why): what counts is on disk or with the controller by then. */
_Noreturn void shell_main(const struct shell_program *program, void *state, int argc, char **argv);

/* Stop here if that was asked for. */
void shell_pass(struct shell *shell, enum halt point);

/* Record the outbox's events and write them out; its messages stay. */
void shell_record(struct shell *shell);

/* Record the outbox's events, write them out, send its messages, until it is empty. */
void shell_carry(struct shell *shell);

/* Tell the controller that what the program is for can begin. */
void shell_ready(struct shell *shell);

/* A command is not done yet when this is returned for it. Keep shell->asked_id and asked_ns for the
 * answer, which is "done ..." or why not. */
extern const char *const shell_later;
void shell_done(struct shell *shell, uint64_t asked_id, uint64_t asked_ns, const char *text);

/* End the process with this error and exit code 3. */
void shell_fail(struct shell *shell, const struct error *error);

#endif
