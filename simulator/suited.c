#include "simulator/suited.h"

void suited_missing(const struct algorithm *algorithm, const char *missing[FACILITIES])
{
    missing[FACILITY_TRANSFER] = algorithm_no_transfer(algorithm);
    missing[FACILITY_STATE] = algorithm->durable ? NULL : "this algorithm makes nothing durable";
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
