/* The command lines of a run's programs (nodes/arguments.h), as ps shows them and as they can be
 * typed by hand. Pure. */
#ifndef COUP_CONTROLLER_CHILD_ARGV_H
#define COUP_CONTROLLER_CHILD_ARGV_H

#include "controller/run.h"

/* Whom to start, as what. */
struct child_argv_request {
    const struct run_config *run;
    uint32_t process;
    uint32_t incarnation; /* of the process to be started, from 1 */
    uint64_t run_number;
    uint64_t origin_ns;
    uint32_t address_base;
    const char *state; /* its folder */
    const char *log;   /* of the service's own program */
    const char *copy;  /* of a twin: the node's folder; else NULL */
};

#define CHILD_WORDS_MAX 24u
struct child_argv {
    const char *argv[CHILD_WORDS_MAX + 1]; /* NULL-terminated */
    char *words[CHILD_WORDS_MAX];          /* owned, word_count */
    uint32_t word_count;
};

/* "coup-node" for a node, ...; also argv[0]. */
const char *child_program(const struct run_config *run, uint32_t process);

void child_argv_build(const struct child_argv_request *request, struct child_argv *out);
void child_argv_release(struct child_argv *argv);

#endif
