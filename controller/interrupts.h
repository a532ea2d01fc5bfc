/* Signals that ask a command of many runs to come to its end: held, and looked at between runs, so
 * that what is done is shown. A run of its own takes them while it lasts (sandbox.h). */
#ifndef COUP_CONTROLLER_INTERRUPTS_H
#define COUP_CONTROLLER_INTERRUPTS_H

#include <stdbool.h>

/* From now on they wait. Children inherit this: a terminal's Ctrl-C reaches them too. */
void interrupts_hold(void);
bool interrupts_pending(void);

#endif
