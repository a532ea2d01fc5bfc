/* The engine against a world that answers at once, late, badly or never, and writes down what it is
 * asked. Times in the scripts below are milliseconds. */
#include "nemesis/engine.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "tests/test.h"

#define NODES 5
#define ASKED_MAX 2048

enum manner { AT_ONCE, WHEN_TOLD, BADLY, NEVER };

struct asked {
    uint64_t ticket;
    bool counters;
};

struct fake {
    struct engine *engine;
    struct schedule schedule;
    uint64_t now_ns;
    uint32_t leader;
    node_set running, paused;
    bool stale;   /* the view still shows everybody well, led by n1 */
    bool service; /* there is one, behind the nodes */
    struct impairment link[NODES + 1][NODES + 1]; /* of nodes and service */
    struct clock_bend bend[NODES + 1];            /* by id */
    struct disk_trouble disk[NODES + 1];
    uint64_t disk_requests;
    const char *missing;   /* what the view says of wall clocks */
    uint64_t frames;       /* what counters answer */
    enum manner manner[4]; /* of kill+pause, restart+resume, links, counters */
    struct asked waiting[ASKED_MAX];
    uint32_t waiting_count;
    struct text asked; /* "kill n2; links n1>n2 cut; ..." */
    struct text events;
    uint32_t fault_events, heal_events;
    uint64_t last_event_ns;
};

enum { DOING, UNDOING, LINKS, COUNTERS };

static void answer_touched(struct fake *fake, uint64_t ticket, int kind, uint64_t touched)
{
    switch (fake->manner[kind]) {
    case AT_ONCE:
        engine_done(fake->engine, ticket, true, fake->now_ns, fake->now_ns + 5, touched,
                    slice_of("seen"));
        break;
    case WHEN_TOLD:
        assert_true(fake->waiting_count < ASKED_MAX);
        fake->waiting[fake->waiting_count++] = (struct asked){ticket, kind == COUNTERS};
        break;
    case BADLY:
        engine_done(fake->engine, ticket, false, fake->now_ns, fake->now_ns + 5, 0,
                    slice_of("refused"));
        break;
    case NEVER: break;
    }
}

static void answer(struct fake *fake, uint64_t ticket, int kind)
{
    answer_touched(fake, ticket, kind, kind == COUNTERS ? fake->frames : 0);
}

static void tell(struct fake *fake)
{
    while (fake->waiting_count) {
        struct asked first = fake->waiting[0];
        memmove(fake->waiting, fake->waiting + 1, --fake->waiting_count * sizeof first);
        engine_done(fake->engine, first.ticket, true, fake->now_ns, fake->now_ns + 5,
                    first.counters ? fake->frames : 0, slice_of("seen"));
    }
}

static void view(void *context, struct cluster_view *out)
{
    struct fake *fake = context;
    *out = (struct cluster_view){.nodes = NODES,
                                 .leader = fake->leader,
                                 .running = fake->running & nodes_all(NODES),
                                 .paused = fake->paused & nodes_all(NODES),
                                 .service = fake->service ? NODES + 1 : 0,
                                 .service_running = fake->running & node_bit(NODES + 1),
                                 .service_paused = fake->paused & node_bit(NODES + 1)};
    out->missing[FACILITY_WALL_CLOCK] = fake->missing;
}

static void do_kill(void *context, uint64_t ticket, uint32_t node)
{
    struct fake *fake = context;
    text_add(&fake->asked, "kill n%u; ", node);
    if (fake->manner[DOING] != BADLY) {
        assert_true(fake->running & node_bit(node)); /* nobody is killed twice */
        fake->running &= ~node_bit(node);
        fake->paused &= ~node_bit(node);
        fake->leader = fake->leader == node ? 0 : fake->leader;
    }
    answer(fake, ticket, DOING);
}

static void do_restart(void *context, uint64_t ticket, uint32_t node)
{
    struct fake *fake = context;
    text_add(&fake->asked, "restart n%u; ", node);
    fake->running |= node_bit(node);
    answer(fake, ticket, UNDOING);
}

static void do_pause(void *context, uint64_t ticket, uint32_t node)
{
    struct fake *fake = context;
    text_add(&fake->asked, "pause n%u; ", node);
    if (fake->manner[DOING] != BADLY) {
        assert_true(fake->running & ~fake->paused & node_bit(node));
        fake->paused |= node_bit(node);
    }
    answer(fake, ticket, DOING);
}

static void do_resume(void *context, uint64_t ticket, uint32_t node)
{
    struct fake *fake = context;
    text_add(&fake->asked, "resume n%u; ", node);
    fake->paused &= ~node_bit(node);
    answer(fake, ticket, UNDOING);
}

static void do_act(void *context, uint64_t ticket, uint32_t node, const struct act *act)
{
    struct fake *fake = context;
    char bend[CLOCK_BEND_TEXT_MAX], trouble[DISK_TROUBLE_TEXT_MAX];
    if (act_ends(act->action)) {
        do_kill(context, ticket, node);
        return;
    }
    if (act->action == ACTION_HALT) {
        do_pause(context, ticket, node);
        return;
    }
    if (act->action == ACTION_CLOCK) {
        text_add(&fake->asked, "n%u %s; ", node, clock_bend_format(&act->clock, bend));
        fake->bend[node] = act->clock;
        answer(fake, ticket, act->undo ? UNDOING : DOING);
        return;
    }
    if (act->action == ACTION_SESSION) {
        text_add(&fake->asked, "n%u %s; ", node, act->undo ? "keeps" : "is forgotten");
        answer(fake, ticket, act->undo ? UNDOING : DOING);
        return;
    }
    if (act->action == ACTION_COMMAND) {
        assert_false(act->undo);
        text_add(&fake->asked, "n%u command %d %u; ", node, (int)act->command, act->successor);
        answer(fake, ticket, DOING);
        return;
    }
    assert_int_equal(act->action, ACTION_DISK);
    text_add(&fake->asked, "n%u disk %s; ", node, disk_trouble_format(&act->disk, trouble));
    fake->disk[node] = act->disk;
    fake->disk_requests += 10; /* that showed the symptom, since the last time somebody asked */
    answer_touched(fake, ticket, act->undo ? UNDOING : DOING, fake->disk_requests);
}

static bool is_whole(const struct disk_trouble *disk)
{
    return !disk->full && !disk->stalled && !disk->error_ppm && !disk->fsync_delay_ns;
}

static bool is_true(const struct fake *fake)
{
    bool all = true;
    for (uint32_t id = 1; id <= NODES; id++)
        all = all && fake->bend[id].step_ns == 0 &&
              (fake->bend[id].rate_ppm == CLOCK_TRUE_PPM || fake->bend[id].rate_ppm == 0);
    return all;
}

static void do_links(void *context, uint64_t ticket, const struct link_change *changes,
                     uint32_t count)
{
    struct fake *fake = context;
    assert_true(count > 0);
    text_add(&fake->asked, "links");
    for (uint32_t i = 0; i < count; i++) {
        struct impairment *link = &fake->link[changes[i].from][changes[i].to];
        assert_false(impairment_equal(link, &changes[i].impairment)); /* only what changes */
        *link = changes[i].impairment;
        text_add(&fake->asked, " %u>%u", changes[i].from + 1, changes[i].to + 1);
        if (!impairment_is_clean(link))
            text_add(&fake->asked, " ");
        impairment_format(link, &fake->asked);
    }
    text_add(&fake->asked, "; ");
    answer(fake, ticket, LINKS);
}

static void do_counters(void *context, uint64_t ticket, const struct link_change *links,
                        uint32_t count)
{
    struct fake *fake = context;
    assert_true(count > 0 && links);
    answer(fake, ticket, COUNTERS);
}

static void record(void *context, const struct event *event)
{
    struct fake *fake = context;
    static const enum event_field texts[] = {FIELD_OUTCOME, FIELD_TARGETS, FIELD_PARAMETERS,
                                             FIELD_PROOF, FIELD_REASON};
    assert_int_equal(event->process, PROCESS_NUMBER(PROCESS_NEMESIS, 0));
    assert_true(event->time_ns >= fake->last_event_ns);
    assert_true(event_number(event, FIELD_BEGIN) <= event_number(event, FIELD_END));
    assert_true(event_number(event, FIELD_END) <= event->time_ns);
    fake->last_event_ns = event->time_ns;
    fake->fault_events += event->f == F_FAULT;
    fake->heal_events += event->f == F_HEAL;
    struct slice kind = event_text(event, FIELD_KIND);
    text_add(&fake->events, "%" PRIu64 "ms %s %" PRIu64 " %.*s", event->time_ns / NS_PER_MS,
             event_f_name((enum event_f)event->f), event_number(event, FIELD_ID), (int)kind.length,
             kind.at);
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        struct slice text = event_text(event, texts[i]);
        if (event_has(event, texts[i]))
            text_add(&fake->events, " %s[%.*s]", texts[i] == FIELD_PROOF ? "proof" : "",
                     (int)text.length, text.at);
    }
    if (event_has(event, FIELD_VALUE))
        text_add(&fake->events, " value=%" PRIu64, event_number(event, FIELD_VALUE));
    text_add(&fake->events, "\n");
}

static void plan(struct fake *fake, const char *const *lines)
{
    for (; *lines; lines++) {
        struct scheduled_fault scheduled;
        struct error error;
        if (scheduled_fault_parse(*lines, NODES, &scheduled, &error) < 0)
            fail_msg("%s: %s", *lines, error.text);
        schedule_add(&fake->schedule, &scheduled);
    }
}

static struct fake *fake_new(const char *const *lines)
{
    struct fake *fake = must_alloc(1, sizeof *fake);
    const struct nemesis_world world = {
        .context = fake,
        .view = view,
        .kill = do_kill,
        .restart = do_restart,
        .pause = do_pause,
        .resume = do_resume,
        .act = do_act,
        .links = do_links,
        .counters = do_counters,
        .record = record,
    };
    fake->leader = 1;
    fake->running = nodes_all(NODES);
    plan(fake, lines);
    fake->engine = engine_new(&fake->schedule, NODES, &world);
    engine_begin(fake->engine, 0);
    return fake;
}

/* On to `ms`, at every time the engine asks for. */
static void run_to(struct fake *fake, uint64_t ms)
{
    uint64_t end_ns = ms * NS_PER_MS, next;
    while ((next = engine_advance(fake->engine, fake->now_ns)) <= end_ns) {
        assert_true(next > fake->now_ns); /* the engine never asks for the same time again */
        fake->now_ns = next;
    }
    fake->now_ns = end_ns;
}

static void heal(struct fake *fake)
{
    engine_heal(fake->engine, fake->now_ns);
}

/* Everything is as it was, every fault was recorded once, every installed one healed. */
static void assert_nothing_left(const struct fake *fake)
{
    assert_true(engine_quiet(fake->engine));
    assert_true(fake->running == nodes_all(NODES + fake->service));
    assert_true(fake->paused == 0);
    assert_true(is_true(fake));
    for (uint32_t id = 1; id <= NODES; id++)
        assert_true(is_whole(&fake->disk[id]));
    for (uint32_t from = 0; from <= NODES; from++)
        for (uint32_t to = 0; to <= NODES; to++)
            assert_true(impairment_is_clean(&fake->link[from][to]));
    assert_int_equal(fake->fault_events, fake->schedule.count);
}

static void fake_free(struct fake *fake)
{
    engine_free(fake->engine);
    schedule_release(&fake->schedule);
    text_release(&fake->asked);
    text_release(&fake->events);
    free(fake);
}

#define LINES(...) ((const char *const[]){__VA_ARGS__, NULL})

static void assert_asked(struct fake *fake, const char *expected)
{
    assert_string_equal(text_string(&fake->asked), expected);
    text_clear(&fake->asked);
}

static void assert_events(struct fake *fake, const char *expected)
{
    assert_string_equal(text_string(&fake->events), expected);
    text_clear(&fake->events);
}

/* ---- one fault ---- */

static void test_kill_and_restart(void **state)
{
    (void)state;
    struct fake *fake = fake_new(LINES("at=100ms fault=kill on=leader for=300ms"));
    run_to(fake, 99);
    assert_asked(fake, "");
    run_to(fake, 399);
    assert_asked(fake, "kill n1; ");
    assert_events(fake, "100ms fault 1 kill [installed] [n1] [on=n1] proof[n1 seen]\n");
    run_to(fake, 400);
    assert_asked(fake, "restart n1; ");
    assert_events(fake, "400ms heal 1 kill [healed] proof[n1 seen] value=1\n");
    assert_true(engine_advance(fake->engine, fake->now_ns) == UINT64_MAX);
    assert_nothing_left(fake);
    fake_free(fake);
}

static void test_cut_and_heal(void **state)
{
    (void)state;
    struct fake *fake = fake_new(LINES("at=10ms fault=single-link on=n2+n4 for=50ms"));
    fake->frames = 1000;
    run_to(fake, 20);
    fake->frames = 1312;
    run_to(fake, 60);
    assert_asked(fake, "links 4>2 cut 2>4 cut; links 2>4 4>2; ");
    assert_events(fake, "10ms fault 1 single-link [installed] [n4>n2,n2>n4] [on=n2+n4,cut] "
                        "proof[links seen]\n"
                        "60ms heal 1 single-link [healed] proof[dropped 312 frames] value=312\n");
    assert_nothing_left(fake);
    fake_free(fake);
}

static void test_parameters_show_the_strength(void **state)
{
    (void)state;
    struct fake *fake = fake_new(LINES("at=0 fault=reorder on=n1 reorder=10% delay=30ms links=node "
                                       "direction=out for=1s",
                                       "at=5ms fault=flapping on=n2 period=100ms for=1s",
                                       "at=2s fault=halves on=n1+n2 for=1s"));
    run_to(fake, 4000);
    assert_non_null(strstr(text_string(&fake->events),
                           "[on=n1,reorder=10%,delay=30ms,links=node,direction=out]"));
    assert_non_null(strstr(text_string(&fake->events), "[on=n2,cut,period=100ms]"));
    assert_non_null(strstr(text_string(&fake->events), "[on=n1+n2,cut]"));
    assert_non_null(strstr(text_string(&fake->events), "proof[reordered 0 frames] value=0"));
    assert_nothing_left(fake);
    fake_free(fake);
}

static void test_flapping(void **state)
{
    (void)state;
    struct fake *fake = fake_new(LINES("at=0 fault=flapping on=n1 period=20ms for=45ms"));
    const char *on = "links 1>2 cut 1>3 cut 1>4 cut 1>5 cut 2>1 cut 3>1 cut 4>1 cut 5>1 cut; ";
    const char *off = "links 5>1 4>1 3>1 2>1 1>5 1>4 1>3 1>2; ";
    run_to(fake, 9);
    assert_asked(fake, on);
    run_to(fake, 19);
    assert_asked(fake, off);
    run_to(fake, 29);
    assert_int_equal(strncmp(text_string(&fake->asked), "links 1>2 cut", 13), 0);
    text_clear(&fake->asked);
    run_to(fake, 39);
    run_to(fake, 44);
    text_clear(&fake->asked);
    run_to(fake, 100);
    assert_int_equal(strncmp(text_string(&fake->asked), "links", 5), 0);
    assert_int_equal(fake->fault_events, 1);
    assert_int_equal(fake->heal_events, 1);
    assert_nothing_left(fake);
    fake_free(fake);
}

/* ---- overlaps ---- */

static void test_two_kills_of_one_node(void **state)
{
    (void)state;
    struct fake *fake = fake_new(
        LINES("at=0 fault=kill on=n2 for=100ms", "at=50ms fault=kill on=n2 for=100ms",
              "at=50ms fault=kill on=n2+n3 for=100ms", "at=60ms fault=pause on=n2 for=10ms"));
    run_to(fake, 50);
    assert_asked(fake, "kill n2; kill n3; ");
    run_to(fake, 1000);
    assert_asked(fake, "restart n2; restart n3; ");
    assert_non_null(strstr(text_string(&fake->events),
                           "50ms fault 2 kill [skipped] [on=n2] [the target is not running]"));
    assert_non_null(strstr(text_string(&fake->events), "fault 3 kill [installed] [n3] [on=n3]"));
    assert_non_null(strstr(text_string(&fake->events), "fault 4 pause [skipped]"));
    assert_nothing_left(fake);
    fake_free(fake);
}

static void test_kill_while_paused(void **state)
{
    (void)state;
    struct fake *fake =
        fake_new(LINES("at=0 fault=pause on=n2 for=100ms", "at=50ms fault=kill on=n2 for=100ms"));
    run_to(fake, 1000);
    assert_asked(fake, "pause n2; kill n2; restart n2; "); /* and no resume of the dead */
    assert_events(fake, "0ms fault 1 pause [installed] [n2] [on=n2,point=anywhere] proof[n2 seen]\n"
                        "50ms fault 2 kill [installed] [n2] [on=n2] proof[n2 seen]\n"
                        "100ms heal 1 pause [healed] proof[nothing was left to undo] value=1\n"
                        "150ms heal 2 kill [healed] proof[n2 seen] value=1\n");
    assert_nothing_left(fake);
    fake_free(fake);
}

static void test_pause_twice_and_pause_all(void **state)
{
    (void)state;
    struct fake *fake = fake_new(LINES(
        "at=0 fault=pause on=n2 for=300ms", "at=50ms fault=pause on=n2 for=100ms",
        "at=60ms fault=pause on=all for=100ms", "at=70ms fault=pause on=n1+n2+n3+n4+n5 for=100ms"));
    run_to(fake, 100);
    assert_asked(fake, "pause n2; pause n1; pause n3; pause n4; pause n5; ");
    run_to(fake, 1000);
    assert_asked(fake, "resume n1; resume n3; resume n4; resume n5; resume n2; ");
    assert_non_null(strstr(text_string(&fake->events),
                           "fault 2 pause [skipped] [on=n2,point=anywhere] "
                           "[the target is already paused]"));
    assert_non_null(strstr(text_string(&fake->events), "fault 4 pause [skipped]"));
    assert_nothing_left(fake);
    fake_free(fake);
}

static void test_cut_and_loss_on_one_link(void **state)
{
    (void)state;
    struct fake *fake =
        fake_new(LINES("at=0 fault=loss on=n1+n2 links=one loss=20% direction=both for=300ms",
                       "at=100ms fault=single-link on=n1+n2 for=100ms",
                       "at=120ms fault=single-link on=n1+n2 for=50ms"));
    run_to(fake, 99);
    assert_non_null(strstr(text_string(&fake->asked), "loss=20%"));
    text_clear(&fake->asked);
    run_to(fake, 199); /* the second cut neither adds nor, when it ends, takes anything */
    assert_non_null(strstr(text_string(&fake->asked), "1>2 cut,loss=20%"));
    assert_null(strstr(text_string(&fake->asked) + 10, "links"));
    text_clear(&fake->asked);
    assert_non_null(
        strstr(text_string(&fake->events), "proof[another fault does the same to these links]"));
    run_to(fake, 200);
    assert_non_null(strstr(text_string(&fake->asked), "1>2 loss=20%"));
    assert_null(strstr(text_string(&fake->asked), "cut"));
    run_to(fake, 1000);
    assert_nothing_left(fake);
    fake_free(fake);
}

static void test_end_comes_before_a_begin_at_the_same_time(void **state)
{
    (void)state;
    struct fake *fake =
        fake_new(LINES("at=0 fault=kill on=n2 for=100ms", "at=100ms fault=kill on=n2 for=100ms"));
    run_to(fake, 1000);
    assert_asked(fake, "kill n2; restart n2; kill n2; restart n2; ");
    assert_nothing_left(fake);
    fake_free(fake);
}

/* ---- targets that are not there ---- */

static void test_waits_for_a_leader(void **state)
{
    (void)state;
    struct fake *fake = fake_new(LINES("at=100ms fault=isolate-leader for=400ms"));
    fake->leader = 0;
    run_to(fake, 200);
    assert_asked(fake, "");
    fake->leader = 3;
    run_to(fake, 250);
    assert_non_null(strstr(text_string(&fake->asked), "1>3 cut"));
    assert_non_null(strstr(text_string(&fake->events), "[on=n3,cut]"));
    run_to(fake, 499);
    assert_int_equal(fake->heal_events, 0);
    run_to(fake, 500); /* the end stays where it was planned */
    assert_int_equal(fake->heal_events, 1);
    assert_nothing_left(fake);
    fake_free(fake);
}

static void test_a_late_start_moves_the_end(void **state)
{
    (void)state;
    struct fake *fake = fake_new(LINES("at=100ms fault=isolate-leader for=400ms"));
    fake->leader = 0;
    run_to(fake, 400);
    fake->leader = 3;
    run_to(fake, 609);
    assert_int_equal(fake->heal_events, 0);
    run_to(fake, 610); /* seen at 410, half of its duration */
    assert_int_equal(fake->heal_events, 1);
    assert_nothing_left(fake);
    fake_free(fake);
}

static void test_waits_until_the_heal(void **state)
{
    (void)state;
    struct fake *fake = fake_new(LINES("at=100ms fault=isolate-leader for=400ms"));
    fake->leader = 0;
    run_to(fake, 1000);
    assert_events(fake, "");
    heal(fake);
    assert_events(
        fake, "1000ms fault 1 isolate-leader [skipped] [on=leader,cut=hard] [the faults phase was "
              "over before it began: no leader is known]\n");
    assert_nothing_left(fake);
    fake_free(fake);
}

static void test_the_killed_leader_is_no_target(void **state)
{
    (void)state;
    struct fake *fake = fake_new(
        LINES("at=0 fault=kill on=n1 for=900ms", "at=10ms fault=pause on=leader for=100ms"));
    fake->manner[DOING] = WHEN_TOLD;
    fake->stale = true;
    run_to(fake, 500);
    assert_asked(fake, "kill n1; ");
    tell(fake);
    heal(fake);
    assert_non_null(strstr(text_string(&fake->events), "fault 2 pause [skipped]"));
    run_to(fake, 1000);
    fake_free(fake);
}

/* Loss on links that are cut would be no loss: a role waits for the cut to end, named nodes are
 * meant as they are. */
static void test_waits_for_links_that_are_cut(void **state)
{
    (void)state;
    struct fake *fake = fake_new(LINES("at=0 fault=isolate-one on=n1 for=100ms",
                                       "at=10ms fault=loss on=leader for=200ms",
                                       "at=20ms fault=isolate-leader on=leader for=50ms",
                                       "at=30ms fault=isolate-one on=n1 for=200ms"));
    run_to(fake, 229);
    const char *events = text_string(&fake->events);
    assert_non_null(strstr(events, "30ms fault 4 isolate-one [installed]"));
    assert_null(strstr(events, "fault 2 loss"));
    assert_null(strstr(events, "fault 3 isolate-leader"));
    run_to(fake, 1000);
    events = text_string(&fake->events);
    assert_non_null(strstr(events, "230ms fault 2 loss [installed]"));
    assert_non_null(strstr(events, "330ms heal 2 loss"));
    assert_nothing_left(fake);
    fake_free(fake);
}

static void test_a_role_waits_for_somebody_to_hit(void **state)
{
    (void)state;
    struct fake *fake = fake_new(
        LINES("at=0 fault=pause on=n1 for=100ms", "at=10ms fault=pause on=leader for=200ms"));
    run_to(fake, 99);
    assert_asked(fake, "pause n1; ");
    run_to(fake, 209);
    assert_asked(fake, "resume n1; pause n1; ");
    run_to(fake, 1000);
    assert_nothing_left(fake);
    fake_free(fake);
}

/* ---- answers late, bad or never ---- */

static void test_an_answer_after_the_end(void **state)
{
    (void)state;
    struct fake *fake = fake_new(LINES("at=0 fault=pause on=n2 for=100ms"));
    fake->manner[DOING] = WHEN_TOLD;
    run_to(fake, 500);
    assert_asked(fake, "pause n2; ");
    assert_events(fake, "");
    tell(fake);
    run_to(fake, 500);
    assert_asked(fake, "resume n2; ");
    assert_events(fake,
                  "500ms fault 1 pause [installed] [n2] [on=n2,point=anywhere] proof[n2 seen]\n"
                  "500ms heal 1 pause [healed] proof[n2 seen] value=1\n");
    assert_nothing_left(fake);
    fake_free(fake);
}

static void test_refused(void **state)
{
    (void)state;
    struct fake *fake = fake_new(
        LINES("at=0 fault=kill on=n2+n3 for=100ms", "at=10ms fault=halves on=n1+n2 for=100ms"));
    fake->manner[DOING] = BADLY;
    run_to(fake, 5);
    assert_asked(fake, "kill n2; kill n3; "); /* what was refused is not undone */
    assert_events(fake, "0ms fault 1 kill [failed] [on=n2+n3] [n2 refused; n3 refused]\n");
    fake->manner[LINKS] = BADLY;
    run_to(fake, 20); /* links may be half done: they are cleaned */
    assert_non_null(strstr(text_string(&fake->asked), "1>3 cut"));
    assert_events(fake, "10ms fault 2 halves [failed] [n1>n3,n3>n1,n1>n4,n4>n1,n1>n5,n5>n1,n2>n3,"
                        "n3>n2,n2>n4,n4>n2,n2>n5,n5>n2] [on=n1+n2,cut] [links refused]\n");
    run_to(fake, 1000);
    assert_int_equal(fake->heal_events, 0);
    assert_nothing_left(fake);
    fake_free(fake);
}

static void test_a_failed_undo_is_recorded(void **state)
{
    (void)state;
    struct fake *fake = fake_new(
        LINES("at=0 fault=kill on=n2 for=100ms", "at=0 fault=single-link on=n3+n4 for=200ms"));
    run_to(fake, 50);
    text_clear(&fake->events);
    fake->manner[UNDOING] = BADLY;
    fake->manner[LINKS] = BADLY;
    run_to(fake, 1000);
    assert_events(fake, "100ms heal 1 kill [failed] [n2 refused] value=1\n"
                        "200ms heal 2 single-link [failed] [links refused] value=0\n");
    assert_true(engine_quiet(fake->engine));
    fake_free(fake);
}

static void test_never_answered(void **state)
{
    (void)state;
    struct fake *fake = fake_new(
        LINES("at=0 fault=pause on=n2 for=100ms", "at=0 fault=single-link on=n3+n4 for=100ms"));
    struct text pending = {0};
    fake->manner[DOING] = fake->manner[LINKS] = NEVER;
    run_to(fake, 200);
    heal(fake);
    assert_false(engine_quiet(fake->engine));
    engine_pending(fake->engine, &pending);
    assert_string_equal(text_string(&pending),
                        "pause n2 (pause, fault 1), links (single-link, fault 2)");
    run_to(fake, 4999);
    assert_false(engine_quiet(fake->engine));
    text_clear(&fake->asked);
    fake->manner[LINKS] = AT_ONCE;
    run_to(fake, 5000);
    assert_true(engine_quiet(fake->engine));
    /* It may have happened all the same, so it is undone. */
    assert_asked(fake, "resume n2; links 3>4 4>3; ");
    assert_events(fake, "5000ms fault 1 pause [failed] [on=n2,point=anywhere] [n2 gave no answer]\n"
                        "5000ms fault 2 single-link [failed] [n4>n3,n3>n4] [on=n3+n4,cut] "
                        "[links gave no answer]\n");
    text_clear(&pending);
    engine_pending(fake->engine, &pending);
    assert_string_equal(text_string(&pending), "");
    text_release(&pending);
    fake_free(fake);
}

static void test_heal_is_never_answered(void **state)
{
    (void)state;
    struct fake *fake = fake_new(LINES("at=0 fault=kill on=n2 for=100ms"));
    run_to(fake, 50);
    fake->manner[UNDOING] = NEVER;
    run_to(fake, 10000);
    assert_true(engine_quiet(fake->engine));
    assert_non_null(strstr(text_string(&fake->events), "heal 1 kill [failed] [n2 gave no answer]"));
    engine_done(fake->engine, 2, true, 0, 0, 0, slice_of("much too late"));
    engine_done(fake->engine, 999, true, 0, 0, 0, slice_of("whose?"));
    assert_int_equal(fake->heal_events, 1);
    fake_free(fake);
}

static void test_counters_that_fail_or_restart(void **state)
{
    (void)state;
    struct fake *fake = fake_new(LINES("at=0 fault=single-link on=n3+n4 for=100ms",
                                       "at=200ms fault=single-link on=n3+n4 for=100ms"));
    fake->frames = 500;
    run_to(fake, 50);
    fake->frames = 30; /* less than before: the helper that counts was replaced */
    run_to(fake, 150);
    assert_non_null(
        strstr(text_string(&fake->events), "[healed] proof[dropped 30 frames] value=30"));
    fake->manner[COUNTERS] = BADLY;
    text_clear(&fake->events);
    run_to(fake, 400);
    assert_non_null(strstr(text_string(&fake->events), "fault 2 single-link [installed]"));
    assert_non_null(strstr(text_string(&fake->events), "counters refused"));
    assert_non_null(strstr(text_string(&fake->events), "value=0"));
    assert_nothing_left(fake);
    fake_free(fake);
}

/* ---- processes ---- */

static void test_a_crash_loop_kills_again_and_ends_alive(void **state)
{
    (void)state;
    struct fake *fake = fake_new(LINES("at=0 fault=crash-loop on=n2 for=340ms period=200ms",
                                       "at=150ms fault=pause on=n2 for=10ms"));
    run_to(fake, 500);
    assert_string_equal(text_string(&fake->asked),
                        "kill n2; restart n2; kill n2; restart n2; restart n2; ");
    assert_int_equal(fake->fault_events, 2);
    assert_non_null(strstr(text_string(&fake->events), "fault 2 pause [skipped]"));
    assert_non_null(strstr(text_string(&fake->events), "heal 1 crash-loop [healed]"));
    assert_nothing_left(fake);
    fake_free(fake);
}

/* A process that has not come up yet is not killed before it has. */
static void test_a_crash_loop_waits_for_its_process(void **state)
{
    (void)state;
    struct fake *fake = fake_new(LINES("at=0 fault=crash-loop on=n2 for=800ms period=200ms"));
    run_to(fake, 50);
    fake->manner[UNDOING] = WHEN_TOLD;
    run_to(fake, 350);
    assert_string_equal(text_string(&fake->asked), "kill n2; restart n2; ");
    tell(fake);
    run_to(fake, 450);
    assert_string_equal(text_string(&fake->asked), "kill n2; restart n2; kill n2; ");
    fake->manner[UNDOING] = AT_ONCE;
    run_to(fake, 1000);
    assert_nothing_left(fake);
    fake_free(fake);
}

/* Whether by a signal or at a point of its own code: dead is dead, and undone by a restart. */
static void test_other_ways_to_die_and_to_stand_still(void **state)
{
    (void)state;
    struct fake *fake = fake_new(LINES(
        "at=0 fault=term-stop on=n2 for=100ms", "at=10ms fault=kill-during-write on=n3 for=100ms",
        "at=20ms fault=pause on=leader point=before-write for=100ms",
        "at=30ms fault=kill on=n2 for=100ms", "at=40ms fault=kill on=n1 for=10ms"));
    run_to(fake, 500);
    assert_string_equal(
        text_string(&fake->asked),
        "kill n2; kill n3; pause n1; kill n1; restart n1; restart n2; restart n3; ");
    assert_non_null(strstr(text_string(&fake->events), "fault 4 kill [skipped]"));
    assert_nothing_left(fake);
    fake_free(fake);
}

/* ---- clocks ---- */

static void test_clock_faults_add_up(void **state)
{
    (void)state;
    struct fake *fake = fake_new(LINES("at=0 fault=clock-step on=n2 for=100ms step=5s",
                                       "at=10ms fault=clock-rate on=n2 for=50ms drift=50%",
                                       "at=20ms fault=clock-step on=n2 for=20ms step=1s "
                                       "direction=back"));
    run_to(fake, 200);
    assert_string_equal(text_string(&fake->asked),
                        "n2 wall +5.000000 s, rate 1.000000; n2 wall +5.000000 s, rate 1.500000; "
                        "n2 wall +4.000000 s, rate 1.500000; n2 wall +5.000000 s, rate 1.500000; "
                        "n2 wall +5.000000 s, rate 1.000000; n2 wall +0.000000 s, rate 1.000000; ");
    assert_non_null(strstr(text_string(&fake->events), "heal 1 clock-step [healed]"));
    assert_non_null(strstr(text_string(&fake->events), "value=1"));
    assert_nothing_left(fake);
    fake_free(fake);
}

static void test_a_strobe_goes_both_ways(void **state)
{
    (void)state;
    struct fake *fake =
        fake_new(LINES("at=0 fault=clock-strobe on=n1 for=70ms step=1s period=40ms"));
    run_to(fake, 200);
    assert_string_equal(text_string(&fake->asked),
                        "n1 wall +1.000000 s, rate 1.000000; n1 wall -1.000000 s, rate 1.000000; "
                        "n1 wall +1.000000 s, rate 1.000000; n1 wall -1.000000 s, rate 1.000000; "
                        "n1 wall +0.000000 s, rate 1.000000; ");
    assert_int_equal(fake->fault_events, 1); /* however often it jumped */
    assert_nothing_left(fake);
    fake_free(fake);
}

/* A clock that reads wrong is wrong: it is set right although the fault failed, and the machine's
 * clock is bent whether its process lives or not. */
static void test_a_clock_is_set_right_in_any_case(void **state)
{
    (void)state;
    struct fake *fake = fake_new(LINES("at=0 fault=clock-step on=n2 for=1s",
                                       "at=100ms fault=clock-step on=n3 for=1s",
                                       "at=200ms fault=kill on=n3 for=100ms"));
    fake->manner[DOING] = BADLY;
    run_to(fake, 50);
    assert_non_null(strstr(text_string(&fake->events), "fault 1 clock-step [failed]"));
    assert_true(is_true(fake));
    fake->manner[DOING] = AT_ONCE;
    run_to(fake, 400);
    assert_true(fake->bend[3].step_ns != 0);
    run_to(fake, 2000);
    assert_nothing_left(fake);
    fake_free(fake);
}

/* What the world never has is not waited for. */
static void test_a_missing_facility_is_no_reason_to_wait(void **state)
{
    (void)state;
    struct fake *fake = fake_new(LINES("at=0 fault=clock-step on=leader for=1s"));
    fake->missing = "no such library";
    run_to(fake, 1);
    assert_non_null(strstr(text_string(&fake->events), "[skipped] [on=leader"));
    assert_non_null(strstr(text_string(&fake->events), "[no such library]"));
    fake_free(fake);
}

/* ---- disks ---- */

static void test_disk_troubles_add_up(void **state)
{
    (void)state;
    struct fake *fake =
        fake_new(LINES("at=0 fault=slow-fsync on=n2 for=100ms delay=50ms cut-leader=off",
                       "at=10ms fault=slow-fsync on=n2 for=20ms delay=20ms cut-leader=off",
                       "at=20ms fault=disk-full on=n2 for=50ms room=7 cut-leader=off",
                       "at=40ms fault=disk-full on=n2 for=10ms cut-leader=off",
                       "at=60ms fault=disk-stall on=n3 for=10ms cut-leader=off"));
    run_to(fake, 200);
    assert_string_equal(text_string(&fake->asked),
                        "n2 disk fsync +50ms; n2 disk fsync +70ms; n2 disk fsync +70ms, room 7; "
                        "n2 disk fsync +50ms, room 7; n2 disk fsync +50ms, room 0; "
                        "n2 disk fsync +50ms, room 7; n3 disk stalled; n2 disk fsync +50ms; "
                        "n3 disk whole; n2 disk whole; ");
    assert_nothing_left(fake);
    fake_free(fake);
}

/* What the heal says is what the disk counted from the one answer to the other. */
static void test_disk_requests_are_counted(void **state)
{
    (void)state;
    struct fake *fake = fake_new(LINES("at=0 fault=io-error on=n2 for=50ms cut-leader=off"));
    fake->disk_requests = 1000;
    run_to(fake, 200);
    assert_non_null(strstr(text_string(&fake->events), "heal 1 io-error [healed]"));
    assert_non_null(strstr(text_string(&fake->events), "value=10"));
    assert_nothing_left(fake);
    fake_free(fake);
}

/* The leader is out of the way while the others have votes to keep, and is back afterwards. */
static void test_a_disk_fault_brings_an_election(void **state)
{
    (void)state;
    struct fake *fake = fake_new(LINES("at=0 fault=disk-stall on=n2 for=50ms"));
    fake->leader = 4;
    run_to(fake, 20);
    assert_true(fake->link[3][0].cut && fake->link[0][3].cut);
    assert_false(fake->link[0][1].cut);
    run_to(fake, 200);
    assert_nothing_left(fake);
    fake_free(fake);
}

/* The process is owed its restart, as after a kill. */
static void test_power_comes_back(void **state)
{
    (void)state;
    struct fake *fake = fake_new(
        LINES("at=0 fault=power-loss on=n2 for=50ms", "at=60ms fault=disk-wipe on=n3 for=50ms"));
    run_to(fake, 200);
    assert_string_equal(text_string(&fake->asked), "kill n2; restart n2; kill n3; restart n3; ");
    assert_nothing_left(fake);
    fake_free(fake);
}

/* ---- operators ---- */

static void test_an_operators_word_is_said_once(void **state)
{
    (void)state;
    struct fake *fake =
        fake_new(LINES("at=0 fault=resign for=100ms", "at=10ms fault=force-leader on=n3 for=100ms",
                       "at=20ms fault=transfer on=leader successor=best for=100ms",
                       "at=30ms fault=resign on=n2 for=100ms"));
    run_to(fake, 500);
    assert_string_equal(text_string(&fake->asked),
                        "n1 command 0 0; n3 command 2 0; n1 command 1 0; ");
    assert_non_null(strstr(text_string(&fake->events), "heal 2 force-leader [healed]"));
    assert_non_null(strstr(text_string(&fake->events), "nothing was left to undo"));
    assert_non_null(strstr(text_string(&fake->events), "[only a leader that runs can resign]"));
    assert_nothing_left(fake);
    fake_free(fake);
}

/* ---- the heal ---- */

static void test_heal_stops_everything(void **state)
{
    (void)state;
    struct fake *fake = fake_new(LINES(
        "at=0 fault=kill on=n1", "at=1ms fault=pause on=n2 for=10s", "at=2ms fault=halves for=10s",
        "at=3ms fault=loss on=n3 for=10s", "at=4ms fault=flapping on=n4 for=10s period=10ms",
        "at=5ms fault=pause on=candidate for=10s", "at=50ms fault=kill on=n5 for=1s"));
    run_to(fake, 40);
    struct text active = {0};
    engine_active(fake->engine, &active);
    assert_non_null(strstr(text_string(&active), "kill(n1) pause(n2) halves("));
    text_release(&active);
    heal(fake);
    heal(fake);
    run_to(fake, 20000);
    heal(fake);
    assert_int_equal(fake->heal_events, 5);
    assert_non_null(
        strstr(text_string(&fake->events),
               "fault 6 pause [skipped] [on=candidate,point=anywhere] [the faults phase was over "
               "before it began: no node is a candidate]"));
    assert_non_null(strstr(text_string(&fake->events), "fault 7 kill [skipped]"));
    assert_nothing_left(fake);
    fake_free(fake);
}

static void test_heal_with_late_answers(void **state)
{
    (void)state;
    struct fake *fake = fake_new(
        LINES("at=0 fault=pause on=n2+n3 for=10s", "at=1ms fault=halves on=n1+n2 for=10s"));
    for (int i = 0; i < 4; i++)
        fake->manner[i] = WHEN_TOLD;
    run_to(fake, 10);
    heal(fake);
    assert_false(engine_quiet(fake->engine));
    for (int i = 0; i < 3; i++)
        tell(fake);
    assert_int_equal(fake->heal_events, 2);
    assert_nothing_left(fake);
    fake_free(fake);
}

/* ---- whatever the schedule, whatever the manners ---- */

static void change_world(struct fake *fake, struct random *random)
{
    uint32_t leader = (uint32_t)random_below(random, NODES + 1);
    fake->leader = leader && (fake->running & node_bit(leader)) ? leader : 0;
    for (int i = 0; i < 4; i++)
        fake->manner[i] =
            random_chance(random, 700000) ? AT_ONCE : (enum manner)random_below(random, 4);
    fake->frames += random_below(random, 100);
    if (random_chance(random, 400000))
        tell(fake);
}

/* --- the coordination service --- */

static void add_service(struct fake *fake)
{
    fake->service = true;
    fake->running |= node_bit(NODES + 1);
}

/* Asked for by the id behind the nodes, recorded by its own name. */
static void test_the_service_is_one_more_process(void **state)
{
    (void)state;
    static const char *const lines[] = {
        "at=100ms fault=service-kill for=200ms",
        "at=150ms fault=service-pause on=any for=100ms",
        "at=400ms fault=service-session-drop on=n2 for=10ms",
        "at=500ms fault=degraded-service for=100ms delay=70ms",
        NULL,
    };
    struct fake *fake = fake_new(lines);
    add_service(fake);
    run_to(fake, 1000);
    const char *asked = text_string(&fake->asked), *events = text_string(&fake->events);
    assert_non_null(strstr(asked, "kill n6; restart n6; "));
    assert_non_null(strstr(asked, "n2 is forgotten; n2 keeps; "));
    assert_non_null(strstr(asked, "links 1>6 delay=70ms 6>1 delay=70ms 2>6"));
    assert_non_null(strstr(events, "service-kill [installed] [coordinator] [on=any]"));
    assert_non_null(strstr(events, "service-session-drop [installed] [n2] [on=n2]"));
    assert_non_null(strstr(events, "[n1>coordinator,coordinator>n1,"));
    fake_free(fake);
}

static void test_any_schedule(void **state)
{
    (void)state;
    static const char *const nothing[] = {NULL};
    for (uint64_t seed = 0; seed < 150; seed++) {
        struct fake *fake = fake_new(nothing);
        add_service(fake);
        struct plan_request request = {.seed = seed,
                                       .nodes = NODES,
                                       .kinds = faults,
                                       .every_ns = 200 * NS_PER_MS,
                                       .length_ns = 20 * NS_PER_S,
                                       .election_timeout_ns = 300 * NS_PER_MS};
        struct random random;
        while (faults[request.kind_count])
            request.kind_count++;
        plan_random(&request, &fake->schedule);
        random_init(&random, seed, "test", 0);
        for (uint64_t ms = 0; ms < 20000; ms += 100) {
            run_to(fake, ms);
            change_world(fake, &random);
        }
        heal(fake);
        for (int i = 0; i < 4; i++)
            fake->manner[i] = AT_ONCE;
        for (uint64_t ms = 20000; ms < 40000; ms += 1000) {
            tell(fake);
            run_to(fake, ms);
        }
        assert_true(engine_quiet(fake->engine));
        assert_int_equal(fake->fault_events, fake->schedule.count);
        assert_true(fake->running == nodes_all(NODES + 1) && fake->paused == 0 && is_true(fake));
        for (uint32_t from = 0; from <= NODES; from++)
            for (uint32_t to = 0; to <= NODES; to++)
                assert_true(impairment_is_clean(&fake->link[from][to]));
        fake_free(fake);
    }
}

/* With a world that always answers, what a plan draws nearly always takes effect. */
static void test_plans_land(void **state)
{
    (void)state;
    static const char *const nothing[] = {NULL};
    uint32_t skipped = 0, all = 0;
    for (uint64_t seed = 0; seed < 100; seed++) {
        struct fake *fake = fake_new(nothing);
        add_service(fake);
        struct plan_request request = {.seed = seed,
                                       .nodes = NODES,
                                       .kinds = faults,
                                       .every_ns = 3 * NS_PER_S,
                                       .length_ns = 30 * NS_PER_S,
                                       .election_timeout_ns = 300 * NS_PER_MS};
        while (faults[request.kind_count])
            request.kind_count++;
        plan_random(&request, &fake->schedule);
        for (uint64_t ms = 0; ms <= 30000; ms += 100) {
            run_to(fake, ms);
            if (!fake->leader && nodes_count(fake->running & ~fake->paused) > NODES / 2)
                fake->leader = nodes_first(fake->running & ~fake->paused);
        }
        assert_true(fake->fault_events + 2 >= fake->schedule.count); /* others wait for a leader */
        heal(fake);
        assert_nothing_left(fake);
        for (const char *at = text_string(&fake->events); (at = strstr(at, "[skipped]")); at++)
            skipped++;
        all += fake->schedule.count;
        fake_free(fake);
    }
    assert_true(skipped * 20 < all);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_kill_and_restart),
        cmocka_unit_test(test_cut_and_heal),
        cmocka_unit_test(test_parameters_show_the_strength),
        cmocka_unit_test(test_flapping),
        cmocka_unit_test(test_two_kills_of_one_node),
        cmocka_unit_test(test_kill_while_paused),
        cmocka_unit_test(test_pause_twice_and_pause_all),
        cmocka_unit_test(test_cut_and_loss_on_one_link),
        cmocka_unit_test(test_end_comes_before_a_begin_at_the_same_time),
        cmocka_unit_test(test_waits_for_a_leader),
        cmocka_unit_test(test_a_late_start_moves_the_end),
        cmocka_unit_test(test_waits_for_links_that_are_cut),
        cmocka_unit_test(test_a_role_waits_for_somebody_to_hit),
        cmocka_unit_test(test_waits_until_the_heal),
        cmocka_unit_test(test_the_killed_leader_is_no_target),
        cmocka_unit_test(test_an_answer_after_the_end),
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_a_failed_undo_is_recorded),
        cmocka_unit_test(test_never_answered),
        cmocka_unit_test(test_heal_is_never_answered),
        cmocka_unit_test(test_counters_that_fail_or_restart),
        cmocka_unit_test(test_a_crash_loop_kills_again_and_ends_alive),
        cmocka_unit_test(test_a_crash_loop_waits_for_its_process),
        cmocka_unit_test(test_other_ways_to_die_and_to_stand_still),
        cmocka_unit_test(test_clock_faults_add_up),
        cmocka_unit_test(test_a_strobe_goes_both_ways),
        cmocka_unit_test(test_a_clock_is_set_right_in_any_case),
        cmocka_unit_test(test_disk_troubles_add_up),
        cmocka_unit_test(test_disk_requests_are_counted),
        cmocka_unit_test(test_a_disk_fault_brings_an_election),
        cmocka_unit_test(test_power_comes_back),
        cmocka_unit_test(test_a_missing_facility_is_no_reason_to_wait),
        cmocka_unit_test(test_an_operators_word_is_said_once),
        cmocka_unit_test(test_heal_stops_everything),
        cmocka_unit_test(test_heal_with_late_answers),
        cmocka_unit_test(test_the_service_is_one_more_process),
        cmocka_unit_test(test_any_schedule),
        cmocka_unit_test(test_plans_land),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
