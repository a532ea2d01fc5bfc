/* `coup show`: a history as lines for people. */
#include "controller/command.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/units.h"
#include "controller/expectation.h"
#include "controller/output.h"
#include "histories/file.h"
#include "histories/show.h"
#include "nemesis/scenario_write.h"

#define WRITE_AT_BYTES 65536u

/* What the user wants to see; empty sets are everything. */
struct filter {
    uint64_t from_ns, to_ns;
    uint64_t fs; /* bit per enum event_f */
    uint32_t processes[NODES_MAX + CLIENTS_MAX];
    uint32_t process_count;
};

static int want_f(struct filter *filter, struct slice name, struct error *error)
{
    int f = event_f_parse(name);
    if (f >= 0) {
        filter->fs |= UINT64_C(1) << f;
        return 0;
    }
    struct text known = {0};
    for (int i = 0; i < EVENT_FS; i++)
        text_add(&known, "%s%s", i ? ", " : "", event_f_name((enum event_f)i));
    int rc = error_usage(error, "--f: unknown '%.*s' (accepted: %s)",
                         (int)(name.length < 40 ? name.length : 40), name.at, text_string(&known));
    text_release(&known);
    return rc;
}

static int want_process(struct filter *filter, struct slice name, struct error *error)
{
    uint32_t process;
    if (!process_parse(name, &process))
        return error_usage(error,
                           "--process: unknown '%.*s' (accepted: n1, n2, ..., client-1, ..., "
                           "resource, coordinator, nemesis, controller, switch)",
                           (int)(name.length < 40 ? name.length : 40), name.at);
    if (filter->process_count == sizeof filter->processes / sizeof filter->processes[0])
        return error_usage(error, "--process: too many names");
    filter->processes[filter->process_count++] = process;
    return 0;
}

/* Every name of a comma-separated list goes to `want`. */
static int each_name(const char *list, struct filter *filter, struct error *error,
                     int (*want)(struct filter *filter, struct slice name, struct error *error))
{
    int rc = 0;
    while (list && rc == 0) {
        size_t length = strcspn(list, ",");
        rc = want(filter, (struct slice){list, length}, error);
        list = list[length] ? list + length + 1 : NULL;
    }
    return rc;
}

static int filter_make(const struct command_line *line, struct filter *out, struct error *error)
{
    *out = (struct filter){.from_ns = command_number(line, "from"),
                           .to_ns =
                               command_given(line, "to") ? command_number(line, "to") : UINT64_MAX};
    if (out->from_ns > out->to_ns)
        return error_usage(error, "--from %s is after --to %s", command_text(line, "from"),
                           command_text(line, "to"));
    int rc = each_name(command_text(line, "process"), out, error, want_process);
    return rc < 0 ? rc : each_name(command_text(line, "f"), out, error, want_f);
}

static bool filter_passes(const struct filter *filter, const struct event *event)
{
    bool named = filter->process_count == 0;
    for (uint32_t i = 0; i < filter->process_count && !named; i++)
        named = filter->processes[i] == event->process;
    return named && event->time_ns >= filter->from_ns && event->time_ns <= filter->to_ns &&
           (filter->fs == 0 || (filter->fs >> event->f & 1));
}

/* A process that the run never had is a slip of the pen, not an empty answer. */
static int check_processes(const struct filter *filter, const struct history_header *header,
                           struct error *error)
{
    for (uint32_t i = 0; i < filter->process_count; i++) {
        char name[PROCESS_NAME_MAX];
        uint32_t process = filter->processes[i];
        if (process_kind(process) == PROCESS_NODE && process_index(process) > header->nodes)
            return error_usage(error, "--process: no %s in this run (its nodes are n1 to n%u)",
                               process_name(process, name), header->nodes);
        if (process_kind(process) == PROCESS_CLIENT && process_index(process) > header->clients)
            return error_usage(error, "--process: no %s in this run (it has %u clients)",
                               process_name(process, name), header->clients);
    }
    return 0;
}

/* 0, 1 when nobody reads any more, or -errno. */
static int show_events(struct history_reader *reader, const struct filter *filter,
                       struct error *error)
{
    struct event event;
    struct text out = {0};
    bool colour = output_colour(), any = false;
    int rc = check_processes(filter, history_header(reader), error);
    while (rc == 0 && history_next(reader, &event) == 1) {
        if (!filter_passes(filter, &event))
            continue;
        any = true;
        event_to_text(&event, colour, &out);
        text_add(&out, "\n");
        if (out.length < WRITE_AT_BYTES)
            continue;
        rc = output_text(&out, error);
        text_clear(&out);
    }
    if (rc == 0)
        rc = output_text(&out, error);
    if (rc == 0 && !any && !history_damage(reader))
        (void)fprintf(stderr, "coup show: no event matches\n");
    text_release(&out);
    return rc;
}

static int refuse_filters(const struct command_line *line, struct error *error)
{
    static const char *const filters[] = {"from", "to", "process", "f", NULL};
    for (uint32_t i = 0; filters[i]; i++)
        if (command_given(line, filters[i]))
            return error_usage(
                error, "--scenario shows the whole schedule: --%s does not go with it", filters[i]);
    return 0;
}

static int show_scenario(struct history_reader *reader, struct error *error)
{
    struct event event;
    struct text out = {0};
    struct resolved resolved;
    int rc = resolved_read(history_header(reader), &resolved, error);
    if (rc < 0)
        return rc;
    while (history_next(reader, &event) == 1)
        resolved_event(&resolved, &event);
    resolved.expect = expectation_recorded(history_recorded_verdict(reader));
    scenario_write(history_header(reader), &resolved, &out);
    rc = output_text(&out, error);
    resolved_release(&resolved);
    text_release(&out);
    return rc;
}

static int show_run(const struct command_line *line, struct error *error)
{
    struct filter filter = {0};
    struct history_reader *reader;
    bool scenario = command_given(line, "scenario");
    int rc = scenario ? refuse_filters(line, error) : filter_make(line, &filter, error);
    if (rc == 0)
        rc = history_open(line->arguments[0], &reader, error);
    if (rc < 0)
        return rc;
    rc = scenario ? show_scenario(reader, error) : show_events(reader, &filter, error);
    if (rc == 0 && history_damage(reader)) {
        (void)error_set(error, -EBADMSG, "%s: %s: %s", line->path, line->arguments[0],
                        history_damage(reader));
        output_error(error);
        rc = EXIT_UNKNOWN;
    } else if (rc > 0) {
        rc = EXIT_VALID;
    }
    history_reader_close(reader);
    return rc;
}

static const struct command_option show_options[] = {
    {"from", 0, ARGUMENT_DURATION, "TIME", "0", 0, UINT64_MAX, NULL,
     "leave out what happened earlier, counted from the run's start"},
    {"to", 0, ARGUMENT_DURATION, "TIME", NULL, 0, UINT64_MAX, NULL,
     "leave out what happened later"},
    {"process", 'p', ARGUMENT_LIST, "LIST", NULL, 0, 0, NULL,
     "only events of these processes: n1, client-1, resource, nemesis, controller"},
    {"f", 'f', ARGUMENT_LIST, "LIST", NULL, 0, 0, NULL,
     "only these kinds of event: lead, vote, accept, fault, ..."},
    {.name = "scenario",
     .help = "instead, the run as a scenario for coup run --scenario and coup sim --scenario: "
             "cluster, faults as they came to pass, and the verdict as what is expected"},
    {.name = NULL},
};

static const char *const show_examples[] = {
    "coup show coup-runs/latest/history.coup --f lead,step-down,fault,heal",
    "coup show --scenario history.coup >again.yaml",
    "coup show history.coup --process n1,resource --from 4.2s --to 4.5s",
    NULL,
};

const struct command command_show = {
    .name = "show",
    .summary = "print the events of a history, one a line",
    .arguments = "HISTORY",
    .arguments_min = 1,
    .arguments_max = 1,
    .details = "Each line: index, true time since the run's start, process, type, what happened, "
               "and its values. A damaged history is shown up to the damage; then the damage is "
               "named and the exit code is 2.",
    .options = show_options,
    .examples = show_examples,
    .run = show_run,
};
