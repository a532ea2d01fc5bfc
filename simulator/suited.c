#include "simulator/suited.h"

void suited_view(const struct algorithm *algorithm, struct cluster_view *out)
{
    out->missing[FACILITY_TRANSFER] = algorithm_no_transfer(algorithm);
    out->missing[FACILITY_STATE] =
        algorithm->durable ? NULL : "this algorithm makes nothing durable";
    out->stands_alone = algorithm->stands_alone;
}

uint32_t suited_faults(const struct algorithm *algorithm, const struct fault *kinds[FAULTS_MAX],
                       uint32_t count)
{
    if (algorithm_no_transfer(algorithm))
        count = faults_without(kinds, count, FACILITY_TRANSFER);
    if (algorithm->durable)
        return count;
    count = faults_without(kinds, count, FACILITY_STATE);
    return faults_without(kinds, count, FACILITY_DISK);
}
