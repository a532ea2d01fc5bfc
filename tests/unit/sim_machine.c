/* What faults do to simulated machines, seen by an elector that only counts what it is given. */
#include "simulator/messages.h"

#include "base/units.h"
#include "tests/test.h"

/* Every 10 ms node 1 sends its count to node 2; every start makes one more than was stored durable
 * and says so to node 2. */
#define BEAT_NS (10 * NS_PER_MS)

enum { BEAT, BORN };
static const char *const kinds[] = {"beat", "born", NULL};
static const char *const words[] = {"starts", NULL};

struct probe {
    uint32_t id;
    bool early; /* the planted order: send, then persist */
    uint64_t stored;
    uint64_t wakes, beats, births;
    uint64_t first_ns, last_ns; /* own clock at the first and last input */
    uint64_t last_beat;
    uint64_t out_of_order;
};

static void probe_start(struct probe *probe, const struct input *input, struct output *output)
{
    struct durable durable = *input->stored;
    probe->stored = durable.word[0]++;
    probe->first_ns = input->now_ns;
    output_persist(output, &durable);
    output->send_before_persist = probe->early;
    if (probe->id == 1)
        output_send(output, (struct message){.source = 1, .target = 2, .kind = BORN});
    output->wake_ns = input->now_ns + BEAT_NS;
}

static void probe_step(void *state, const struct input *input, struct output *output)
{
    struct probe *probe = state;
    probe->last_ns = input->now_ns;
    switch (input->type) {
    case INPUT_START: probe_start(probe, input, output); break;
    case INPUT_WAKE:
        probe->wakes++;
        output->wake_ns = input->now_ns + BEAT_NS;
        if (probe->id == 1)
            output_send(output,
                        (struct message){
                            .source = 1, .target = 2, .kind = BEAT, .argument[0] = probe->wakes});
        break;
    case INPUT_MESSAGE:
        probe->births += input->message->kind == BORN;
        if (input->message->kind == BORN)
            break;
        probe->beats++;
        probe->out_of_order += input->message->argument[0] <= probe->last_beat;
        probe->last_beat = input->message->argument[0];
        break;
    case INPUT_COMMAND: break;
    }
}

static size_t probe_size(const struct elector_config *config)
{
    (void)config;
    return sizeof(struct probe);
}

static void probe_init(void *state, const struct elector_config *config)
{
    struct probe *probe = state;
    probe->id = config->id;
    probe->early = config->bug;
}

static uint32_t probe_traits(const struct option_values *options)
{
    (void)options;
    return 0;
}

static const struct algorithm algorithm_probe = {.name = "probe",
                                                 .kinds = kinds,
                                                 .durable = words,
                                                 .traits = probe_traits,
                                                 .state_size = probe_size,
                                                 .init = probe_init,
                                                 .step = probe_step};

struct fixture {
    struct sim_config config;
    struct schedule schedule;
    struct sim_world world;
};

static void set_up(struct fixture *fixture)
{
    *fixture = (struct fixture){
        .config = {
            .algorithm = &algorithm_probe, .elector.nodes = 2, .seed = 5, .record = SIM_BARE}};
    physics_defaults(&fixture->config.physics);
    fixture->config.physics.fsync_max = 0;
    fixture->config.physics.start_spread = 0;
}

static void open_world(struct fixture *fixture)
{
    assert_int_equal(
        sim_world_open(&fixture->world, &fixture->config, NULL, &fixture->schedule, NULL), 0);
}

static struct machine *machine(struct fixture *fixture, uint32_t id)
{
    return &fixture->world.machines[id - 1];
}

static const struct probe *probe(struct fixture *fixture, uint32_t id)
{
    return machine(fixture, id)->state;
}

static void run_for(struct fixture *fixture, uint64_t length_ns)
{
    sim_world_run(&fixture->world, fixture->world.now_ns + length_ns);
}

static void messages_and_timers_work_without_faults(void **state)
{
    (void)state;
    struct fixture fixture;
    set_up(&fixture);
    open_world(&fixture);
    run_for(&fixture, NS_PER_S + NS_PER_MS);
    assert_int_equal(probe(&fixture, 1)->wakes, 100);
    assert_int_equal(probe(&fixture, 2)->beats, 100);
    assert_int_equal(probe(&fixture, 2)->births, 1);
    assert_int_equal(probe(&fixture, 2)->out_of_order, 0);
    sim_world_release(&fixture.world);
}

static void cut_blocks_until_it_is_taken_back(void **state)
{
    (void)state;
    struct fixture fixture;
    struct link_change change = {0, 1, {.cut = true}};
    set_up(&fixture);
    open_world(&fixture);
    run_for(&fixture, 100 * NS_PER_MS + NS_PER_MS);
    sim_world_change_link(&fixture.world, &change);
    run_for(&fixture, 100 * NS_PER_MS);
    assert_int_equal(probe(&fixture, 2)->beats, 10);
    change.impairment = (struct impairment){0};
    sim_world_change_link(&fixture.world, &change);
    run_for(&fixture, 100 * NS_PER_MS);
    assert_int_equal(probe(&fixture, 2)->beats, 20);
    assert_int_equal(probe(&fixture, 2)->last_beat, 30);
    sim_world_release(&fixture.world);
}

/* Of 10 beats one passes in time, the others when the limit is lifted, in order. */
static void thin_link_ends_with_its_fault(void **state)
{
    (void)state;
    struct fixture fixture;
    struct link_change change = {0, 1, {.rate_bits_per_s = 8 * 60 * 20}};
    set_up(&fixture);
    open_world(&fixture);
    run_for(&fixture, 101 * NS_PER_MS);
    sim_world_change_link(&fixture.world, &change);
    run_for(&fixture, 100 * NS_PER_MS);
    assert_int_equal(probe(&fixture, 2)->beats, 11);
    change.impairment = (struct impairment){0};
    sim_world_change_link(&fixture.world, &change);
    run_for(&fixture, 9 * NS_PER_MS);
    assert_int_equal(probe(&fixture, 2)->beats, 20);
    assert_int_equal(probe(&fixture, 2)->out_of_order, 0);
    sim_world_release(&fixture.world);
}

static void do_to_messages(struct fixture *fixture, enum message_deed deed, bool undo)
{
    const struct act act = {.action = ACTION_MESSAGES,
                            .undo = undo,
                            .message = {.deed = deed, .kind = "beat", .from = 1, .fault = 1}};
    sim_messages_act(&fixture->world, 0, 2, &act);
}

static void held_messages_wait_for_the_end_of_the_fault(void **state)
{
    (void)state;
    struct fixture fixture;
    set_up(&fixture);
    open_world(&fixture);
    run_for(&fixture, 101 * NS_PER_MS);
    do_to_messages(&fixture, MESSAGE_HOLD, false);
    run_for(&fixture, 100 * NS_PER_MS);
    assert_int_equal(probe(&fixture, 2)->beats, 10);
    do_to_messages(&fixture, MESSAGE_HOLD, true);
    assert_int_equal(probe(&fixture, 2)->beats, 20);
    assert_int_equal(probe(&fixture, 2)->out_of_order, 0);
    do_to_messages(&fixture, MESSAGE_REORDER, false);
    run_for(&fixture, 40 * NS_PER_MS);
    assert_int_equal(probe(&fixture, 2)->out_of_order, 2);
    do_to_messages(&fixture, MESSAGE_REORDER, true);
    do_to_messages(&fixture, MESSAGE_ECHO, false);
    run_for(&fixture, 40 * NS_PER_MS);
    do_to_messages(&fixture, MESSAGE_ECHO, true);
    assert_int_equal(probe(&fixture, 2)->beats, 32);
    sim_world_release(&fixture.world);
}

/* What is let go while the process stands still waits with the rest; what is held dies with it. */
static void held_messages_of_a_process_that_stops_or_ends(void **state)
{
    (void)state;
    struct fixture fixture;
    set_up(&fixture);
    open_world(&fixture);
    run_for(&fixture, 101 * NS_PER_MS);
    do_to_messages(&fixture, MESSAGE_HOLD, false);
    run_for(&fixture, 100 * NS_PER_MS);
    assert_true(machine_pause(&fixture.world, machine(&fixture, 2)));
    do_to_messages(&fixture, MESSAGE_HOLD, true);
    assert_int_equal(probe(&fixture, 2)->beats, 10);
    assert_true(machine_resume(&fixture.world, machine(&fixture, 2)));
    assert_int_equal(probe(&fixture, 2)->beats, 20);
    assert_true(machine_pause(&fixture.world, machine(&fixture, 2)));
    run_for(&fixture, 50 * NS_PER_MS); /* they wait, and so does what it is told */
    do_to_messages(&fixture, MESSAGE_HOLD, false);
    assert_true(machine_resume(&fixture.world, machine(&fixture, 2)));
    assert_int_equal(probe(&fixture, 2)->beats, 20);
    do_to_messages(&fixture, MESSAGE_HOLD, true);
    assert_int_equal(probe(&fixture, 2)->beats, 25);
    do_to_messages(&fixture, MESSAGE_HOLD, false);
    run_for(&fixture, 50 * NS_PER_MS);
    assert_true(machine_kill(&fixture.world, machine(&fixture, 2)));
    run_for(&fixture, 50 * NS_PER_MS); /* nobody is there to hold anything for */
    assert_true(machine_start(&fixture.world, machine(&fixture, 2)));
    run_for(&fixture, 50 * NS_PER_MS); /* the rule has stayed */
    assert_int_equal(probe(&fixture, 2)->beats, 0);
    do_to_messages(&fixture, MESSAGE_HOLD, true);
    assert_int_equal(probe(&fixture, 2)->beats, 5);
    sim_world_release(&fixture.world);
}

/* While paused nothing reaches the process and its timer stands still; then it finds everything in
 * order, and a clock that has leapt. */
static void pause_makes_messages_wait_and_the_clock_leap(void **state)
{
    (void)state;
    struct fixture fixture;
    set_up(&fixture);
    open_world(&fixture);
    run_for(&fixture, 101 * NS_PER_MS);
    uint64_t before_ns = probe(&fixture, 2)->last_ns;
    assert_true(machine_pause(&fixture.world, machine(&fixture, 2)));
    assert_false(machine_pause(&fixture.world, machine(&fixture, 2)));
    run_for(&fixture, NS_PER_S);
    assert_int_equal(probe(&fixture, 2)->beats, 10);
    assert_int_equal(probe(&fixture, 2)->wakes, 10);
    assert_true(machine_resume(&fixture.world, machine(&fixture, 2)));
    assert_int_equal(probe(&fixture, 2)->beats, 110);
    assert_int_equal(probe(&fixture, 2)->out_of_order, 0);
    assert_in_range(probe(&fixture, 2)->last_ns - before_ns, 990 * NS_PER_MS, 1100 * NS_PER_MS);
    run_for(&fixture, 5 * BEAT_NS); /* and the timer runs again, once, not for every beat missed */
    assert_in_range(probe(&fixture, 2)->wakes, 14, 16);
    sim_world_release(&fixture.world);
}

static void kill_loses_what_was_not_durable_and_what_was_sent_meanwhile(void **state)
{
    (void)state;
    struct fixture fixture;
    set_up(&fixture);
    open_world(&fixture);
    run_for(&fixture, 101 * NS_PER_MS);
    assert_true(machine_kill(&fixture.world, machine(&fixture, 2)));
    assert_false(machine_kill(&fixture.world, machine(&fixture, 2)));
    run_for(&fixture, 100 * NS_PER_MS);
    assert_true(machine_start(&fixture.world, machine(&fixture, 2)));
    assert_false(machine_start(&fixture.world, machine(&fixture, 2)));
    assert_int_equal(probe(&fixture, 2)->beats, 0);
    assert_int_equal(probe(&fixture, 2)->stored, 1);
    assert_int_equal(machine(&fixture, 2)->incarnation, 2);
    run_for(&fixture, 100 * NS_PER_MS);
    assert_int_equal(probe(&fixture, 2)->beats, 10);
    assert_int_equal(probe(&fixture, 2)->last_beat, 30);
    sim_world_release(&fixture.world);
}

/* Paused processes can be killed; what waited for them dies with them. */
static void kill_of_a_paused_process_drops_what_waited(void **state)
{
    (void)state;
    struct fixture fixture;
    set_up(&fixture);
    open_world(&fixture);
    run_for(&fixture, 101 * NS_PER_MS);
    (void)machine_pause(&fixture.world, machine(&fixture, 2));
    run_for(&fixture, 100 * NS_PER_MS);
    assert_true(machine_kill(&fixture.world, machine(&fixture, 2)));
    assert_false(machine_resume(&fixture.world, machine(&fixture, 2)));
    (void)machine_start(&fixture.world, machine(&fixture, 2));
    run_for(&fixture, NS_PER_MS);
    assert_int_equal(probe(&fixture, 2)->beats, 0);
    sim_world_release(&fixture.world);
}

static void nothing_leaves_before_it_is_durable(void **state)
{
    (void)state;
    for (uint32_t early = 0; early <= 1; early++) {
        struct fixture fixture;
        set_up(&fixture);
        fixture.config.physics.fsync_min = fixture.config.physics.fsync_max = 5 * NS_PER_MS;
        fixture.config.elector.bug = early;
        open_world(&fixture);
        (void)machine_kill(&fixture.world, machine(&fixture, 1)); /* before it has begun: nothing */
        run_for(&fixture, 2 * NS_PER_MS);
        assert_int_equal(fixture.world.network.passed, early);
        run_for(&fixture, 4 * NS_PER_MS);
        assert_int_equal(fixture.world.network.passed, 1);
        assert_int_equal(machine(&fixture, 1)->disk.synced.word[0], 1);
        sim_world_release(&fixture.world);
    }
}

/* Killed between write and fsync: the record is there after a kill, gone after a power loss, and
 * gone either way if the elector had sent first and not yet written. */
static void death_during_fsync_keeps_or_loses_the_record(void **state)
{
    (void)state;
    static const struct {
        uint64_t power_loss;
        uint32_t early;
        uint64_t stored;
    } rows[] = {{0, 0, 1}, {PPM_ONE, 0, 0}, {0, 1, 0}, {PPM_ONE, 1, 0}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct fixture fixture;
        set_up(&fixture);
        fixture.config.physics.fsync_min = fixture.config.physics.fsync_max = 5 * NS_PER_MS;
        fixture.config.physics.power_loss = rows[i].power_loss;
        fixture.config.elector.bug = rows[i].early;
        open_world(&fixture);
        run_for(&fixture, 2 * NS_PER_MS);
        assert_true(machine_kill(&fixture.world, machine(&fixture, 1)));
        assert_true(machine_start(&fixture.world, machine(&fixture, 1)));
        assert_int_equal(probe(&fixture, 1)->stored, rows[i].stored);
        run_for(&fixture, 20 * NS_PER_MS); /* the fsync of the dead is nobody's */
        assert_int_equal(machine(&fixture, 1)->disk.synced.word[0], rows[i].stored + 1);
        sim_world_release(&fixture.world);
    }
}

/* ---- disks ---- */

static void trouble(struct fixture *fixture, uint32_t id, struct disk_trouble trouble)
{
    machine_trouble(&fixture->world, machine(fixture, id), &trouble);
}

static void restart(struct fixture *fixture, uint32_t id)
{
    (void)machine_kill(&fixture->world, machine(fixture, id));
    (void)machine_start(&fixture->world, machine(fixture, id));
}

/* A write that the disk refuses ends the process, nothing leaves it, and it comes back by itself
 * until the disk takes the record. */
static void who_cannot_write_sends_nothing(void **state)
{
    (void)state;
    static const struct disk_trouble rows[] = {{.full = true}, {.error_ppm = PPM_ONE}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct fixture fixture;
        set_up(&fixture);
        fixture.config.elector.knobs.restart_after = 10 * NS_PER_MS;
        open_world(&fixture);
        run_for(&fixture, NS_PER_MS);
        uint64_t passed = fixture.world.network.passed;
        trouble(&fixture, 1, rows[i]);
        restart(&fixture, 1);
        run_for(&fixture, 35 * NS_PER_MS);
        assert_int_equal(fixture.world.network.passed, passed);
        assert_int_equal(machine(&fixture, 1)->incarnation, 5); /* 1, 2, and after 10, 20, 30 ms */
        assert_int_equal(machine(&fixture, 1)->life, LIFE_DOWN);
        assert_int_equal(machine(&fixture, 1)->disk_touched[i ? DISK_ERRORS : DISK_FULL], 4);
        trouble(&fixture, 1, (struct disk_trouble){0});
        run_for(&fixture, 10 * NS_PER_MS);
        assert_int_equal(machine(&fixture, 1)->life, LIFE_UP);
        assert_int_equal(probe(&fixture, 1)->stored, 1);
        sim_world_release(&fixture.world);
    }
}

/* Who was started by somebody else meanwhile is not started twice. */
static void a_restart_that_came_late_is_void(void **state)
{
    (void)state;
    struct fixture fixture;
    set_up(&fixture);
    fixture.config.elector.knobs.restart_after = 10 * NS_PER_MS;
    open_world(&fixture);
    run_for(&fixture, NS_PER_MS);
    trouble(&fixture, 1, (struct disk_trouble){.full = true});
    restart(&fixture, 1);
    trouble(&fixture, 1, (struct disk_trouble){0});
    assert_true(machine_start(&fixture.world, machine(&fixture, 1)));
    assert_true(machine_kill(&fixture.world, machine(&fixture, 1)));
    run_for(&fixture, 50 * NS_PER_MS);
    assert_int_equal(machine(&fixture, 1)->life, LIFE_DOWN);
    sim_world_release(&fixture.world);
}

static void a_stalled_disk_answers_when_it_is_well(void **state)
{
    (void)state;
    struct fixture fixture;
    set_up(&fixture);
    open_world(&fixture);
    run_for(&fixture, NS_PER_MS);
    uint64_t passed = fixture.world.network.passed;
    trouble(&fixture, 1, (struct disk_trouble){.stalled = true});
    restart(&fixture, 1);
    run_for(&fixture, 500 * NS_PER_MS);
    assert_int_equal(fixture.world.network.passed, passed);
    assert_int_equal(machine(&fixture, 1)->disk.synced.word[0], 1);
    assert_int_equal(machine(&fixture, 1)->disk_touched[DISK_STALLED], 1);
    trouble(&fixture, 1, (struct disk_trouble){.fsync_delay_ns = 20 * NS_PER_MS});
    run_for(&fixture, 19 * NS_PER_MS);
    assert_int_equal(fixture.world.network.passed, passed);
    run_for(&fixture, 2 * NS_PER_MS);
    assert_true(fixture.world.network.passed > passed);
    assert_int_equal(machine(&fixture, 1)->disk.synced.word[0], 2);
    assert_int_equal(machine(&fixture, 1)->disk_touched[DISK_SLOW], 1);
    sim_world_release(&fixture.world);
}

/* A record that was written without a sync is there for everybody but after a power loss. */
static void power_loss_and_wipe_take_what_they_should(void **state)
{
    (void)state;
    struct fixture fixture;
    set_up(&fixture);
    open_world(&fixture);
    run_for(&fixture, NS_PER_MS);
    struct machine *first = machine(&fixture, 1);
    struct durable unsynced = {.word[0] = 77};
    disk_write(&first->disk, &unsynced);
    assert_true(machine_power_loss(&fixture.world, first, PPM_ONE / 2));
    assert_false(machine_power_loss(&fixture.world, first, 0));
    assert_true(machine_start(&fixture.world, first));
    assert_int_equal(probe(&fixture, 1)->stored, 1);
    disk_write(&first->disk, &unsynced);
    assert_true(machine_power_loss(&fixture.world, first, PPM_ONE));
    assert_true(machine_start(&fixture.world, first));
    assert_int_equal(probe(&fixture, 1)->stored, 77);
    assert_true(machine_wipe(&fixture.world, first));
    assert_true(machine_start(&fixture.world, first));
    assert_int_equal(probe(&fixture, 1)->stored, 0);
    sim_world_release(&fixture.world);
}

static void a_fast_clock_wakes_its_owner_more_often(void **state)
{
    (void)state;
    struct fixture fixture;
    set_up(&fixture);
    open_world(&fixture);
    run_for(&fixture, NS_PER_MS);
    machine_bend(&fixture.world, machine(&fixture, 1), &(struct clock_bend){.rate_ppm = 1500000});
    run_for(&fixture, NS_PER_S);
    assert_in_range(probe(&fixture, 1)->wakes, 149, 151);
    assert_in_range(probe(&fixture, 2)->wakes, 99, 101);
    sim_world_release(&fixture.world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(messages_and_timers_work_without_faults),
        cmocka_unit_test(cut_blocks_until_it_is_taken_back),
        cmocka_unit_test(thin_link_ends_with_its_fault),
        cmocka_unit_test(held_messages_wait_for_the_end_of_the_fault),
        cmocka_unit_test(held_messages_of_a_process_that_stops_or_ends),
        cmocka_unit_test(pause_makes_messages_wait_and_the_clock_leap),
        cmocka_unit_test(kill_loses_what_was_not_durable_and_what_was_sent_meanwhile),
        cmocka_unit_test(kill_of_a_paused_process_drops_what_waited),
        cmocka_unit_test(nothing_leaves_before_it_is_durable),
        cmocka_unit_test(death_during_fsync_keeps_or_loses_the_record),
        cmocka_unit_test(who_cannot_write_sends_nothing),
        cmocka_unit_test(a_restart_that_came_late_is_void),
        cmocka_unit_test(a_stalled_disk_answers_when_it_is_well),
        cmocka_unit_test(power_loss_and_wipe_take_what_they_should),
        cmocka_unit_test(a_fast_clock_wakes_its_owner_more_often),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
