/* The programs together, as real processes on the loopback: an election, guarded writes, a killed
 * leader, a restart, a pause, clients. */
#include "tests/test.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/units.h"
#include "tests/cluster.h"

#define LIMIT_MS 10000
#define AFTER_PAUSE_MS 300

static bool leads(const struct cluster *cluster, uint64_t above_token)
{
    return cluster->leader != 0 && cluster->token > above_token;
}

static bool accepted_under_current_token(const struct cluster *cluster, uint64_t count)
{
    return cluster->leader != 0 && cluster->accepted_token == cluster->token &&
           cluster->accepted >= count;
}

static bool rejected(const struct cluster *cluster, uint64_t count)
{
    return cluster->rejected >= count;
}

static bool elapsed(const struct cluster *cluster, uint64_t until_ns)
{
    return cluster_now(cluster) >= until_ns;
}

static bool clients_did(const struct cluster *cluster, uint64_t count)
{
    for (uint32_t id = 1; id <= cluster->clients; id++)
        if (cluster->members[cluster->nodes + id].ok < count)
            return false;
    return true;
}

static bool answered(const struct cluster *cluster, uint64_t process)
{
    for (uint32_t i = 0; i < cluster->member_count; i++)
        if (cluster->members[i].process == process)
            return cluster->members[i].dones > 0;
    return false;
}

static int setup(void **state)
{
    *state = must_alloc(1, sizeof(struct cluster));
    return 0;
}

static int teardown(void **state)
{
    cluster_release(*state);
    free(*state);
    return 0;
}

/* Three nodes, a leader, and writes under it. */
static struct cluster *elect(void **state, const char *mode, uint32_t clients)
{
    struct cluster *cluster = *state;
    cluster->nodes = 3;
    cluster->clients = clients;
    cluster->mode = mode;
    cluster->algorithm = "raft";
    cluster_open(cluster);
    assert_true(cluster_wait(cluster, leads, 0, LIMIT_MS));
    assert_true(cluster_wait(cluster, accepted_under_current_token, 3, LIMIT_MS));
    return cluster;
}

static void test_killed_leader_is_replaced_under_a_higher_token(void **state)
{
    struct cluster *cluster = elect(state, "fenced", 0);
    uint64_t token = cluster->token, accepted = cluster->accepted;
    struct member *first = cluster_node(cluster, process_index(cluster->leader));
    cluster_kill(cluster, first);
    assert_true(cluster_wait(cluster, leads, token, LIMIT_MS));
    assert_true(cluster_wait(cluster, accepted_under_current_token, accepted + 3, LIMIT_MS));
    /* It comes back with what it had promised, and majority and writes survive the other's end. */
    token = cluster->token;
    cluster_spawn(cluster, first);
    cluster_kill(cluster, cluster_node(cluster, process_index(cluster->leader)));
    assert_true(cluster_wait(cluster, leads, token, LIMIT_MS));
    assert_true(cluster_wait(cluster, accepted_under_current_token, accepted + 6, LIMIT_MS));
    cluster_close(cluster);
}

/* What a paused leader writes when it comes back is stale: refused when fenced, done when not. It
 * writes nothing if the news of its successor is read first, so once is not always enough. */
#define PAUSES_MAX 20
static void pause_leader(struct cluster *cluster)
{
    assert_true(cluster_wait(cluster, leads, 0, LIMIT_MS));
    uint64_t token = cluster->token;
    pid_t pid = cluster_node(cluster, process_index(cluster->leader))->pid;
    assert_int_equal(kill(pid, SIGSTOP), 0);
    assert_true(cluster_wait(cluster, leads, token, LIMIT_MS));
    assert_true(cluster_wait(cluster, accepted_under_current_token, 3, LIMIT_MS));
    assert_int_equal(kill(pid, SIGCONT), 0);
    (void)cluster_wait(cluster, rejected, 1, AFTER_PAUSE_MS);
}

static void test_paused_leader_is_fenced_off(void **state)
{
    struct cluster *cluster = elect(state, "fenced", 0);
    for (int i = 0; i < PAUSES_MAX && cluster->rejected == 0; i++)
        pause_leader(cluster);
    assert_true(cluster->rejected > 0);
    cluster_close(cluster);
}

static void test_unfenced_resource_refuses_nothing(void **state)
{
    struct cluster *cluster = elect(state, "unfenced", 0);
    pause_leader(cluster);
    uint64_t accepted = cluster->accepted;
    assert_true(cluster_wait(cluster, accepted_under_current_token, accepted + 10, LIMIT_MS));
    assert_int_equal(cluster->rejected, 0);
    cluster_close(cluster);
}

static void test_clients_find_the_leader_and_stop(void **state)
{
    struct cluster *cluster = elect(state, "fenced", 2);
    for (uint32_t id = 1; id <= 2; id++)
        cluster_command(cluster_client(cluster, id), "start");
    assert_true(cluster_wait(cluster, clients_did, 20, LIMIT_MS));
    uint64_t token = cluster->token;
    cluster_kill(cluster, cluster_node(cluster, process_index(cluster->leader)));
    assert_true(cluster_wait(cluster, leads, token, LIMIT_MS));
    uint64_t ok = cluster_client(cluster, 1)->ok;
    if (cluster_client(cluster, 2)->ok > ok)
        ok = cluster_client(cluster, 2)->ok;
    assert_true(cluster_wait(cluster, clients_did, ok + 5, LIMIT_MS));
    for (uint32_t id = 1; id <= 2; id++)
        cluster_command(cluster_client(cluster, id), "stop");
    cluster_close(cluster);
}

static void test_resource_keeps_its_log_over_a_kill(void **state)
{
    struct cluster *cluster = elect(state, "fenced", 0);
    uint64_t sequence = cluster->accepted_sequence, accepted = cluster->accepted;
    cluster_kill(cluster, cluster_resource(cluster));
    cluster_spawn(cluster, cluster_resource(cluster));
    assert_true(cluster_wait(cluster, accepted_under_current_token, accepted + 3, LIMIT_MS));
    assert_true(cluster->accepted_sequence >= sequence + 3);
    cluster_close(cluster);
}

static void test_commands_are_answered(void **state)
{
    struct cluster *cluster = elect(state, "fenced", 0);
    cluster_command(cluster_node(cluster, 1), "dance");
    assert_true(cluster_wait(cluster, answered, cluster_node(cluster, 1)->process, LIMIT_MS));
    assert_string_equal(cluster_node(cluster, 1)->answer, "not one of the commands of a node");
    struct member *leader = cluster_node(cluster, process_index(cluster->leader));
    leader->dones = 0;
    cluster_command(leader, "trace on");
    assert_true(cluster_wait(cluster, answered, leader->process, LIMIT_MS));
    assert_string_equal(leader->answer, "done");
    assert_true(cluster_wait(cluster, elapsed, cluster_now(cluster) + 100 * NS_PER_MS, LIMIT_MS));
    cluster_close(cluster);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(test_killed_leader_is_replaced_under_a_higher_token),
        TEST(test_paused_leader_is_fenced_off),
        TEST(test_unfenced_resource_refuses_nothing),
        TEST(test_clients_find_the_leader_and_stop),
        TEST(test_resource_keeps_its_log_over_a_kill),
        TEST(test_commands_are_answered),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
