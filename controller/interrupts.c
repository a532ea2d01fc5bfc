#define _POSIX_C_SOURCE 200809L /* sigset_t */
#include "controller/interrupts.h"

#include <signal.h>
#include <stddef.h>

void interrupts_hold(void)
{
    sigset_t held;
    (void)sigemptyset(&held);
    (void)sigaddset(&held, SIGINT);
    (void)sigaddset(&held, SIGTERM);
    (void)sigprocmask(SIG_BLOCK, &held, NULL);
}

bool interrupts_pending(void)
{
    sigset_t pending;
    (void)sigpending(&pending); /* cannot fail for valid memory */
    return sigismember(&pending, SIGINT) == 1 || sigismember(&pending, SIGTERM) == 1;
}
