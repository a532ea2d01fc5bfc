/* The words a finding is made of: names, times since the run's start, distances. */
#ifndef COUP_CHECKER_WORDS_H
#define COUP_CHECKER_WORDS_H

#include <stdint.h>

#include "base/process.h"
#include "base/units.h"

/* Zeroed is empty. Holds the last WORDS_KEPT texts asked of it, enough for one sentence. */
#define WORDS_KEPT 12
#define WORD_MAX COUNT_TEXT_MAX
struct words {
    char text[WORDS_KEPT][WORD_MAX];
    uint32_t used;
};

const char *word_process(struct words *words, uint32_t process);
const char *word_node(struct words *words, uint32_t id); /* election node 1..n */
const char *word_time(struct words *words, uint64_t ns); /* "12.345s" */
const char *word_span(struct words *words, uint64_t ns); /* "1.27s", "183ms" */
/* A bound and what the machine's stalls add to it: "3.42s", "3.42s + 1.20s of stalls". */
const char *word_allowed(struct words *words, uint64_t bound_ns, uint64_t stalled_ns);
const char *word_count(struct words *words, uint64_t count, const char *noun); /* "2 writes" */
const char *word_apart(struct words *words, uint64_t a_ns, uint64_t b_ns);

#endif
