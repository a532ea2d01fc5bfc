/* A schedule drawn from a seed: a deck of cards decides what comes next, each fault draws its own
 * details from a generator of its own, so that one more draw in one place shifts nothing else. */
#include "nemesis/plan.h"

#include <string.h>

/* What must come round: a single kind, or a whole group whose members take turns. */
struct card {
    const struct fault *members[FAULTS_MAX];
    uint32_t member_count, next, dealt;
    uint32_t turns[FAULTS_MAX]; /* shuffled anew every time all members had theirs */
    struct random random;
};

struct deck {
    struct card cards[FAULTS_MAX];
    uint32_t count, next;
    uint32_t order[FAULTS_MAX];
    struct random random;
};

static bool same_group(const struct fault *a, const struct fault *b)
{
    return strcmp(a->group, b->group) == 0;
}

static void add_members(const struct plan_request *request, const struct fault *first, bool fitting,
                        struct card *card)
{
    for (uint32_t i = 0; i < request->kind_count; i++) {
        const struct fault *fault = request->kinds[i];
        if (same_group(fault, first) && (!fitting || fault->nodes_min <= request->nodes))
            card->members[card->member_count++] = fault;
    }
}

/* A group none of whose members fits the cluster still comes up, to be recorded as skipped. */
static void group_card(const struct plan_request *request, const struct fault *first,
                       struct card *card)
{
    add_members(request, first, true, card);
    if (card->member_count == 0)
        add_members(request, first, false, card);
}

static bool group_has_card(const struct deck *deck, const struct fault *fault)
{
    for (uint32_t i = 0; i < deck->count; i++)
        if (same_group(deck->cards[i].members[0], fault))
            return true;
    return false;
}

static void deck_init(struct deck *deck, const struct plan_request *request)
{
    *deck = (struct deck){0};
    random_init(&deck->random, request->seed, "deck", 0);
    for (uint32_t i = 0; i < request->kind_count; i++) {
        const struct fault *fault = request->kinds[i];
        bool whole = faults_whole_group(request->kinds, request->kind_count, fault->group);
        if (whole && group_has_card(deck, fault))
            continue;
        struct card *card = &deck->cards[deck->count++];
        random_init(&card->random, request->seed, whole ? fault->group : fault->name, 0);
        if (whole)
            group_card(request, fault, card);
        else
            card->members[card->member_count++] = fault;
    }
}

/* The next of 0..count-1 in an order that is shuffled whenever it begins. */
static uint32_t take_turn(struct random *random, uint32_t *order, uint32_t *next, uint32_t count)
{
    if (*next % count == 0) {
        for (uint32_t i = 0; i < count; i++)
            order[i] = i;
        random_shuffle(random, order, count);
        *next = 0;
    }
    return order[(*next)++];
}

/* `*ret_turn`: how often its card has come up before. */
static const struct fault *deal(struct deck *deck, uint32_t *ret_turn)
{
    uint32_t number = take_turn(&deck->random, deck->order, &deck->next, deck->count);
    struct card *card = &deck->cards[number];
    *ret_turn = card->dealt++;
    return card->members[take_turn(&card->random, card->turns, &card->next, card->member_count)];
}

/* Faults begin once in each of `count` equal steps and last between the two durations. */
struct timing {
    uint32_t count;
    uint64_t step_ns, shortest_ns, longest_ns;
};

static uint64_t least(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

static uint64_t most(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

/* A fault shorter than three election timeouts may pass before anything runs into it, one longer
 * than twenty teaches nothing more. */
static struct timing timing_of(const struct plan_request *request, uint32_t cards)
{
    uint64_t timeout = most(request->election_timeout_ns, 1);
    uint64_t every = most(request->every_ns, 1);
    struct timing timing = {0};
    timing.shortest_ns = most(least(3 * timeout, request->length_ns / 3), 1);
    timing.longest_ns =
        most(timing.shortest_ns, least(most(every + every / 2, 4 * timeout), 20 * timeout));
    uint64_t room = request->length_ns - timing.shortest_ns;
    timing.count = (uint32_t)least(most(room / every, cards), PLAN_FAULTS_MAX);
    timing.step_ns = room / timing.count;
    return timing;
}

/* Whole milliseconds read better; nothing shorter than one is rounded away. */
static uint64_t readable(uint64_t ns)
{
    return ns > NS_PER_MS ? ns - ns % NS_PER_MS : ns;
}

static struct target draw_target(const struct fault *fault, uint32_t nodes, struct random *random)
{
    struct target target = fault->targets[random_below(random, fault->target_count)];
    return target_nodes_min(target.role) > nodes ? fault->targets[0] : target;
}

static void draw_fault(const struct plan_request *request, const struct timing *timing,
                       uint32_t number, uint32_t turn, struct scheduled_fault *scheduled)
{
    const struct fault *fault = scheduled->fault;
    struct random random;
    random_init(&random, request->seed, "fault", number);
    uint64_t begin = number * timing->step_ns + random_below(&random, timing->step_ns);
    scheduled->at_ns = readable(begin);
    uint64_t room = request->length_ns - scheduled->at_ns;
    scheduled->duration_ns =
        readable(random_between(&random, timing->shortest_ns, least(timing->longest_ns, room)));
    scheduled->target = draw_target(fault, request->nodes, &random);
    if (fault->between && random_chance(&random, PPM_ONE / 2)) { /* what reaches them */
        scheduled->to = scheduled->target;
        scheduled->target = (struct target){.role = TARGET_ANY};
    }
    scheduled->seed = random_next(&random);
    const struct fault_scale scale = {
        .nodes = request->nodes,
        .election_timeout_ns = most(request->election_timeout_ns, 1),
        .clock_drift_ppm = request->clock_drift_ppm,
        .on = scheduled->target.role,
        .message_kinds = request->message_kinds,
        .turn = turn,
    };
    options_defaults(fault->parameters, &scheduled->parameters);
    if (fault->plan)
        fault->plan(&random, &scale, &scheduled->parameters);
}

void plan_random(const struct plan_request *request, struct schedule *out)
{
    struct deck deck;
    if (request->kind_count == 0 || request->length_ns < 3)
        return;
    deck_init(&deck, request);
    struct timing timing = timing_of(request, deck.count);
    for (uint32_t i = 0; i < timing.count; i++) {
        uint32_t turn;
        struct scheduled_fault scheduled = {.fault = deal(&deck, &turn)};
        draw_fault(request, &timing, i, turn, &scheduled);
        schedule_add(out, &scheduled);
    }
}
