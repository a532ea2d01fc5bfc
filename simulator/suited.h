/* Which faults make sense for an algorithm: both worlds ask here. Pure. */
#ifndef COUP_SIMULATOR_SUITED_H
#define COUP_SIMULATOR_SUITED_H

#include "nemesis/plan.h"
#include "nodes/filter.h"

/* faults_parse() for this algorithm. A word, name or group, that means nothing to it is a usage
 * error; of a group some of whose members do, the others are left out. */
int suited_parse(const struct algorithm *algorithm, const struct option_values *options,
                 const char *text, const struct fault *out[FAULTS_MAX], uint32_t *ret_count,
                 struct error *error);

/* Leave out of `kinds` what the algorithm has nothing for, unless nothing else was asked for; then
 * it is recorded as skipped. Returns how many are left. */
uint32_t suited_faults(const struct algorithm *algorithm, const struct fault *kinds[FAULTS_MAX],
                       uint32_t count);

/* What faults may need and the algorithm lacks, and what they have to do for it. */
void suited_view(const struct algorithm *algorithm, struct cluster_view *out);

/* The fault's rule as the algorithm knows its messages; false: it sends none of that kind. */
bool suited_rule(const struct algorithm *algorithm, const struct message_trouble *trouble,
                 struct filter_rule *out);

/* Usage error: a fault of the schedule is about messages that the algorithm does not send. */
int suited_schedule(const struct algorithm *algorithm, const struct schedule *schedule,
                    struct error *error);

#endif
