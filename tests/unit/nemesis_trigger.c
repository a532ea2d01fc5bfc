/* Triggers: which events count, and faults that wait for them in an engine whose world does at once
 * what it is told. Times are milliseconds. */
#include "nemesis/trigger.h"

#include <stdlib.h>
#include <string.h>

#include "base/units.h"
#include "nemesis/engine.h"
#include "tests/test.h"

#define NODES 5

static struct event event_of(uint32_t node, enum event_f f, uint64_t ms)
{
    return (struct event){.process = PROCESS_NUMBER(PROCESS_NODE, node),
                          .f = (uint8_t)f,
                          .type = EVENT_INFO,
                          .time_ns = ms * NS_PER_MS};
}

static struct trigger parsed(const char *text)
{
    struct trigger trigger;
    struct error error;
    assert_int_equal(trigger_parse(text, NODES, &trigger, &error), 0);
    return trigger;
}

static void test_which_events_count(void **state)
{
    (void)state;
    struct trigger lead = parsed("lead"), of_two = parsed("reject@n2"), none = {0};
    struct event event = event_of(3, F_LEAD, 1);
    assert_true(trigger_matches(&lead, &event));
    assert_false(trigger_matches(&none, &event));
    event.f = F_VOTE;
    assert_false(trigger_matches(&lead, &event));
    event = (struct event){.process = PROCESS_NUMBER(PROCESS_RESOURCE, 0), .f = F_REJECT};
    assert_false(trigger_matches(&of_two, &event)); /* of nobody */
    event_set(&event, FIELD_HOLDER, PROCESS_NUMBER(PROCESS_NODE, 2));
    assert_true(trigger_matches(&of_two, &event));
    assert_int_equal(trigger_node(&event), 2);
    event_set(&event, FIELD_HOLDER, PROCESS_NUMBER(PROCESS_NODE, 1));
    assert_false(trigger_matches(&of_two, &event));
    event = (struct event){.process = PROCESS_NUMBER(PROCESS_CLIENT, 2), .f = F_EXIT};
    assert_int_equal(trigger_node(&event), 0);
}

/* ---- the engine ---- */

struct fake {
    struct engine *engine;
    struct schedule schedule;
    uint64_t now_ns;
    struct text log;
};

static void view(void *context, struct cluster_view *out)
{
    (void)context;
    *out = (struct cluster_view){.nodes = NODES, .leader = 1, .running = nodes_all(NODES)};
}

static void act(struct fake *fake, uint64_t ticket, const char *what, uint32_t node)
{
    text_add(&fake->log, "%s%u at %u; ", what, node, (unsigned)(fake->now_ns / NS_PER_MS));
    engine_done(fake->engine, ticket, true, fake->now_ns, fake->now_ns, 0, slice_of("seen"));
}

static void do_pause(void *context, uint64_t ticket, uint32_t node)
{
    act(context, ticket, "pause n", node);
}

static void do_resume(void *context, uint64_t ticket, uint32_t node)
{
    act(context, ticket, "resume n", node);
}

static void do_record(void *context, const struct event *event)
{
    struct fake *fake = context;
    struct slice parameters = event_text(event, FIELD_PARAMETERS);
    struct slice reason = event_text(event, FIELD_REASON);
    if (event->f == F_FAULT)
        text_add(&fake->log, "[%.*s%.*s] ", (int)parameters.length, parameters.at,
                 (int)reason.length, reason.at);
}

static void fake_open(struct fake *fake, const char *line)
{
    const struct nemesis_world world = {
        .context = fake, .view = view, .pause = do_pause, .resume = do_resume, .record = do_record};
    struct scheduled_fault scheduled;
    struct error error;
    *fake = (struct fake){0};
    assert_int_equal(scheduled_fault_parse(line, NODES, &scheduled, &error), 0);
    schedule_add(&fake->schedule, &scheduled);
    fake->engine = engine_new(&fake->schedule, NODES, &world);
    engine_begin(fake->engine, 0);
}

static void run_to(struct fake *fake, uint64_t ms)
{
    uint64_t next_ns;
    while ((next_ns = engine_advance(fake->engine, fake->now_ns)) <= ms * NS_PER_MS)
        fake->now_ns = next_ns;
    fake->now_ns = ms * NS_PER_MS;
}

/* The cluster does something at `ms`; says whether somebody waited for that. */
static bool tell(struct fake *fake, uint32_t node, enum event_f f, uint64_t ms)
{
    struct event event = event_of(node, f, ms);
    run_to(fake, ms);
    return engine_event(fake->engine, &event) != UINT64_MAX;
}

static void fake_close(struct fake *fake, const char *log)
{
    engine_heal(fake->engine, fake->now_ns);
    assert_true(engine_quiet(fake->engine));
    assert_string_equal(text_string(&fake->log), log);
    engine_free(fake->engine);
    schedule_release(&fake->schedule);
    text_release(&fake->log);
}

static void test_the_second_after_a_time(void **state)
{
    (void)state;
    struct fake fake;
    fake_open(&fake, "at=100ms after=lead:2+50ms fault=pause on=actor for=30ms");
    assert_false(tell(&fake, 2, F_LEAD, 50)); /* too early to count */
    assert_false(tell(&fake, 2, F_LEAD, 110));
    assert_false(tell(&fake, 3, F_VOTE, 120));
    assert_true(tell(&fake, 4, F_LEAD, 130));
    assert_false(tell(&fake, 5, F_LEAD, 140)); /* it waits only once */
    run_to(&fake, 500);
    fake_close(
        &fake,
        "pause n4 at 180; [on=n4,point=anywhere,means=signal,at=180ms,by=n4] resume n4 at 210; ");
}

static void test_right_after_the_event(void **state)
{
    (void)state;
    struct fake fake;
    fake_open(&fake, "after=vote@n3 fault=pause on=leader for=10ms");
    assert_false(tell(&fake, 2, F_VOTE, 10));
    assert_true(tell(&fake, 3, F_VOTE, 20));
    assert_true(engine_advance(fake.engine, fake.now_ns) == 20 * NS_PER_MS + 1);
    assert_int_equal(fake.log.length, 0); /* not before the event is over */
    run_to(&fake, 100);
    fake_close(&fake, "pause n1 at 20; [on=n1,point=anywhere,means=signal,at=20000001ns,by=n3] "
                      "resume n1 at 30; ");
}

static void test_news_of_the_past(void **state)
{
    (void)state;
    struct fake fake;
    struct event event = event_of(2, F_LEAD, 40);
    fake_open(&fake, "after=lead fault=pause on=actor for=50ms");
    run_to(&fake, 60);
    assert_true(engine_event(fake.engine, &event) == 40 * NS_PER_MS + 1); /* told late */
    run_to(&fake, 100);
    fake_close(&fake, "pause n2 at 60; [on=n2,point=anywhere,means=signal,at=40000001ns,by=n2] "
                      "resume n2 at 90; ");
}

static void test_what_never_happens(void **state)
{
    (void)state;
    struct fake fake;
    fake_open(&fake, "after=step-down:3 fault=pause");
    assert_false(tell(&fake, 2, F_STEP_DOWN, 10));
    run_to(&fake, 100);
    fake_close(&fake,
               "[on=random,point=anywhere,means=signalit waited for step-down:3 and heard 1] ");
}

static void test_too_late_to_begin(void **state)
{
    (void)state;
    struct fake fake;
    fake_open(&fake, "after=lead+1s fault=pause");
    assert_true(tell(&fake, 2, F_LEAD, 10));
    run_to(&fake, 100);
    fake_close(&fake, "[on=random,point=anywhere,means=signal,at=1010ms,by=n2the faults phase was "
                      "over before it began] ");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_which_events_count),
        cmocka_unit_test(test_right_after_the_event),
        cmocka_unit_test(test_the_second_after_a_time),
        cmocka_unit_test(test_news_of_the_past),
        cmocka_unit_test(test_what_never_happens),
        cmocka_unit_test(test_too_late_to_begin),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
