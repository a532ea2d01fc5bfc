#define _POSIX_C_SOURCE 200809L /* clock_gettime */
#include "controller/bench.h"

#include <inttypes.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include "base/units.h"
#include "checker/checker.h"
#include "controller/bench/register_history.h"
#include "controller/output.h"

#define NODES 5u
#define CLIENTS 8u
#define REGISTERS 4u
#define REIGN_EVENTS 20000u /* what one leader sees in its time */

/* Makes a valid history, event by event. */
struct maker {
    uint64_t count;
    uint64_t term;
    uint64_t write; /* number of the write being done */
    uint32_t step;  /* within the election, or within the cycle of work */
    bool electing;
};

static uint32_t leader_of(uint64_t term)
{
    return 1 + (uint32_t)(term % NODES);
}

static void set_head(const struct maker *maker, enum event_f f, uint32_t process, struct event *out)
{
    out->time_ns = maker->count * 200011;
    out->node_ns = out->time_ns + 123456789;
    out->present = 0;
    out->f = (uint8_t)f;
    out->type = EVENT_INFO;
    out->process = process;
    event_set(out, FIELD_TERM, maker->term);
}

/* Step-down of the old leader, a record and a vote of each node, the claim, and who follows. */
static void make_election(struct maker *maker, struct event *out)
{
    uint32_t leader = leader_of(maker->term), step = maker->step++;
    uint32_t node = 1 + (leader - 1 + (step - 1) / 2) % NODES; /* the candidate votes first */
    if (step == 0) {
        set_head(maker, F_STEP_DOWN, leader_of(maker->term - 1), out);
        event_set(out, FIELD_TERM, maker->term - 1);
    } else if (step <= 2 * NODES) {
        set_head(maker, step % 2 ? F_PERSIST : node == leader ? F_CAMPAIGN : F_VOTE, node, out);
        if (out->f != F_CAMPAIGN)
            event_set(out, FIELD_FOR, leader);
    } else if (step == 2 * NODES + 1) {
        set_head(maker, F_LEAD, leader, out);
        event_set(out, FIELD_TOKEN, maker->term);
    } else {
        set_head(maker, F_FOLLOW, 1 + (leader + step - 2 * NODES - 2) % NODES, out);
        event_set(out, FIELD_LEADER, leader);
        maker->electing = step < 3 * NODES;
    }
    if (!maker->electing)
        maker->step = 0;
}

/* A read finds what was written just before. */
static void set_write(const struct maker *maker, bool own, struct event *out)
{
    uint64_t value = out->f == F_READ ? maker->write - 1 : maker->write;
    event_set(out, FIELD_ID, maker->write);
    event_set(out, FIELD_TOKEN, maker->term);
    event_set(out, FIELD_REGISTER, own ? 0 : 1 + value % REGISTERS);
    event_set(out, FIELD_VALUE, value);
}

/* The leader's own write, a client's write and its read, and some bookkeeping. */
static void make_work(struct maker *maker, struct event *out)
{
    static const struct turn {
        enum event_f f;
        enum event_type type;
    } turns[] = {
        {F_GUARDED_WRITE, EVENT_INVOKE}, {F_ACCEPT, EVENT_INFO}, {F_GUARDED_WRITE, EVENT_OK},
        {F_WRITE, EVENT_INVOKE},         {F_ACCEPT, EVENT_INFO}, {F_WRITE, EVENT_OK},
        {F_READ, EVENT_INVOKE},          {F_READ, EVENT_OK},     {F_MESSAGE_COUNTS, EVENT_INFO},
    };
    const struct turn *turn = &turns[maker->step];
    uint32_t leader = leader_of(maker->term);
    bool own = maker->step < 3;
    if (maker->step == 0 || maker->step == 3 || maker->step == 6)
        maker->write++;
    set_head(maker, turn->f, leader, out);
    out->type = (uint8_t)turn->type;
    switch (turn->f) {
    case F_ACCEPT:
        out->process = PROCESS_NUMBER(PROCESS_RESOURCE, 0);
        set_write(maker, own, out);
        event_set(out, FIELD_HOLDER, leader);
        event_set(out, FIELD_HIGHEST, maker->term);
        event_set(out, FIELD_SEQUENCE, maker->write);
        break;
    case F_MESSAGE_COUNTS:
        out->present = 0;
        event_set_text(out, FIELD_COUNTS, slice_of("heartbeat=12,heartbeat-reply=12"));
        break;
    default:
        if (turn->f != F_GUARDED_WRITE)
            out->process = PROCESS_NUMBER(PROCESS_CLIENT, 1 + maker->write / 3 % CLIENTS);
        set_write(maker, own, out);
        if (turn->f != F_GUARDED_WRITE)
            event_set(out, FIELD_NODE, leader);
    }
    maker->step = (maker->step + 1) % (uint32_t)(sizeof turns / sizeof turns[0]);
}

static void make_event(struct maker *maker, struct event *out)
{
    if (maker->count < NODES) {
        set_head(maker, F_SPAWN, 1 + (uint32_t)maker->count, out);
        out->present = 0;
        event_set(out, FIELD_PID, 100 + maker->count);
        event_set(out, FIELD_INCARNATION, 1);
    } else {
        if (maker->count % REIGN_EVENTS == NODES) {
            maker->electing = true;
            maker->step = maker->term++ ? 0 : 1;
        }
        if (maker->electing)
            make_election(maker, out);
        else
            make_work(maker, out);
    }
    maker->count++;
}

static struct history_header make_header(void)
{
    static char algorithm[] = "raft", resource[] = "fenced";
    struct history_header header = {.algorithm = algorithm,
                                    .resource = resource,
                                    .nodes = NODES,
                                    .clients = CLIENTS,
                                    .traits = 1u << TRAIT_MAJORITY | 1u << TRAIT_DURABLE |
                                              1u << TRAIT_TOKEN | 1u << TRAIT_LINEARIZABLE |
                                              1u << TRAIT_STEADY};
    knobs_defaults(&header.knobs);
    header.knobs.registers = REGISTERS;
    return header;
}

static int write_history(uint64_t events, struct history_writer **out, struct error *error)
{
    struct history_header header = make_header();
    struct history_writer *writer;
    struct maker maker = {0};
    struct event event = {0};
    int rc = history_create(NULL, &header, &writer, error);
    if (rc < 0)
        return rc;
    for (uint64_t i = 0; rc == 0 && i < events; i++) {
        make_event(&maker, &event);
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

/* The processor's time of this process, so that a busy machine does not count against us. */
static uint64_t spent_ns(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now); /* cannot fail with this clock */
    return (uint64_t)now.tv_sec * NS_PER_S + (uint64_t)now.tv_nsec;
}

/* Resident memory, 0 where /proc does not say. */
static uint64_t resident_bytes(void)
{
    unsigned long pages = 0;
    FILE *file = fopen("/proc/self/statm", "re");
    if (!file)
        return 0;
    if (fscanf(file, "%*u %lu", &pages) != 1)
        pages = 0;
    (void)fclose(file);
    return (uint64_t)pages * (uint64_t)sysconf(_SC_PAGESIZE);
}

struct lap {
    uint64_t events, ns, growth_bytes;
};

/* Read and check everything; the memory is looked at while the checks still hold theirs. */
static int check_bytes(struct slice bytes, struct lap *lap, struct report_data *report,
                       struct error *error)
{
    struct history_reader *reader;
    struct checker *checker;
    struct event event;
    uint64_t before = resident_bytes(), start = spent_ns();
    int rc = history_open_bytes(bytes, &reader, error);
    if (rc < 0)
        return rc;
    rc = checker_new(history_header(reader), NULL, &checker, error);
    if (rc == 0) {
        while (history_next(reader, &event) == 1)
            checker_step(checker, &event);
        uint64_t after = resident_bytes();
        lap->growth_bytes = after > before ? after - before : 0;
        checker_end(checker, report);
        lap->ns = spent_ns() - start;
        lap->events = report->events;
    }
    history_reader_close(reader);
    return rc;
}

/* The history is valid but for the phases it has none of. */
static int vet(const struct report_data *report, struct error *error)
{
    for (uint32_t i = 0; i < report->result_count; i++) {
        const struct check_result *result = &report->results[i];
        if (result->finding.verdict == VERDICT_INVALID ||
            (result->finding.verdict != VERDICT_VALID &&
             slice_equals(slice_of(result->check->name), "well-formed")))
            return error_set(error, -1, "the made history should be valid, but %s: %s",
                             result->check->name, result->finding.reason);
    }
    return 0;
}

static int bench(uint64_t events, struct text *out, struct error *error)
{
    struct history_writer *writer;
    struct report_data report = {0};
    struct lap lap = {0};
    char time[UNIT_TEXT_MAX];
    int rc = write_history(events, &writer, error);
    if (rc < 0)
        return rc;
    rc = check_bytes(history_writer_bytes(writer), &lap, &report, error);
    if (rc == 0)
        rc = vet(&report, error);
    report_data_release(&report);
    (void)history_close(writer, NULL); /* in memory: nothing can be lost */
    if (rc < 0)
        return rc;
    text_add(out,
             "read and check           %10" PRIu64
             " events  %8s CPU  %12.0f events/s  memory grew by %.1f MB\n",
             lap.events, human_duration(lap.ns, time),
             (double)lap.events * (double)NS_PER_S / (double)(lap.ns ? lap.ns : 1),
             (double)lap.growth_bytes / 1e6);
    return 0;
}

/* The most memory ever resident, and that forgotten: from now on. 0 where /proc does not say. */
static uint64_t peak_bytes(bool forget)
{
    char line[200];
    unsigned long kib = 0;
    FILE *file = fopen("/proc/self/status", "re");
    while (file && fgets(line, sizeof line, file))
        if (sscanf(line, "VmHWM: %lu kB", &kib) == 1)
            break;
    if (file)
        (void)fclose(file);
    file = forget ? fopen("/proc/self/clear_refs", "we") : NULL;
    if (file) {
        (void)fputs("5", file);
        (void)fclose(file); /* then it is the peak since the start: too much, never too little */
    }
    return (uint64_t)kib << 10;
}

/* Reading and judging, and what that took at most; the made history itself is there before. */
static int bench_register(const struct register_load *load, struct text *out, struct error *error)
{
    struct history_writer *writer;
    struct history_reader *reader;
    struct report_data report = {0};
    char time[UNIT_TEXT_MAX];
    int rc = register_history(load, &writer, error);
    if (rc < 0)
        return rc;
    (void)peak_bytes(true);
    uint64_t before = resident_bytes(), start = spent_ns();
    rc = history_open_bytes(history_writer_bytes(writer), &reader, error);
    if (rc == 0) {
        rc = check_history(reader, "linearizable", &report, error);
        history_reader_close(reader);
    }
    uint64_t took_ns = spent_ns() - start, peak = peak_bytes(false);
    if (rc == 0 && report.verdict != VERDICT_VALID)
        rc = error_set(error, -1, "the made history should be linearizable, but %s: %s",
                       verdict_name(report.verdict), report.results[0].finding.reason);
    report_data_release(&report);
    (void)history_close(writer, NULL); /* in memory: nothing can be lost */
    if (rc < 0)
        return rc;
    text_add(out,
             "linearizable, %-11s%10" PRIu64 " operations of %u clients  %8s CPU  memory grew "
             "by at most %.1f MB\n",
             load->name, load->operations, load->clients, human_duration(took_ns, time),
             (double)(peak > before ? peak - before : 0) / 1e6);
    return 0;
}

static int bench_registers(uint64_t operations, struct text *out, struct error *error)
{
    const struct register_load loads[] = {
        {"unique", operations, 10, 0, 0},
        {"with cas", operations, 10, 0, 15},
        {"5 values", operations / 10 + 1, 10, 5, 15},
    };
    int rc = 0;
    for (size_t i = 0; rc == 0 && i < sizeof loads / sizeof loads[0]; i++)
        rc = bench_register(&loads[i], out, error);
    return rc;
}

static int run(const struct command_line *line, struct error *error)
{
    struct text out = {0};
    uint64_t events = command_number(line, "events");
    int rc = bench_registers(events, &out, error);
    if (rc == 0)
        rc = bench(events, &out, error);
    if (rc == 0)
        rc = bench(10 * events, &out, error);
    if (rc == 0)
        rc = output_text(&out, error);
    text_release(&out);
    return rc < 0 ? rc : EXIT_VALID;
}

static const struct command_option options[] = {
    {"events", 'e', ARGUMENT_COUNT, "N", "1000000", 1, 100000000, NULL,
     "events of the first history and operations of clients on a register; the second history has "
     "ten times as many events"},
    {.name = NULL},
};

const struct command bench_check = {
    .name = "check",
    .summary = "read and judge histories in memory: registers, a run, and one ten times as long",
    .arguments = "",
    .options = options,
    .run = run,
};
