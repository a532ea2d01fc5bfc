/* The end of a run: judged, recorded in the history and in verdict.json, shown. */
#ifndef COUP_CONTROLLER_RUN_VERDICT_H
#define COUP_CONTROLLER_RUN_VERDICT_H

#include "controller/recorder.h"
#include "controller/run_internal.h"

struct verdict_request {
    const struct run_config *config;
    const struct history_header *header;
    const char *history, *folder;
};

/* Ends the recorder's checks, closes it and frees it. -errno: something could not be written; then
 * there is no verdict. */
int verdict_conclude(const struct verdict_request *request, struct recorder *recorder,
                     struct run_outcome *out, struct error *error);

#endif
