/* Network namespaces for live tests, and sockets in them. */
#ifndef COUP_TESTS_NAMESPACES_H
#define COUP_TESTS_NAMESPACES_H

#include <stdbool.h>
#include <stdint.h>

/* Become root of a user namespace unless we are root already. False: this machine does not allow
 * it. Call before threads and before any namespace is made. */
bool namespaces_allowed(void);

/* A descriptor of a new network namespace, or -errno. */
int namespace_new(void);

/* A socket that lives in the namespace, bound to `ipv4` (host order) and `port`; -errno. */
int namespace_socket(int netns, int type, uint32_t ipv4, uint16_t port);

/* Run `what` inside the namespace. */
int namespace_call(int netns, int (*what)(void *context), void *context);

#endif
