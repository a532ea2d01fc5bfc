#define _POSIX_C_SOURCE 200809L /* clock_gettime, mkdtemp */
#include "controller/bench.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/units.h"
#include "controller/output.h"
#include "histories/file.h"

/* One measurement: a history of `events` events and how long it took. */
struct lap {
    const char *what;
    uint64_t events, ns, bytes;
};

static uint64_t now_ns(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now); /* cannot fail with this clock */
    return (uint64_t)now.tv_sec * NS_PER_S + (uint64_t)now.tv_nsec;
}

static void report(const struct lap *lap, struct text *out)
{
    char time[UNIT_TEXT_MAX];
    double seconds = (double)(lap->ns ? lap->ns : 1) / (double)NS_PER_S;
    text_add(out, "%-24s %10" PRIu64 " events  %8s  %12.0f events/s  %5.1f bytes/event\n",
             lap->what, lap->events, human_duration(lap->ns, time), (double)lap->events / seconds,
             (double)lap->bytes / (double)(lap->events ? lap->events : 1));
}

static void set_write(struct event *event, uint64_t number)
{
    event_set(event, FIELD_ID, number);
    event_set(event, FIELD_TOKEN, 1 + number / 50000);
    event_set(event, FIELD_REGISTER, number % 4);
    event_set(event, FIELD_VALUE, number / 10);
}

/* What a busy run records: mostly the leader's writes, the resource's decisions and the clients'
 * operations, some election and bookkeeping in between. */
static void typical_event(uint64_t number, struct event *out)
{
    static const enum event_f kinds[] = {F_GUARDED_WRITE,  F_ACCEPT, F_GUARDED_WRITE, F_WRITE,
                                         F_WRITE,          F_READ,   F_READ,          F_ACCEPT,
                                         F_MESSAGE_COUNTS, F_VOTE};
    uint64_t turn = number % (sizeof kinds / sizeof kinds[0]);
    uint32_t node = (uint32_t)(1 + number / 50000 % 5);
    out->time_ns = number * 20011 + number % 977;
    out->node_ns = out->time_ns + 123456789;
    out->present = 0;
    out->f = (uint8_t)kinds[turn];
    out->type = EVENT_INFO;
    out->process = PROCESS_NUMBER(PROCESS_NODE, node);
    switch (kinds[turn]) {
    case F_GUARDED_WRITE:
        out->type = turn == 0 ? EVENT_INVOKE : EVENT_OK;
        set_write(out, number);
        break;
    case F_ACCEPT:
        out->process = PROCESS_NUMBER(PROCESS_RESOURCE, 0);
        set_write(out, number);
        event_set(out, FIELD_HOLDER, node);
        event_set(out, FIELD_HIGHEST, 1 + number / 50000);
        event_set(out, FIELD_SEQUENCE, number / 10);
        break;
    case F_MESSAGE_COUNTS:
        event_set_text(out, FIELD_COUNTS, slice_of("append=12,append-reply=12"));
        break;
    case F_VOTE:
        event_set(out, FIELD_TERM, 1 + number / 50000);
        event_set(out, FIELD_FOR, node);
        break;
    default:
        out->process = PROCESS_NUMBER(PROCESS_CLIENT, 1 + number / 10 % 8);
        out->type = turn % 2 ? EVENT_INVOKE : EVENT_OK;
        event_set(out, FIELD_ID, number / 10);
        event_set(out, FIELD_REGISTER, number % 4);
        event_set(out, FIELD_VALUE, number / 10);
        event_set(out, FIELD_NODE, node);
    }
}

/* What making the events costs, to be taken off the writer's time. */
static uint64_t time_of_making(uint64_t events)
{
    struct event event = {0};
    uint64_t sum = 0, start = now_ns();
    for (uint64_t i = 0; i < events; i++) {
        typical_event(i, &event);
        sum += event.time_ns ^ event.present;
    }
    uint64_t taken = now_ns() - start;
    return sum ? taken : taken + 1; /* uses the sum, so that the loop stays */
}

static int write_history(const char *path, uint64_t events, struct history_writer **out,
                         struct error *error)
{
    struct history_header header = {.nodes = 5, .clients = 8};
    struct history_writer *writer;
    struct event event = {0};
    knobs_defaults(&header.knobs);
    int rc = history_create(path, &header, &writer, error);
    if (rc < 0)
        return rc;
    for (uint64_t i = 0; rc == 0 && i < events; i++) {
        typical_event(i, &event);
        rc = history_append(writer, &event, error);
    }
    if (rc == 0)
        rc = history_finish(writer, error);
    if (rc < 0)
        (void)history_close(writer, NULL); /* the first error is the one to tell */
    else
        *out = writer;
    return rc;
}

/* Reads all; refuses a history that does not hold what was written. */
static int read_history(struct history_reader *reader, uint64_t events, struct error *error)
{
    struct event event;
    uint64_t count = 0;
    while (history_next(reader, &event))
        count++;
    int rc = 0;
    if (history_damage(reader) || count != events)
        rc = error_set(error, -EBADMSG, "read %" PRIu64 " of %" PRIu64 " events: %s", count, events,
                       history_damage(reader) ? history_damage(reader) : "no damage");
    history_reader_close(reader);
    return rc;
}

static int bench_in_memory(uint64_t events, struct text *out, struct error *error)
{
    struct history_writer *writer;
    struct history_reader *reader;
    struct lap lap = {.what = "write history in memory", .events = events};
    uint64_t making = time_of_making(events), start = now_ns();
    int rc = write_history(NULL, events, &writer, error);
    if (rc < 0)
        return rc;
    lap.ns = now_ns() - start;
    lap.ns -= lap.ns > making ? making : 0;
    struct slice bytes = history_writer_bytes(writer);
    lap.bytes = bytes.length;
    report(&lap, out);
    lap.what = "read history in memory";
    start = now_ns();
    rc = history_open_bytes(bytes, &reader, error);
    if (rc == 0)
        rc = read_history(reader, events, error);
    lap.ns = now_ns() - start;
    (void)history_close(writer, NULL); /* in memory: nothing can be lost */
    if (rc == 0)
        report(&lap, out);
    return rc;
}

static int bench_file(const char *path, uint64_t events, struct text *out, struct error *error)
{
    struct history_writer *writer;
    struct history_reader *reader;
    struct stat status = {0};
    struct lap lap = {.what = "write history file", .events = events};
    uint64_t making = time_of_making(events), start = now_ns();
    int rc = write_history(path, events, &writer, error);
    if (rc == 0)
        rc = history_close(writer, error);
    if (rc < 0)
        return rc;
    lap.ns = now_ns() - start;
    lap.ns -= lap.ns > making ? making : 0;
    lap.bytes = stat(path, &status) == 0 ? (uint64_t)status.st_size : 0;
    report(&lap, out);
    lap.what = "read history file";
    start = now_ns();
    rc = history_open(path, &reader, error);
    if (rc == 0)
        rc = read_history(reader, events, error);
    lap.ns = now_ns() - start;
    if (rc == 0)
        report(&lap, out);
    return rc;
}

/* Append one line per measurement: what, events, time, events per second, bytes per event. The file
 * is made in `folder` and removed again. */
static int measure(uint64_t events, const char *folder, struct text *out, struct error *error)
{
    struct text own = {0}, path = {0};
    text_add(&own, "%s/coup-bench-XXXXXX", folder);
    if (!mkdtemp(own.at)) {
        int code = errno;
        (void)error_usage(error, "create a folder in %s: %s", folder, strerror(code));
        text_release(&own);
        return -code;
    }
    text_add(&path, "%s/history.coup", own.at);
    int rc = bench_in_memory(events, out, error);
    if (rc == 0)
        rc = bench_file(path.at, events, out, error);
    (void)unlink(path.at); /* may not exist; what matters is that the folder goes */
    if (rmdir(own.at) < 0 && rc == 0)
        rc = error_set(error, -errno, "remove %s: %s", own.at, strerror(errno));
    text_release(&own);
    text_release(&path);
    return rc;
}

static int run(const struct command_line *line, struct error *error)
{
    struct text out = {0};
    int rc = measure(command_number(line, "events"), command_text(line, "folder"), &out, error);
    if (rc == 0)
        rc = output_text(&out, error);
    text_release(&out);
    return rc < 0 ? rc : EXIT_VALID;
}

static const struct command_option options[] = {
    {"events", 'e', ARGUMENT_COUNT, "N", "1000000", 1, 1000000000, NULL,
     "events to write and read"},
    {"folder", 0, ARGUMENT_TEXT, "DIR", "/tmp", 0, 0, NULL,
     "where the file is made, and removed again"},
    {.name = NULL},
};

const struct command bench_history = {
    .name = "history",
    .summary = "write and read a history, in memory and as a file",
    .arguments = "",
    .options = options,
    .run = run,
};
