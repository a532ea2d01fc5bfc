/* A whole cluster of an algorithm that counts votes, under any schedule the fuzzer can think of:
 * messages overtake, get lost or come twice, nodes wake, crash and return, the clock leaps. No two
 * nodes may lead one term, nobody may vote twice in one.
 *
 * COUP_FUZZ_ALGORITHM=raft:prevote=off,bug=stale-grant aims at one, or shows that the fuzzer is not
 * blind. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/units.h"
#include "nodes/elector.h"

#define NODES_LIMIT 5u
#define QUEUE_MAX 256u
#define FACTS_MAX 512u
#define STEPS_MAX 1500

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* The fuzzer's bytes as decisions; zero once they are used up. */
struct choices {
    const uint8_t *at, *end;
};

static uint32_t choose(struct choices *choices, uint32_t limit)
{
    uint32_t byte = choices->at < choices->end ? *choices->at++ : 0;
    return byte % limit;
}

struct node {
    struct elector_config config;
    void *state;
    struct output output;
    struct durable disk;
};

struct letter {
    struct message message;
    uint32_t ids[NODES_LIMIT];
};

/* What was said once and for all: in `term`, `node` (0: anybody) chose `choice`. */
struct fact {
    uint64_t term;
    uint32_t node, choice;
};

struct cluster {
    const struct algorithm *algorithm;
    uint32_t count;
    struct node nodes[NODES_LIMIT];
    struct letter queue[QUEUE_MAX];
    uint32_t queued;
    struct fact facts[FACTS_MAX];
    uint32_t fact_count;
    uint64_t now_ns;
};

static void hold_to(struct cluster *cluster, struct fact fact)
{
    for (uint32_t i = 0; i < cluster->fact_count; i++) {
        const struct fact *known = &cluster->facts[i];
        if (known->term == fact.term && known->node == fact.node) {
            assert(known->choice == fact.choice);
            return;
        }
    }
    if (cluster->fact_count < FACTS_MAX)
        cluster->facts[cluster->fact_count++] = fact;
}

static void post(struct cluster *cluster, const struct message *message)
{
    if (cluster->queued == QUEUE_MAX)
        return; /* lost */
    struct letter *letter = &cluster->queue[cluster->queued++];
    letter->message = *message;
    if (message->id_count)
        memcpy(letter->ids, message->ids, message->id_count * sizeof letter->ids[0]);
}

/* Everything but the messages: those are lost when the node is killed before it sends. */
static void step(struct cluster *cluster, uint32_t id, struct input input, bool killed)
{
    struct node *node = &cluster->nodes[id - 1];
    input.now_ns = input.wall_ns = cluster->now_ns;
    output_reset(&node->output);
    cluster->algorithm->step(node->state, &input, &node->output);
    if (node->output.persist)
        node->disk = node->output.durable;
    for (uint32_t i = 0; i < node->output.note_count; i++)
        if (node->output.notes[i].f == F_VOTE)
            hold_to(cluster,
                    (struct fact){node->output.notes[i].term, id, node->output.notes[i].peer});
    if (node->output.belief.role == ROLE_LEADER && node->output.belief.may_act)
        hold_to(cluster, (struct fact){node->output.belief.term, 0, id});
    for (uint32_t i = 0; i < node->output.message_count && !killed; i++)
        post(cluster, &node->output.messages[i]);
}

static void start(struct cluster *cluster, uint32_t id)
{
    struct node *node = &cluster->nodes[id - 1];
    free(node->state);
    node->config.seed += 1000;
    node->state = must_alloc(1, cluster->algorithm->state_size(&node->config));
    node->output.wake_ns = UINT64_MAX;
    node->output.belief = (struct belief){0};
    cluster->algorithm->init(node->state, &node->config);
    struct durable stored = node->disk;
    step(cluster, id, (struct input){.type = INPUT_START, .stored = &stored}, false);
}

static void deliver(struct cluster *cluster, uint32_t at, bool keep, bool killed)
{
    struct letter letter = cluster->queue[at];
    letter.message.ids = letter.ids;
    if (!keep) {
        cluster->queued--;
        memmove(&cluster->queue[at], &cluster->queue[at + 1],
                (cluster->queued - at) * sizeof cluster->queue[0]);
    }
    uint32_t target = letter.message.target;
    step(cluster, target, (struct input){.type = INPUT_MESSAGE, .message = &letter.message},
         killed);
    if (killed)
        start(cluster, target);
}

static void command(struct cluster *cluster, struct choices *choices)
{
    struct input input = {.type = INPUT_COMMAND};
    input.command.type = (enum command_type)choose(choices, COMMAND_FORCE);
    input.command.target = choose(choices, cluster->count + 1);
    step(cluster, 1 + choose(choices, cluster->count), input, false);
}

static void wake(struct cluster *cluster, uint32_t id)
{
    const struct node *node = &cluster->nodes[id - 1];
    if (node->output.wake_ns == UINT64_MAX)
        return;
    if (node->output.wake_ns > cluster->now_ns)
        cluster->now_ns = node->output.wake_ns;
    step(cluster, id, (struct input){.type = INPUT_WAKE}, false);
}

static void one_thing(struct cluster *cluster, struct choices *choices)
{
    uint32_t what = choose(choices, 16);
    uint32_t at = cluster->queued ? choose(choices, cluster->queued) : 0;
    if (what < 8 && cluster->queued)
        deliver(cluster, at, what == 0, what == 1);
    else if (what < 10 && cluster->queued)
        cluster->queue[at] = cluster->queue[--cluster->queued];
    else if (what < 13)
        wake(cluster, 1 + choose(choices, cluster->count));
    else if (what == 13)
        start(cluster, 1 + choose(choices, cluster->count));
    else if (what == 14)
        cluster->now_ns += choose(choices, 100) * NS_PER_MS;
    else
        command(cluster, choices);
}

/* Only algorithms that promise it with these options are held to it. */
static bool configure(struct cluster *cluster, struct choices *choices)
{
    const char *only = getenv("COUP_FUZZ_ALGORITHM");
    struct elector_config config = {0};
    struct error error;
    uint32_t count = 0;
    while (algorithms[count])
        count++;
    const char *chosen = algorithms[choose(choices, count)]->name;
    int rc = algorithm_parse(only ? only : chosen, &cluster->algorithm, &config, &error);
    assert(rc == 0);
    knobs_defaults(&config.knobs);
    const struct option *options = cluster->algorithm->options;
    for (uint32_t i = 0; !only && i < options_count(options); i++)
        if (options[i].type == OPTION_SWITCH)
            config.options.at[i] = choose(choices, 2);
    config.nodes = cluster->count = 2 + choose(choices, NODES_LIMIT - 1);
    for (uint32_t id = 1; id <= cluster->count; id++) {
        config.id = config.seed = id;
        cluster->nodes[id - 1].config = config;
    }
    if (cluster->algorithm->validate && cluster->algorithm->validate(&config, &error) < 0)
        return false;
    return cluster->algorithm->traits(&config.options) >> TRAIT_MAJORITY & 1;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct choices choices = {data, data + size};
    struct cluster *cluster = must_alloc(1, sizeof *cluster);
    cluster->now_ns = NS_PER_S;
    if (configure(cluster, &choices)) {
        for (uint32_t id = 1; id <= cluster->count; id++)
            start(cluster, id);
        for (int i = 0; i < STEPS_MAX && choices.at < choices.end; i++)
            one_thing(cluster, &choices);
    }
    for (uint32_t id = 1; id <= cluster->count; id++) {
        free(cluster->nodes[id - 1].state);
        output_release(&cluster->nodes[id - 1].output);
    }
    free(cluster);
    return 0;
}
