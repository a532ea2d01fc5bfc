/* Whole simulated runs: the same every time, judged as a real one would be, refusing what cannot
 * be. */
#include "simulator/sim.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/units.h"
#include "simulator/sweep.h"
#include "tests/test.h"

static struct swarm_request request_of(const char *algorithm, const char *kinds)
{
    struct swarm_request request = {.nodes_min = 3, .nodes_max = 5};
    struct sim_config *base = &request.base;
    struct error error;
    *base = (struct sim_config){.clients = 2,
                                .client_pause_ns = NS_PER_S / 5,
                                .fenced = true,
                                .fault_every_ns = NS_PER_S,
                                .duration_ns = 5 * NS_PER_S,
                                .record = SIM_CHECK};
    knobs_defaults(&base->elector.knobs);
    physics_defaults(&base->physics);
    base->elector.nodes = 5;
    assert_int_equal(algorithm_parse(algorithm, &base->algorithm, &base->elector, &error), 0);
    assert_int_equal(faults_parse(kinds, base->kinds, &base->kind_count, &error), 0);
    return request;
}

static struct sim_result run_seed(const struct swarm_request *request, uint64_t seed,
                                  enum sim_record record)
{
    struct sim_config config;
    struct sim_result result;
    swarm_draw(request, seed, &config);
    config.record = record;
    assert_int_equal(sim_run(&config, &result, NULL), 0);
    return result;
}

/* Whoever floods the network is told so; the run ends. */
static void a_storm_is_an_error(void **state)
{
    (void)state;
    struct swarm_request request = request_of("raft", "none");
    struct sim_config config;
    struct sim_result result;
    struct error error = {.text = ""};
    swarm_draw(&request, 3, &config);
    config.storm = 50;
    assert_int_equal(sim_run(&config, &result, &error), -ELOOP);
    assert_non_null(strstr(error.text, "seed 3: raft storms: more than 50 happenings within"));
    config.storm = 1000000;
    assert_int_equal(sim_run(&config, &result, &error), 0);
    sim_result_release(&result);
}

static void one_seed_is_one_history_byte_for_byte(void **state)
{
    (void)state;
    struct swarm_request request = request_of("raft", "all,duplicate-id");
    request.base.trace = true;
    for (uint64_t seed = 1; seed <= 8; seed++) {
        struct sim_result first = run_seed(&request, seed, SIM_KEEP);
        struct sim_result again = run_seed(&request, seed, SIM_KEEP);
        struct sim_result other = run_seed(&request, seed + 1, SIM_KEEP);
        struct slice a = sim_result_bytes(&first), b = sim_result_bytes(&again);
        assert_int_equal(a.length, b.length);
        assert_memory_equal(a.at, b.at, a.length);
        assert_int_equal(first.hash, again.hash);
        assert_int_not_equal(first.hash, other.hash);
        sim_result_release(&first);
        sim_result_release(&again);
        sim_result_release(&other);
    }
}

static void recording_changes_nothing(void **state)
{
    (void)state;
    struct swarm_request request = request_of("raft", "all");
    for (uint64_t seed = 1; seed <= 8; seed++) {
        struct sim_result kept = run_seed(&request, seed, SIM_KEEP);
        struct sim_result checked = run_seed(&request, seed, SIM_CHECK);
        struct sim_result bare = run_seed(&request, seed, SIM_BARE);
        assert_null(checked.writer);
        assert_int_equal(kept.hash, checked.hash);
        assert_int_equal(kept.happenings, checked.happenings);
        assert_int_equal(bare.report.events, 0);
        sim_result_release(&kept);
        sim_result_release(&checked);
        sim_result_release(&bare);
    }
}

/* What the checks said while the run went on is what they say of the file afterwards. */
static void the_kept_history_gets_the_same_verdict(void **state)
{
    (void)state;
    struct swarm_request request = request_of("raft:bug=vote-twice", "kill,partition");
    uint32_t invalid = 0;
    for (uint64_t seed = 1; seed <= 40; seed++) {
        struct sim_result result = run_seed(&request, seed, SIM_KEEP);
        struct history_reader *reader;
        struct report_data read;
        assert_int_equal(history_open_bytes(sim_result_bytes(&result), &reader, NULL), 0);
        assert_int_equal(check_history(reader, NULL, &read, NULL), 0);
        assert_string_equal(read.damage, "");
        assert_int_equal(read.verdict, result.report.verdict);
        assert_int_equal(read.events, result.report.events);
        for (uint32_t i = 0; i < read.result_count; i++)
            assert_string_equal(read.results[i].finding.reason,
                                result.report.results[i].finding.reason);
        invalid += read.verdict == VERDICT_INVALID;
        history_reader_close(reader);
        report_data_release(&read);
        sim_result_release(&result);
    }
    assert_true(invalid > 0);
}

static void history_says_what_ran_and_goes_through_its_phases(void **state)
{
    (void)state;
    static const char *const phases[] = {"start", "faults", "heal", "final", "end"};
    struct swarm_request request = request_of("raft", "kill,pause");
    struct sim_result result = run_seed(&request, 7, SIM_KEEP);
    struct history_reader *reader;
    struct event event;
    uint32_t phase = 0;
    uint64_t last_ns = 0;
    assert_int_equal(history_open_bytes(sim_result_bytes(&result), &reader, NULL), 0);
    const struct history_header *header = history_header(reader);
    assert_string_equal(header->world, "sim");
    assert_string_equal(header->algorithm, "raft");
    assert_int_equal(header->seed, 7);
    assert_int_equal(header->started_unix_ns, 0);
    assert_int_equal(header->schedule_count, result.faults);
    assert_true(header->schedule_count > 0);
    while (history_next(reader, &event) == 1) {
        assert_true(event.time_ns >= last_ns);
        last_ns = event.time_ns;
        if (event.f == F_PHASE)
            assert_true(phase < 5 && slice_equals(event_text(&event, FIELD_NAME), phases[phase++]));
    }
    assert_int_equal(phase, 5);
    assert_null(history_damage(reader));
    history_reader_close(reader);
    sim_result_release(&result);
}

static void honest_raft_is_never_accused(void **state)
{
    (void)state;
    struct swarm_request request = request_of("raft", "all");
    uint32_t valid = 0, repeated = 0;
    request.base.duration_ns = 15 * NS_PER_S; /* room for every kind */
    for (uint64_t seed = 1; seed <= 60; seed++) {
        struct sweep_outcome outcome;
        assert_int_equal(sweep_one(&request, seed, &outcome, NULL), 0);
        if (outcome.verdict == VERDICT_INVALID)
            fail_msg("seed %u: %s", (unsigned)seed, outcome.reason);
        assert_false(outcome.diverged);
        valid += outcome.verdict == VERDICT_VALID;
        repeated += outcome.repeated;
    }
    assert_true(valid > 30);
    assert_true(repeated > 0);
}

static uint32_t seeds_invalid(const struct swarm_request *request, const char *check,
                              uint64_t seeds)
{
    uint32_t count = 0;
    for (uint64_t seed = 1; seed <= seeds; seed++) {
        struct sweep_outcome outcome;
        assert_int_equal(sweep_one(request, seed, &outcome, NULL), 0);
        for (uint32_t i = 0; checks[i]; i++)
            if (strcmp(checks[i]->name, check) == 0)
                count += (uint32_t)(outcome.invalid >> i & 1);
    }
    return count;
}

/* Paused leaders write with old tokens when they wake: refused when fenced, seen when not. */
static void fencing_is_what_stops_a_paused_leader(void **state)
{
    (void)state;
    struct swarm_request request = request_of("raft", "pause");
    request.off = true;
    assert_int_equal(seeds_invalid(&request, "fencing-monotonic", 20), 0);
    request.base.fenced = false;
    assert_true(seeds_invalid(&request, "fencing-monotonic", 20) > 0);
}

/* The kernel keeps what a killed process has written: no kill can miss the fsync. */
static void only_a_power_loss_misses_the_fsync(void **state)
{
    (void)state;
    static const char *const owed[] = {"vote-once", "term-monotonic"};
    for (size_t i = 0; i < sizeof owed / sizeof owed[0]; i++) {
        struct swarm_request killed = request_of("raft:bug=no-fsync", "kill");
        struct swarm_request dark = request_of("raft:bug=no-fsync", "power-loss");
        struct swarm_request honest = request_of("raft", "power-loss");
        killed.off = dark.off = honest.off = true;
        killed.base.elector.nodes = dark.base.elector.nodes = honest.base.elector.nodes = 3;
        assert_int_equal(seeds_invalid(&killed, owed[i], 40), 0);
        assert_true(seeds_invalid(&dark, owed[i], 40) > 0);
        assert_int_equal(seeds_invalid(&honest, owed[i], 40), 0);
    }
}

/* Nodes give up when their disks fail, and nobody blames them. */
static void disk_faults_accuse_nobody_honest(void **state)
{
    (void)state;
    struct swarm_request request = request_of("raft", "disk");
    uint32_t valid = 0;
    for (uint64_t seed = 1; seed <= 40; seed++) {
        struct sweep_outcome outcome;
        assert_int_equal(sweep_one(&request, seed, &outcome, NULL), 0);
        if (outcome.verdict == VERDICT_INVALID)
            fail_msg("seed %u: %s", (unsigned)seed, outcome.reason);
        valid += outcome.verdict == VERDICT_VALID;
    }
    assert_true(valid > 20);
}

static void what_cannot_be_is_refused(void **state)
{
    (void)state;
    struct swarm_request request = request_of("raft", "all");
    struct sim_config config;
    struct sim_result result;
    struct error error;
    swarm_draw(&request, 1, &config);
    config.elector.nodes = NODES_MAX + 1;
    assert_true(sim_run(&config, &result, &error) < 0);
    assert_non_null(strstr(error.text, "at most 50"));
    config.elector.nodes = 0;
    assert_true(sim_run(&config, &result, &error) < 0);
    assert_int_equal(error.kind, ERROR_USAGE);
    config.elector.nodes = config.elector.witnesses = 3;
    assert_true(sim_run(&config, &result, &error) < 0);
    config.elector.witnesses = 0;
    config.checks = "no-such-check";
    assert_true(sim_run(&config, &result, &error) < 0);
    assert_non_null(strstr(error.text, "no-such-check"));
    config.checks = NULL;
    config.clients = CLIENTS_MAX + 1;
    assert_true(sim_run(&config, &result, &error) < 0);
}

/* Whatever is drawn could have been asked for, and what was asked for is not drawn. */
static void swarm_draws_within_bounds(void **state)
{
    (void)state;
    struct swarm_request request = request_of("raft", "all");
    const char *given = "heartbeat=10ms,registers=3";
    uint32_t sizes[8] = {0};
    assert_int_equal(knobs_parse(given, &request.base.elector.knobs, NULL), 0);
    assert_int_equal(options_given(knob_table, "knob", given, &request.knobs_given, NULL), 0);
    for (uint64_t seed = 1; seed <= 500; seed++) {
        struct sim_config config;
        struct knobs knobs;
        struct physics physics;
        struct text text = {0};
        struct error error;
        swarm_draw(&request, seed, &config);
        assert_int_equal(config.elector.knobs.heartbeat, 10 * NS_PER_MS);
        assert_int_equal(config.elector.knobs.registers, 3);
        assert_in_range(config.elector.nodes, 3, 5);
        assert_in_range(config.clients, 1, 2);
        assert_in_range(config.kind_count, 1, request.base.kind_count);
        sizes[config.elector.nodes]++;
        knobs_format(&config.elector.knobs, false, &text);
        knobs_defaults(&knobs);
        if (knobs_parse(text_string(&text), &knobs, &error) < 0)
            fail_msg("seed %u: %s", (unsigned)seed, error.text);
        assert_memory_equal(&knobs, &config.elector.knobs, sizeof knobs);
        text_clear(&text);
        physics_format(&config.physics, false, &text);
        physics_defaults(&physics);
        if (physics_parse(text_string(&text), &physics, &error) < 0)
            fail_msg("seed %u: %s", (unsigned)seed, error.text);
        assert_memory_equal(&physics, &config.physics, sizeof physics);
        text_release(&text);
    }
    assert_true(sizes[3] > 100 && sizes[4] > 100 && sizes[5] > 100);
}

/* A large cluster that starts at once sends some n^2 messages, not more (Garcia-Molina 1982). */
static void bully_elects_with_a_square_of_messages(void **state)
{
    (void)state;
    struct sim_config config = {.elector.nodes = 80, .seed = 1, .record = SIM_BARE};
    struct sim_result result;
    knobs_defaults(&config.elector.knobs);
    physics_defaults(&config.physics);
    config.physics.fsync_max = 0;
    assert_int_equal(algorithm_parse("bully", &config.algorithm, &config.elector, NULL), 0);
    assert_int_equal(sim_run(&config, &result, NULL), 0);
    uint64_t heartbeats = 79 * (result.simulated_ns / config.elector.knobs.heartbeat + 1);
    assert_in_range(result.messages, 79, heartbeats + 3 * 80 * 80);
    sim_result_release(&result);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_storm_is_an_error),
        cmocka_unit_test(one_seed_is_one_history_byte_for_byte),
        cmocka_unit_test(recording_changes_nothing),
        cmocka_unit_test(the_kept_history_gets_the_same_verdict),
        cmocka_unit_test(history_says_what_ran_and_goes_through_its_phases),
        cmocka_unit_test(honest_raft_is_never_accused),
        cmocka_unit_test(fencing_is_what_stops_a_paused_leader),
        cmocka_unit_test(only_a_power_loss_misses_the_fsync),
        cmocka_unit_test(disk_faults_accuse_nobody_honest),
        cmocka_unit_test(what_cannot_be_is_refused),
        cmocka_unit_test(swarm_draws_within_bounds),
        cmocka_unit_test(bully_elects_with_a_square_of_messages),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
