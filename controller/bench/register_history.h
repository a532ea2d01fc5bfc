/* A made history of clients that read, write and compare-and-set one register without pause. */
#ifndef COUP_CONTROLLER_BENCH_REGISTER_HISTORY_H
#define COUP_CONTROLLER_BENCH_REGISTER_HISTORY_H

#include "histories/file.h"

struct register_load {
    const char *name;
    uint64_t operations;
    uint32_t clients;
    uint32_t values; /* that they write, over and over; 0: every value once */
    uint32_t cas;    /* so many of a hundred operations compare and set */
};

/* In memory, complete; history_close() frees it. */
int register_history(const struct register_load *load, struct history_writer **out,
                     struct error *error);

#endif
