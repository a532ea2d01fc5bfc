/* Two goes of a suite side by side: what moved, and whether by more than chance. Pure. */
#ifndef COUP_CONTROLLER_SUITE_COMPARE_H
#define COUP_CONTROLLER_SUITE_COMPARE_H

#include "controller/suite_run.h"

/* Standard deviations from which on a difference counts as one. Failovers of one run are not
 * independent of one another, and many cells are looked at: so it is more than the usual two. */
#define SUITE_MOVED_SIGMA 4.0

/* How much larger a share k of n is now than before, in standard deviations of the difference that
 * chance makes (two proportions, pooled); 0 where one of them is empty or both are all or none. */
double suite_compare_shares(uint64_t k_before, uint64_t n_before, uint64_t k_now, uint64_t n_now);

/* The same of two sets of sorted samples: Mann and Whitney's U (1947), with the correction for
 * ties. */
double suite_compare_samples(const uint32_t *before, uint32_t n_before, const uint32_t *now,
                             uint32_t n_now);

/* A line a cell that moved, by its name, and one about the whole. Both are settled. */
void suite_compare(const struct suite_state *before, const struct suite_state *now,
                   struct text *out);

#endif
