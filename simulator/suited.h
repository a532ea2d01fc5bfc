/* Which faults make sense for an algorithm: both worlds ask here. Pure. */
#ifndef COUP_SIMULATOR_SUITED_H
#define COUP_SIMULATOR_SUITED_H

#include "nemesis/fault.h"
#include "nodes/elector.h"

/* Leave out of `kinds` what the algorithm has nothing for, unless nothing else was asked for; then
 * it is recorded as skipped. Returns how many are left. */
uint32_t suited_faults(const struct algorithm *algorithm, const struct fault *kinds[FAULTS_MAX],
                       uint32_t count);

/* Why the algorithm lacks what faults may need, in `missing` by enum facility; NULL where it does
 * not. */
void suited_missing(const struct algorithm *algorithm, const char *missing[FACILITIES]);

#endif
