/* Every case of tests/checks/: a small history, and what the checks must say of it.
 *
 *     case two nodes claim one term
 *     set nodes=5 uncertainty=1ms clients=1 faults=kill world=sim without=durable
 *     10ms n1 lead term=3 token=3
 *     ...
 *     expect single-leader-per-term invalid 0 1 "both lead in term 3"
 *
 * Witness indices and the part of the reason, or of the evidence, may be left out. */
#include "tests/test.h"

#include <dirent.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/units.h"
#include "tests/events.h"

/* The case being read. */
struct case_state {
    const char *file;
    uint32_t line;
    char name[2000];
    struct history_header header;
    char faults[80], resource[16], world[16], options[80];
    struct events events;
    bool judged;
    struct report_data report;
    uint32_t expectations;
};

static void die(const struct case_state *state, const char *what, const char *detail)
{
    fail_msg("%s:%u: case '%s': %s: %s", state->file, state->line, state->name, what, detail);
}

static void forget(struct case_state *state)
{
    if (state->judged)
        report_data_release(&state->report);
    state->judged = false;
    events_release(&state->events);
}

static void begin_case(struct case_state *state, const char *name)
{
    if (state->name[0] && state->expectations == 0)
        die(state, "nothing is expected", "");
    forget(state);
    state->expectations = 0;
    state->header = events_header(3);
    (void)snprintf(state->name, sizeof state->name, "%s", name);
}

static void set_trait(struct case_state *state, const char *value, bool on)
{
    int trait = trait_parse(slice_of(value));
    if (trait < 0)
        die(state, "unknown trait", value);
    if (on)
        state->header.traits |= 1u << trait;
    else
        state->header.traits &= ~(1u << trait);
}

static void set_one(struct case_state *state, const char *name, const char *value)
{
    struct history_header *header = &state->header;
    struct error error;
    uint64_t number = 0;
    if (strcmp(name, "nodes") == 0 && parse_count(value, &number, &error) == 0)
        header->nodes = (uint32_t)number;
    else if (strcmp(name, "clients") == 0 && parse_count(value, &number, &error) == 0)
        header->clients = (uint32_t)number;
    else if (strcmp(name, "uncertainty") == 0 && parse_duration(value, &number, &error) == 0)
        header->clock_uncertainty_ns = number;
    else if (strcmp(name, "recover-within") == 0 && parse_duration(value, &number, &error) == 0)
        header->knobs.recover_within = number;
    else if (strcmp(name, "with") == 0)
        set_trait(state, value, true);
    else if (strcmp(name, "without") == 0)
        set_trait(state, value, false);
    else if (strcmp(name, "faults") == 0) {
        (void)snprintf(state->faults, sizeof state->faults, "%s", value);
        header->faults = state->faults;
    } else if (strcmp(name, "options") == 0) {
        (void)snprintf(state->options, sizeof state->options, "%s", value);
        header->options = state->options;
    } else if (strcmp(name, "world") == 0) {
        (void)snprintf(state->world, sizeof state->world, "%s", value);
        header->world = state->world;
    } else if (strcmp(name, "resource") == 0) {
        (void)snprintf(state->resource, sizeof state->resource, "%s", value);
        header->resource = state->resource;
    } else {
        die(state, "cannot set", name);
    }
}

static void set_all(struct case_state *state, char *settings)
{
    char *next = settings;
    while (next && *next) {
        char *name = next;
        next = strchr(name, ' ');
        if (next)
            *next++ = '\0';
        char *equals = strchr(name, '=');
        if (!equals)
            die(state, "no NAME=VALUE", name);
        *equals = '\0';
        set_one(state, name, equals + 1);
    }
}

static void judge(struct case_state *state)
{
    if (state->judged)
        return;
    events_check(&state->header, NULL, &state->events, &state->report);
    state->judged = true;
}

static const struct check_result *find_result(struct case_state *state, const char *check)
{
    for (uint32_t i = 0; i < state->report.result_count; i++)
        if (strcmp(state->report.results[i].check->name, check) == 0)
            return &state->report.results[i];
    die(state, "no such check", check);
    return NULL;
}

static void show_witness(const struct finding *finding, char text[120])
{
    size_t length = 0;
    text[0] = '\0';
    for (uint32_t i = 0; i < finding->witness_count; i++)
        length += (size_t)snprintf(text + length, 120 - length, "%s%" PRIu64, i ? " " : "",
                                   finding->witness[i]);
}

/* CHECK VERDICT [INDEX...] ["PART OF THE REASON"] */
static void expect(struct case_state *state, char *text)
{
    char check[60], verdict[20], witness[120], message[800];
    int used = 0;
    state->expectations++;
    judge(state);
    if (sscanf(text, "%59s %19s%n", check, verdict, &used) != 2)
        die(state, "what is expected?", text);
    const struct check_result *result = find_result(state, check);
    const struct finding *finding = &result->finding;
    const char *found = result->owed ? check_result_word(result) : "not-owed";
    char *indices = text + used + strspn(text + used, " ");
    char *reason = strchr(indices, '"');
    if (reason) {
        *reason++ = '\0';
        reason[strcspn(reason, "\"")] = '\0';
    }
    for (size_t length = strlen(indices); length && indices[length - 1] == ' ';)
        indices[--length] = '\0';
    show_witness(finding, witness);
    (void)snprintf(message, sizeof message, "%s, witness %s, \"%s\" (%s)", found, witness,
                   finding->reason, finding->evidence);
    if (strcmp(found, verdict) != 0)
        die(state, text, message);
    if (indices[0] && strcmp(indices, witness) != 0)
        die(state, indices, message);
    if (reason && !strstr(finding->reason, reason) && !strstr(finding->evidence, reason))
        die(state, reason, message);
}

static void add_event(struct case_state *state, const char *text)
{
    struct error error;
    if (state->judged)
        die(state, "an event after an expectation", text);
    if (events_parse(&state->events, text, &error) < 0)
        die(state, text, error.text);
}

static void read_line(struct case_state *state, char *text)
{
    if (strncmp(text, "case ", 5) == 0)
        begin_case(state, text + 5);
    else if (strncmp(text, "set ", 4) == 0)
        set_all(state, text + 4);
    else if (strncmp(text, "expect ", 7) == 0)
        expect(state, text + 7);
    else if (text[0] >= '0' && text[0] <= '9')
        add_event(state, text);
    else if (text[0] && text[0] != '#')
        die(state, "what is this?", text);
}

static void run_file(const char *folder, const char *name)
{
    char path[512], text[2000];
    struct case_state state = {.file = name};
    (void)snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    while (fgets(text, sizeof text, file)) {
        state.line++;
        text[strcspn(text, "\n")] = '\0';
        read_line(&state, text);
    }
    (void)fclose(file);
    if (state.name[0] && state.expectations == 0)
        die(&state, "nothing is expected", "");
    forget(&state);
}

static void test_cases(void **unused)
{
    static const char folder[] = TESTS_FOLDER "/checks";
    DIR *entries = opendir(folder);
    uint32_t files = 0;
    (void)unused;
    assert_non_null(entries);
    for (struct dirent *entry; (entry = readdir(entries));) {
        if (!strstr(entry->d_name, ".txt"))
            continue;
        run_file(folder, entry->d_name);
        files++;
    }
    (void)closedir(entries);
    assert_true(files > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_cases)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
