/* The switch backend: a TAP in every namespace, and coup-switch, which passes frames between them.
 * The TAPs are ours and only lent, so when the program dies another takes the same interfaces over,
 * is told the whole matrix, and gets again what was not yet answered. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <uv.h>

#include "nemesis/network/helper.h"
#include "nemesis/network/switch_command.h"
#include "nemesis/network/tap.h"
#include "nodes/clock.h"

#define RESTARTS_MAX 5 /* within RESTARTS_NS: then it will not get better */
#define RESTARTS_NS (10 * NS_PER_S)
#define NO_TICKET_ID 0 /* of commands nobody asked for */
/* It is asked now and then whether it is there. One that is stopped or stuck carries nothing, which
 * would look like the cluster's fault. */
#define LOOK_MS 500
#define SILENT_NS (5 * NS_PER_S) /* twenty runs may share two cores */
#define PING_ID UINT64_MAX

struct pending {
    uint64_t ticket, id;
    char *text;
};

struct network {
    struct network_config config; /* points into the three copies below */
    struct endpoint *endpoints;
    char *program_folder, *log_path;
    struct network_listener listener;
    uv_loop_t *loop;
    struct helper *helper; /* NULL: none runs, and none will */
    int *taps;
    uint32_t tap_count;
    struct impairment *wanted; /* endpoints x endpoints, from-major */
    struct pending *pending;   /* first asked first */
    uint32_t pending_count, pending_capacity;
    uint64_t last_id;
    uint64_t started_ns[RESTARTS_MAX]; /* the latest starts, newest first */
    uv_timer_t *watch;                 /* outlives us by a turn of the loop */
    uint64_t asked_ns;                 /* unanswered since; 0: nothing is asked */
    bool answered;                     /* ever, by this helper */
};

static uint64_t now(const struct network *network)
{
    return clock_true_ns() - network->config.origin_ns;
}

static void note(struct network *network, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static void note(struct network *network, const char *format, ...)
{
    struct text text = {0};
    va_list arguments;
    va_start(arguments, format);
    text_add_va(&text, format, arguments);
    va_end(arguments);
    if (network->listener.note)
        network->listener.note(network->listener.context, text_string(&text));
    text_release(&text);
}

/* ---- requests and answers ---- */

static struct pending take_first(struct network *network)
{
    struct pending first = network->pending[0];
    memmove(network->pending, network->pending + 1, --network->pending_count * sizeof first);
    return first;
}

static void send_text(struct network *network, uint64_t id, const char *text)
{
    const struct control control = {.verb = CONTROL_COMMAND, .id = id, .text = slice_of(text)};
    helper_send(network->helper, &control);
}

static void fail_first(struct network *network)
{
    struct pending first = take_first(network);
    uint64_t at_ns = now(network);
    network->listener.answer(network->listener.context, first.ticket,
                             "coup-switch does not run any more", at_ns, at_ns, 0, "");
    free(first.text);
}

static void request(struct network *network, uint64_t ticket, struct text *text)
{
    if (network->pending_count == network->pending_capacity) {
        network->pending_capacity = network->pending_capacity ? network->pending_capacity * 2 : 8;
        network->pending =
            must_grow(network->pending, network->pending_capacity, sizeof *network->pending);
    }
    struct pending *added = &network->pending[network->pending_count++];
    *added = (struct pending){ticket, ++network->last_id, must_copy(text_string(text))};
    text_release(text);
    if (network->helper)
        send_text(network, added->id, added->text);
    else
        fail_first(network);
}

static struct impairment *wanted(const struct network *network, uint32_t from, uint32_t to)
{
    return &network->wanted[(size_t)from * network->config.endpoint_count + to];
}

static void switch_apply(struct network *network, uint64_t ticket,
                         const struct link_change *changes, uint32_t count)
{
    struct text text = {0};
    for (uint32_t i = 0; i < count; i++)
        *wanted(network, changes[i].from, changes[i].to) = changes[i].impairment;
    switch_command_format(SWITCH_LINKS, changes, count, &text);
    request(network, ticket, &text);
}

static void switch_counters(struct network *network, uint64_t ticket,
                            const struct link_change *links, uint32_t count)
{
    struct text text = {0};
    switch_command_format(SWITCH_COUNTERS, links, count, &text);
    request(network, ticket, &text);
}

static void on_done(struct network *network, const struct control *control)
{
    struct text text = {0}, proof = {0};
    const char *rest;
    uint64_t number;
    text_add_bytes(&text, control->text.at, control->text.length);
    bool ok = helper_answer(text_string(&text), &number, &rest);
    if (network->pending_count && network->pending[0].id == control->id) {
        struct pending first = take_first(network);
        bool counts = strncmp(first.text, "counters", 8) == 0;
        if (counts)
            text_add(&proof, "%s", rest);
        else
            text_add(&proof, "%" PRIu64 " set at once", number);
        network->listener.answer(network->listener.context, first.ticket, ok ? NULL : rest,
                                 control->begin, control->end, counts ? number : 0,
                                 text_string(&proof));
        free(first.text);
    } else if (!ok) {
        note(network, "coup-switch refused to take the links over: %s", rest);
    }
    text_release(&proof);
    text_release(&text);
}

static void on_frame(void *context, const struct control *control)
{
    struct network *network = context;
    network->answered = true;
    network->asked_ns = 0;
    if (control->verb == CONTROL_DONE && control->id != PING_ID)
        on_done(network, control);
    else if (control->verb == CONTROL_READY)
        note(network, "coup-switch passes frames, %.*s", (int)control->text.length,
             control->text.at);
}

/* ---- the program ---- */

static void on_ended(void *context, int64_t status, int signal);

static int start_helper(struct network *network, struct error *error)
{
    struct text program = {0}, endpoints = {0}, seed = {0}, origin = {0};
    text_add(&program, "%s/coup-switch", network->config.program_folder);
    text_add(&endpoints, "endpoints=%u", network->config.endpoint_count);
    text_add(&seed, "seed=%" PRIu64, network->config.seed);
    text_add(&origin, "origin=%" PRIu64, network->config.origin_ns);
    char *const arguments[] = {program.at, endpoints.at, seed.at, origin.at, NULL};
    const struct helper_config config = {.program = program.at,
                                         .arguments = arguments,
                                         .log_path = network->config.log_path,
                                         .descriptors = network->taps,
                                         .descriptor_count = network->tap_count};
    const struct helper_listener listener = {network, on_frame, on_ended};
    network->answered = false;
    network->asked_ns = 0;
    memmove(network->started_ns + 1, network->started_ns,
            sizeof network->started_ns - sizeof network->started_ns[0]);
    network->started_ns[0] = clock_true_ns();
    int rc = helper_start(&config, network->loop, &listener, &network->helper, error);
    text_release(&program);
    text_release(&endpoints);
    text_release(&seed);
    text_release(&origin);
    return rc;
}

static void send_matrix(struct network *network)
{
    uint32_t n = network->config.endpoint_count, count = 0;
    struct link_change *links = must_alloc((size_t)n * n, sizeof *links);
    struct text text = {0};
    for (uint32_t from = 0; from < n; from++)
        for (uint32_t to = 0; to < n; to++)
            if (!impairment_is_clean(wanted(network, from, to)))
                links[count++] = (struct link_change){from, to, *wanted(network, from, to)};
    switch_command_format(SWITCH_LINKS, links, count, &text);
    send_text(network, NO_TICKET_ID, text_string(&text));
    text_release(&text);
    free(links);
}

static void give_up(struct network *network, const struct error *why)
{
    struct error error = *why;
    error_prefix(&error, "the network is down for good");
    while (network->pending_count)
        fail_first(network);
    if (network->listener.failed)
        network->listener.failed(network->listener.context, &error);
}

static void on_ended(void *context, int64_t status, int signal)
{
    struct network *network = context;
    struct error error;
    uint64_t oldest_ns = network->started_ns[RESTARTS_MAX - 1];
    note(network, "coup-switch ended (%s %d); another takes its interfaces over",
         signal ? "signal" : "status", signal ? signal : (int)status);
    helper_close(network->helper);
    network->helper = NULL;
    if (oldest_ns && clock_true_ns() - oldest_ns < RESTARTS_NS) {
        (void)error_set(&error, -EPIPE, "coup-switch ended %d times within %d s", RESTARTS_MAX,
                        (int)(RESTARTS_NS / NS_PER_S));
        give_up(network, &error);
        return;
    }
    if (start_helper(network, &error) < 0) {
        give_up(network, &error);
        return;
    }
    send_matrix(network);
    for (uint32_t i = 0; i < network->pending_count; i++)
        send_text(network, network->pending[i].id, network->pending[i].text);
}

/* ---- watching it ---- */

static void on_silence(struct network *network, uint64_t silent_ns)
{
    struct error error;
    note(network, "stall %" PRIu64, silent_ns); /* what the cluster missed is not its fault */
    if (network->answered) {
        helper_kill(network->helper); /* on_ended() starts another */
        return;
    }
    helper_close(network->helper);
    network->helper = NULL;
    (void)error_set(&error, -ETIMEDOUT, "coup-switch does not answer for %d s since it was started",
                    (int)(SILENT_NS / NS_PER_S));
    give_up(network, &error);
}

static void on_watch(uv_timer_t *timer)
{
    struct network *network = timer->data;
    uint64_t now_ns = clock_true_ns();
    struct text text = {0};
    if (!network->helper)
        return;
    if (network->asked_ns) {
        if (now_ns - network->asked_ns > SILENT_NS)
            on_silence(network, now_ns - network->asked_ns);
        return;
    }
    network->asked_ns = now_ns;
    switch_command_format(SWITCH_COUNTERS, NULL, 0, &text);
    send_text(network, PING_ID, text_string(&text));
    text_release(&text);
}

static void start_watch(struct network *network)
{
    network->watch = must_alloc(1, sizeof *network->watch);
    (void)uv_timer_init(network->loop, network->watch);
    network->watch->data = network;
    (void)uv_timer_start(network->watch, on_watch, LOOK_MS, LOOK_MS);
}

static void on_watch_closed(uv_handle_t *handle)
{
    free(handle);
}

/* ---- open and close ---- */

static int open_taps(struct network *network, struct error *error)
{
    uint32_t count = network->config.endpoint_count;
    const char *missing = NULL;
    network->taps = must_alloc(count, sizeof *network->taps);
    for (; network->tap_count < count; network->tap_count++) {
        const char *warning = NULL;
        int rc = tap_open(&network->config, network->tap_count, &network->taps[network->tap_count],
                          &warning, error);
        if (rc < 0)
            return rc;
        missing = warning ? warning : missing;
    }
    if (missing)
        note(network, "%s cannot be set: TCP will take longer to use a healed network", missing);
    return 0;
}

static void switch_close(struct network *network)
{
    if (!network)
        return;
    helper_close(network->helper);
    if (network->watch)
        uv_close((uv_handle_t *)network->watch, on_watch_closed);
    for (uint32_t i = 0; i < network->tap_count; i++)
        (void)close(network->taps[i]); /* nothing is buffered in them */
    for (uint32_t i = 0; i < network->pending_count; i++)
        free(network->pending[i].text);
    free(network->endpoints);
    free(network->program_folder);
    free(network->log_path);
    free(network->taps);
    free(network->wanted);
    free(network->pending);
    free(network);
}

static struct network *network_new(const struct network_config *config, struct uv_loop_s *loop,
                                   const struct network_listener *listener)
{
    struct network *network = must_alloc(1, sizeof *network);
    uint32_t count = config->endpoint_count;
    network->endpoints = must_alloc(count, sizeof *network->endpoints);
    memcpy(network->endpoints, config->endpoints, count * sizeof *network->endpoints);
    network->program_folder = must_copy(config->program_folder);
    network->log_path = config->log_path ? must_copy(config->log_path) : NULL;
    network->config = *config;
    network->config.endpoints = network->endpoints;
    network->config.program_folder = network->program_folder;
    network->config.log_path = network->log_path;
    network->listener = *listener;
    network->loop = loop;
    network->wanted = must_alloc((size_t)count * count, sizeof *network->wanted);
    return network;
}

static int switch_open(const struct network_config *config, struct uv_loop_s *loop,
                       const struct network_listener *listener, struct network **out,
                       struct error *error)
{
    struct network *network = network_new(config, loop, listener);
    int rc = open_taps(network, error);
    if (rc == 0)
        rc = start_helper(network, error);
    if (rc < 0) {
        error_prefix(error, "network switch");
        switch_close(network);
        return rc;
    }
    start_watch(network);
    *out = network;
    return 0;
}

extern const struct network_backend network_switch;
const struct network_backend network_switch = {
    .name = "switch",
    .summary = "a TAP for every process and a seeded switch between them; needs no kernel modules "
               "but tun",
    .probe = tap_probe,
    .open = switch_open,
    .apply = switch_apply,
    .counters = switch_counters,
    .close = switch_close,
};
