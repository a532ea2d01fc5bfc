/* A plain second opinion on the safety checks: each property once more as "is there a pair of
 * events such that", in quadratic time over the whole history. */
#ifndef COUP_TESTS_OPINIONS_H
#define COUP_TESTS_OPINIONS_H

#include "tests/events.h"

#define OPINION_NODES 3u /* nodes of the histories it can judge */
#define OPINIONS 8u

/* Fail the test if a check and its opinion differ on this history; else count in `seen` how often
 * each verdict came, so that a test can tell that it tested something. */
void opinions_compare(const struct history_header *header, const struct events *all,
                      uint32_t seen[OPINIONS][3]);

#endif
