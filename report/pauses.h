/* Which nodes a fault has paused: told by the fault's event, and at its heal only by its number. */
#ifndef COUP_REPORT_PAUSES_H
#define COUP_REPORT_PAUSES_H

#include "histories/event.h"

struct pauses {
    struct pause *at; /* owned, as what it holds */
    uint32_t count, capacity;
};

/* Told a fault or heal event, calls `visit` for each node that it pauses or lets go. */
void pauses_see(struct pauses *pauses, const struct event *event,
                void (*visit)(void *context, uint32_t node, bool begins), void *context);
void pauses_release(struct pauses *pauses);

#endif
