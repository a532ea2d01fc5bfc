#include "nodes/services/http.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <curl/curl.h>

#define CONNECTIONS_KEPT 8L

struct http {
    uv_loop_t *loop;
    CURLM *multi;
    uv_timer_t timer;
    struct curl_slist *headers;
    char *address;
};

struct http_request {
    struct http *http;
    CURL *easy;
    struct http_events events;
    struct text body; /* of a stream: since the last end of a line */
    bool too_long;
};

/* libcurl's interest in one socket. */
struct interest {
    struct http *http;
    uv_poll_t poll;
    curl_socket_t socket;
};

/* --- libcurl in the loop (libcurl-multi(3), its "multi_socket" interface) --- */

static void request_free(struct http_request *request)
{
    (void)curl_multi_remove_handle(request->http->multi, request->easy);
    curl_easy_cleanup(request->easy);
    text_release(&request->body);
    free(request);
}

static void finish(struct http_request *request, CURLcode code)
{
    struct http_answer answer = {.body = {text_string(&request->body), request->body.length}};
    if (request->too_long)
        answer.failure = "the answer is too long";
    else if (code != CURLE_OK)
        answer.failure = curl_easy_strerror(code);
    (void)curl_easy_getinfo(request->easy, CURLINFO_RESPONSE_CODE, &answer.status);
    request->events.done(request->events.context, &answer);
    request_free(request);
}

static void take_finished(struct http *http)
{
    CURLMsg *message;
    int left;
    while ((message = curl_multi_info_read(http->multi, &left))) {
        struct http_request *request;
        if (message->msg != CURLMSG_DONE)
            continue;
        CURLcode code = message->data.result;
        (void)curl_easy_getinfo(message->easy_handle, CURLINFO_PRIVATE, (char **)&request);
        finish(request, code);
    }
}

static void advance(struct http *http, curl_socket_t socket, int events)
{
    int running;
    (void)curl_multi_socket_action(http->multi, socket, events, &running);
    take_finished(http);
}

static void on_poll(uv_poll_t *poll, int status, int events)
{
    struct interest *interest = poll->data;
    int flags = status < 0 ? CURL_CSELECT_ERR : 0;
    if (events & UV_READABLE)
        flags |= CURL_CSELECT_IN;
    if (events & UV_WRITABLE)
        flags |= CURL_CSELECT_OUT;
    advance(interest->http, interest->socket, flags);
}

static void on_timer(uv_timer_t *timer)
{
    advance(timer->data, CURL_SOCKET_TIMEOUT, 0);
}

static void on_closed(uv_handle_t *handle)
{
    free(handle->data);
}

static int on_socket(CURL *easy, curl_socket_t socket, int what, void *context, void *known)
{
    struct http *http = context;
    struct interest *interest = known;
    (void)easy;
    if (what == CURL_POLL_REMOVE) {
        if (!interest)
            return 0;
        (void)uv_poll_stop(&interest->poll);
        uv_close((uv_handle_t *)&interest->poll, on_closed);
        (void)curl_multi_assign(http->multi, socket, NULL);
        return 0;
    }
    if (!interest) {
        interest = must_alloc(1, sizeof *interest);
        *interest = (struct interest){.http = http, .socket = socket};
        if (uv_poll_init_socket(http->loop, &interest->poll, socket) < 0) {
            free(interest);
            return -1;
        }
        interest->poll.data = interest;
        (void)curl_multi_assign(http->multi, socket, interest);
    }
    int events = (what & CURL_POLL_IN ? UV_READABLE : 0) | (what & CURL_POLL_OUT ? UV_WRITABLE : 0);
    (void)uv_poll_start(&interest->poll, events, on_poll);
    return 0;
}

static int on_timeout(CURLM *multi, long timeout_ms, void *context)
{
    struct http *http = context;
    (void)multi;
    if (timeout_ms < 0)
        (void)uv_timer_stop(&http->timer);
    else
        (void)uv_timer_start(&http->timer, on_timer, (uint64_t)timeout_ms, 0);
    return 0;
}

/* --- requests --- */

static void take_lines(struct http_request *request)
{
    struct text *body = &request->body;
    size_t from = 0;
    char *end;
    while ((end = memchr(body->at + from, '\n', body->length - from))) {
        size_t length = (size_t)(end - (body->at + from));
        request->events.line(request->events.context, (struct slice){body->at + from, length});
        from += length + 1;
    }
    struct text rest = {0};
    text_add_bytes(&rest, body->at + from, body->length - from);
    text_release(body);
    *body = rest;
}

static size_t on_bytes(char *bytes, size_t size, size_t count, void *context)
{
    struct http_request *request = context;
    size_t length = size * count;
    if (length > HTTP_BODY_MAX || request->body.length + length > HTTP_BODY_MAX) {
        request->too_long = true;
        return 0;
    }
    text_add_bytes(&request->body, bytes, length);
    if (request->events.line && length)
        take_lines(request);
    return length;
}

static void only_http(CURL *easy)
{
#if LIBCURL_VERSION_NUM >= 0x075500
    (void)curl_easy_setopt(easy, CURLOPT_PROTOCOLS_STR, "http");
#else
    (void)curl_easy_setopt(easy, CURLOPT_PROTOCOLS, (long)CURLPROTO_HTTP);
#endif
    (void)curl_easy_setopt(easy, CURLOPT_PROXY, "");
    (void)curl_easy_setopt(easy, CURLOPT_NOPROXY, "*");
    (void)curl_easy_setopt(easy, CURLOPT_FOLLOWLOCATION, 0L);
    (void)curl_easy_setopt(easy, CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_1_1);
    (void)curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
}

struct http_request *http_post(struct http *http, const char *path, const char *body,
                               uint64_t timeout_ms, const struct http_events *events)
{
    CURL *easy = curl_easy_init();
    if (!easy)
        return NULL;
    struct http_request *request = must_alloc(1, sizeof *request);
    struct text url = {0};
    *request = (struct http_request){.http = http, .easy = easy, .events = *events};
    text_add(&url, "http://%s%s", http->address, path);
    only_http(easy);
    (void)curl_easy_setopt(easy, CURLOPT_URL, text_string(&url)); /* copied */
    (void)curl_easy_setopt(easy, CURLOPT_COPYPOSTFIELDS, body);
    (void)curl_easy_setopt(easy, CURLOPT_HTTPHEADER, http->headers);
    (void)curl_easy_setopt(easy, CURLOPT_PRIVATE, request);
    (void)curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, on_bytes);
    (void)curl_easy_setopt(easy, CURLOPT_WRITEDATA, request);
    (void)curl_easy_setopt(easy, CURLOPT_TCP_KEEPALIVE, 1L);
    (void)curl_easy_setopt(easy, CURLOPT_TCP_KEEPIDLE, 1L);
    (void)curl_easy_setopt(easy, CURLOPT_TCP_KEEPINTVL, 1L);
    (void)curl_easy_setopt(easy, events->line ? CURLOPT_CONNECTTIMEOUT_MS : CURLOPT_TIMEOUT_MS,
                           (long)timeout_ms);
    text_release(&url);
    if (curl_multi_add_handle(http->multi, easy) == CURLM_OK)
        return request;
    request_free(request);
    return NULL;
}

void http_cancel(struct http_request *request)
{
    request_free(request);
}

int http_open(uv_loop_t *loop, const char *address, struct http **out, struct error *error)
{
    if (curl_global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK)
        return error_set(error, -EIO, "libcurl does not start");
    struct http *http = must_alloc(1, sizeof *http);
    *http = (struct http){.loop = loop, .multi = curl_multi_init(), .address = must_copy(address)};
    http->headers = curl_slist_append(NULL, "Content-Type: application/json");
    if (!http->multi || !http->headers)
        return error_set(error, -ENOMEM, "libcurl: out of memory");
    (void)uv_timer_init(loop, &http->timer); /* cannot fail */
    http->timer.data = http;
    (void)curl_multi_setopt(http->multi, CURLMOPT_SOCKETFUNCTION, on_socket);
    (void)curl_multi_setopt(http->multi, CURLMOPT_SOCKETDATA, http);
    (void)curl_multi_setopt(http->multi, CURLMOPT_TIMERFUNCTION, on_timeout);
    (void)curl_multi_setopt(http->multi, CURLMOPT_TIMERDATA, http);
    (void)curl_multi_setopt(http->multi, CURLMOPT_MAXCONNECTS, CONNECTIONS_KEPT);
    *out = http;
    return 0;
}
