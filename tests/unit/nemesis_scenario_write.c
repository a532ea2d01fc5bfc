/* A schedule becomes a scenario and the same schedule again, whatever is in it. */
#include "nemesis/scenario_write.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/history_sample.h"
#include "tests/test.h"

#define SEEDS 200
#define NODES 7

static void release_lines(struct history_header *header)
{
    for (uint32_t i = 0; i < header->schedule_count; i++)
        free(header->schedule[i]);
    free(header->schedule);
}

static void set_lines(const struct schedule *schedule, struct history_header *out)
{
    out->schedule = must_alloc(schedule->count + 1, sizeof *out->schedule);
    out->schedule_count = schedule->count;
    for (uint32_t i = 0; i < schedule->count; i++) {
        struct text line = {0};
        scheduled_fault_format(&schedule->faults[i], &line);
        out->schedule[i] = line.at;
    }
}

/* Through YAML and back. */
static void rewritten(const struct history_header *header, const struct resolved *resolved,
                      struct scenario *out)
{
    struct text yaml = {0};
    struct error error;
    scenario_write(header, resolved, &yaml);
    if (scenario_parse("w.yaml", (struct slice){yaml.at, yaml.length}, out, &error) < 0)
        fail_msg("%s in\n%s", error.text, yaml.at);
    text_release(&yaml);
}

static void plan_all(uint64_t seed, const struct history_header *header, struct schedule *out)
{
    const struct fault *kinds[FAULTS_MAX];
    struct error error;
    struct plan_request request = {.seed = seed,
                                   .nodes = header->nodes,
                                   .kinds = kinds,
                                   .every_ns = NS_PER_S,
                                   .length_ns = header->duration_ns,
                                   .election_timeout_ns = 300 * NS_PER_MS};
    assert_int_equal(faults_parse("all,disk-wipe,override,service,service-session-drop", kinds,
                                  &request.kind_count, &error),
                     0);
    plan_random(&request, out);
}

static void round_trip(uint64_t seed, bool seen[FAULTS_MAX])
{
    struct history_header header = sample_header(), again = sample_header();
    struct schedule schedule = {0};
    struct resolved resolved;
    struct scenario scenario;
    header.nodes = NODES;
    plan_all(seed, &header, &schedule);
    set_lines(&schedule, &header);
    assert_int_equal(resolved_read(&header, &resolved, NULL), 0);
    rewritten(&header, &resolved, &scenario);
    set_lines(&scenario.schedule, &again);
    assert_int_equal(again.schedule_count, header.schedule_count);
    for (uint32_t i = 0; i < header.schedule_count; i++) {
        assert_string_equal(again.schedule[i], header.schedule[i]);
        for (uint32_t kind = 0; faults[kind]; kind++)
            seen[kind] = seen[kind] || schedule.faults[i].fault == faults[kind];
    }
    release_lines(&header);
    release_lines(&again);
    scenario_release(&scenario);
    resolved_release(&resolved);
    schedule_release(&schedule);
}

static void test_random_plans_of_all_kinds(void **state)
{
    (void)state;
    bool seen[FAULTS_MAX] = {false};
    for (uint64_t seed = 0; seed < SEEDS; seed++)
        round_trip(seed, seen);
    for (uint32_t kind = 0; faults[kind]; kind++)
        assert_true(seen[kind] || faults[kind]->by_name);
}

static void test_everything_else(void **state)
{
    (void)state;
    struct history_header header = sample_header();
    struct resolved resolved = {.expect = must_copy("invalid:vote-once")};
    struct scenario scenario;
    header.schedule_count = 0;
    header.knobs.heartbeat = 20 * NS_PER_MS;
    rewritten(&header, &resolved, &scenario);
    assert_string_equal(scenario.algorithm, "raft:prevote=on,checkquorum=off");
    assert_int_equal(scenario.nodes, header.nodes);
    assert_int_equal(scenario.witnesses, header.witnesses);
    assert_int_equal(scenario.clients, header.clients);
    assert_int_equal(scenario.rate, 50);
    assert_int_equal(scenario.seed, header.seed);
    assert_int_equal(scenario.duration_ns, header.duration_ns);
    assert_string_equal(scenario.resource, "fenced");
    assert_string_equal(scenario.knobs, "heartbeat=20ms,registers=7");
    assert_string_equal(scenario.physics, "drift=1%");
    assert_string_equal(scenario.expect, "invalid:vote-once");
    assert_int_equal(scenario.schedule.count, 0);
    scenario_release(&scenario);
    resolved_release(&resolved);
}

static void tell(struct resolved *resolved, uint64_t id, uint64_t begin_ms, const char *parameters)
{
    struct event event = {.f = F_FAULT};
    event_set(&event, FIELD_ID, id);
    event_set(&event, FIELD_BEGIN, begin_ms * NS_PER_MS);
    event_set_text(&event, FIELD_PARAMETERS, slice_of(parameters));
    resolved_event(resolved, &event);
}

static void assert_written(const struct resolved *resolved, const char *step)
{
    struct history_header header = sample_header();
    struct text text = {0};
    scenario_write(&header, resolved, &text);
    if (!strstr(text_string(&text), step))
        fail_msg("%s is not in\n%s", step, text_string(&text));
    text_release(&text);
}

/* The faults phase begins at 500 ms. */
static void test_what_waited(void **state)
{
    (void)state;
    static char lines[][60] = {"after=lead:2 fault=kill on=actor for=1s",
                               "after=vote fault=pause",
                               "at=1s fault=kill on=n1",
                               "after=lead fault=pause on=leader for=1s",
                               "after=lead fault=pause on=actor for=1s",
                               "after=lead fault=pause on=actor"};
    char *schedule[] = {lines[0], lines[1], lines[2], lines[3], lines[4], lines[5]};
    struct history_header header = sample_header();
    struct event phase = {.f = F_PHASE, .time_ns = 500 * NS_PER_MS};
    struct resolved resolved;
    header.schedule = schedule;
    header.schedule_count = 6;
    assert_int_equal(resolved_read(&header, &resolved, NULL), 0);
    event_set_text(&phase, FIELD_NAME, slice_of("faults"));
    resolved_event(&resolved, &phase);
    tell(&resolved, 1, 2500, "on=n3,at=2s,by=n3");
    tell(&resolved, 2, 9000, "on=random");         /* its event never came */
    tell(&resolved, 6, 1500, "on=n1,at=7s,by=n2"); /* it did not wait: sorted by time, the last */
    tell(&resolved, 3, 2900, "on=n1,at=2s,by=n2"); /* a role waits as it did */
    tell(&resolved, 4, 2700, "on=n2,at=2s,by=n2"); /* could not begin for 200 ms */
    tell(&resolved, 5, 9500, "on=n4,at=2s,by=n4");
    tell(&resolved, 7, 1500, "on=n1,at=7s,by=n2"); /* not in the schedule */
    assert_written(&resolved, "{at: 2s, fault: kill, on: n3, for: 1s}");
    assert_written(
        &resolved,
        "{at: 0, after: vote, fault: pause, on: random, point: anywhere, means: signal}");
    assert_written(&resolved, "{at: 1s, fault: kill, on: n1}");
    assert_written(&resolved,
                   "{at: 2s, fault: pause, on: leader, for: 1s, point: anywhere, means: signal}");
    assert_written(
        &resolved,
        "{at: 2200ms, fault: pause, on: n2, for: 800ms, point: anywhere, means: signal}");
    assert_written(&resolved, "{at: 9s, fault: pause, on: n4, point: anywhere, means: signal}");
    resolved_release(&resolved);
}

static void test_what_cannot_be_read(void **state)
{
    (void)state;
    static char line[] = "at=1s fault=fire";
    static char *lines[] = {line};
    struct history_header header = sample_header();
    struct resolved resolved;
    struct error error;
    header.schedule = lines;
    header.schedule_count = 1;
    assert_true(resolved_read(&header, &resolved, &error) < 0);
    assert_non_null(strstr(error.text, "planned fault 1: unknown fault 'fire'"));
    header.nodes = 51;
    assert_true(resolved_read(&header, &resolved, &error) < 0);
    assert_non_null(strstr(error.text, "51 nodes"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_random_plans_of_all_kinds),
        cmocka_unit_test(test_everything_else),
        cmocka_unit_test(test_what_waited),
        cmocka_unit_test(test_what_cannot_be_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
