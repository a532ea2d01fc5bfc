/* HTTP requests to one server by libcurl, in the uv loop: nothing here waits. No proxy, no
 * redirects, no credentials, nothing but http, whatever the environment says. A body that is too
 * long ends its request as one that failed. */
#ifndef COUP_NODES_SERVICES_HTTP_H
#define COUP_NODES_SERVICES_HTTP_H

#include <uv.h>

#include "base/error.h"
#include "base/text.h"

#define HTTP_BODY_MAX 65536u

struct http;
/* "10.1.2.3:2379". It lasts as long as the process. */
int http_open(uv_loop_t *loop, const char *address, struct http **out, struct error *error);

struct http_answer {
    const char *failure; /* no answer came, or not all of it: why; else NULL */
    long status;         /* of HTTP; 0: none */
    struct slice body;   /* borrowed; of a stream the unfinished line */
};

struct http_events {
    void *context;
    /* A whole line of a stream, without its end; NULL: the body is kept for `done`. */
    void (*line)(void *context, struct slice line);
    void (*done)(void *context, const struct http_answer *answer); /* once, unless cancelled */
};

/* POST. `timeout_ms` for all of it, or, of a stream, for the connection. Both texts are copied.
 * Requests may be made and cancelled from within the callbacks; a stream may not be cancelled from
 * within its own. NULL: libcurl is out of something. */
struct http_request;
struct http_request *http_post(struct http *http, const char *path, const char *body,
                               uint64_t timeout_ms, const struct http_events *events);
void http_cancel(struct http_request *request);

#endif
