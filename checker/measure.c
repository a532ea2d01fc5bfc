#include "checker/measure.h"

#include <stdlib.h>

#include "base/error.h"

struct measurer {
    struct measure measure;
};

struct measurer *measurer_new(const struct history_header *header)
{
    (void)header;
    return must_alloc(1, sizeof(struct measurer));
}

void measurer_step(struct measurer *measurer, const struct event *event)
{
    if (event->time_ns > measurer->measure.duration_ns)
        measurer->measure.duration_ns = event->time_ns;
}

void measurer_end(struct measurer *measurer, struct measure *out)
{
    *out = measurer->measure;
    free(measurer);
}
