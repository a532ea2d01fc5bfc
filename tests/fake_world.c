#include "tests/fake_world.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "nemesis/message.h"
#include "tests/test.h"

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

void fake_tell(struct fake *fake)
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

/* Senders by their bits, "n2 messages of 0x11, fault 3". While the fault lasts one message comes.
 */
static void meet_messages(struct fake *fake, uint64_t ticket, uint32_t node, const struct act *act)
{
    struct event event = {.process = node, .f = F_MESSAGE};
    text_add(&fake->asked, "n%u messages of 0x%" PRIx64 ", %s fault %" PRIu64 "; ", node,
             act->message.from, act->undo ? "not" : "by", act->message.fault);
    event_set(&event, FIELD_ID, act->message.fault);
    event_set_text(&event, FIELD_OUTCOME, slice_of(message_outcome(act->message.deed)));
    if (!act->undo)
        (void)engine_event(fake->engine, &event);
    answer(fake, ticket, act->undo ? UNDOING : DOING);
}

static void do_act(void *context, uint64_t ticket, uint32_t node, const struct act *act)
{
    struct fake *fake = context;
    char bend[CLOCK_BEND_TEXT_MAX], trouble[DISK_TROUBLE_TEXT_MAX];
    if (act_ends(act->action)) {
        do_kill(context, ticket, node);
        return;
    }
    if (act->action == ACTION_HALT || act->action == ACTION_FREEZE) {
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
    if (act->action == ACTION_MESSAGES) {
        meet_messages(fake, ticket, node, act);
        return;
    }
    if (act->action == ACTION_TWIN) {
        text_add(&fake->asked, "n%u %s; ", node, act->undo ? "is alone" : "has a twin");
        if (act->undo)
            fake->twins &= ~node_bit(node);
        else if (fake->manner[DOING] != BADLY)
            fake->twins |= node_bit(node);
        answer(fake, ticket, act->undo ? UNDOING : DOING);
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

bool fake_is_true(const struct fake *fake)
{
    bool all = fake->twins == 0;
    for (uint32_t id = 1; id <= NODES + 1; id++)
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

struct fake *fake_new(const char *const *lines)
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

void fake_run_to(struct fake *fake, uint64_t ms)
{
    uint64_t end_ns = ms * NS_PER_MS, next;
    while ((next = engine_advance(fake->engine, fake->now_ns)) <= end_ns) {
        assert_true(next > fake->now_ns); /* the engine never asks for the same time again */
        fake->now_ns = next;
    }
    fake->now_ns = end_ns;
}

void fake_heal(struct fake *fake)
{
    engine_heal(fake->engine, fake->now_ns);
}

void fake_assert_nothing_left(const struct fake *fake)
{
    assert_true(engine_quiet(fake->engine));
    assert_true(fake->running == nodes_all(NODES + fake->service));
    assert_true(fake->paused == 0);
    assert_true(fake_is_true(fake));
    for (uint32_t id = 1; id <= NODES; id++)
        assert_true(is_whole(&fake->disk[id]));
    for (uint32_t from = 0; from <= NODES; from++)
        for (uint32_t to = 0; to <= NODES; to++)
            assert_true(impairment_is_clean(&fake->link[from][to]));
    assert_int_equal(fake->fault_events, fake->schedule.count);
}

void fake_free(struct fake *fake)
{
    engine_free(fake->engine);
    schedule_release(&fake->schedule);
    text_release(&fake->asked);
    text_release(&fake->events);
    free(fake);
}

void fake_assert_asked(struct fake *fake, const char *expected)
{
    assert_string_equal(text_string(&fake->asked), expected);
    text_clear(&fake->asked);
}

void fake_assert_events(struct fake *fake, const char *expected)
{
    assert_string_equal(text_string(&fake->events), expected);
    text_clear(&fake->events);
}

void fake_add_service(struct fake *fake)
{
    fake->service = true;
    fake->running |= node_bit(NODES + 1);
}
