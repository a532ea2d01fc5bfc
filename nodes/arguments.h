/* What coup-node, coup-resource, coup-client, coup-coordinator and coup-keeper are told on their
 * command lines: name=value words, so that ps shows a process's whole configuration and anybody can
 * start one by hand. One table for the five programs. Pure. */
#ifndef COUP_NODES_ARGUMENTS_H
#define COUP_NODES_ARGUMENTS_H

#include <stdint.h>

#include "base/error.h"
#include "base/text.h"

enum program {
    PROGRAM_NODE,
    PROGRAM_RESOURCE,
    PROGRAM_CLIENT,
    PROGRAM_COORDINATOR,
    PROGRAM_KEEPER,
    PROGRAMS
};

/*  field, name, kind, programs, initial (NULL: must be given), min, max, help.
 *  Programs: N node, R resource, C client, S coordinator, K keeper. */
#define COUP_ARGUMENTS(X)                                                                         \
    X(id, "id", COUNT, N | C, NULL, 1, 64, "number of this node or client")                       \
    X(nodes, "nodes", COUNT, N | R | C | S | K, NULL, 1, 50, "number of nodes in the cluster")    \
    X(witnesses, "witnesses", COUNT, N, "0", 0, 50, "nodes, the last ones, that never lead")      \
    X(clients, "clients", COUNT, N, "0", 0, 64, "number of clients to answer")                    \
    X(run, "run", HEX, N | R | C | S | K, NULL, 0, UINT64_MAX,                                    \
      "number that names the run, hexadecimal")                                                   \
    X(seed, "seed", COUNT, N | R | C | S | K, "0", 0, UINT64_MAX, "of all random draws")          \
    X(origin, "origin", COUNT, N | R | C | S | K, NULL, 0, UINT64_MAX,                            \
      "true monotonic time of the run's start in ns")                                             \
    X(incarnation, "incarnation", COUNT, N | R | C | S | K, "1", 1, 4095, "1 at the first start") \
    X(base, "base", ADDRESS, N | R | C | S | K, NULL, 0, 0, "first address of the run's /24")     \
    X(algorithm, "algorithm", TEXT, N, NULL, 0, 0, "election algorithm, name:option=value,...")   \
    X(knobs, "knobs", TEXT, N | R | C | S | K, "", 0, 0, "knobs that differ from their defaults") \
    X(state, "state", TEXT, N | R | S | K, NULL, 0, 0, "folder for what must survive a crash")    \
    X(fenced, "mode", MODE, R, "fenced", 0, 0, "fenced or unfenced")                              \
    X(twin, "twin", SWITCH, N, "off", 0, 0, "another process runs under this id already")         \
    X(copy, "copy", TEXT, N, "", 0, 0, "folder whose files the state begins with")                \
    X(trace, "trace", SWITCH, N, "off", 0, 0, "record every message")                             \
    X(service, "service", TEXT, N | K, "embedded", 0, 0, "coordination service that is asked")    \
    X(program, "program", TEXT, K, NULL, 0, 0, "the service's own program, as a path")            \
    X(log, "log", TEXT, K, NULL, 0, 0, "file for what that program says")                         \
    X(rate, "rate", COUNT, C, "50", 1, 100000, "operations a second")

/* Switches and modes are 1 for on and fenced. Texts borrow from argv. */
#define ARGUMENT_TYPE_COUNT uint64_t
#define ARGUMENT_TYPE_HEX uint64_t
#define ARGUMENT_TYPE_ADDRESS uint64_t
#define ARGUMENT_TYPE_TEXT const char *
#define ARGUMENT_TYPE_MODE uint64_t
#define ARGUMENT_TYPE_SWITCH uint64_t
struct arguments {
#define X(field, name, kind, programs, initial, min, max, help) ARGUMENT_TYPE_##kind field;
    COUP_ARGUMENTS(X)
#undef X
};

/* `argv` without the program's name. Usage errors name the word and what would be accepted. */
int arguments_parse(enum program program, int argc, char *const *argv, struct arguments *out,
                    struct error *error);

/* One line for each argument of the program. */
void arguments_help(enum program program, struct text *out);

#endif
