/* One elector of any algorithm under inputs that the codec would let through, in any order: other
 * nodes may say anything, the clock may leap forward, the node may crash at any moment. What a
 * driver relies on must hold after each step. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/units.h"
#include "nodes/coordination.h"
#include "nodes/elector.h"
#include "nodes/wire.h"

#define NODES_LIMIT 7u
#define STEPS_MAX 400

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

struct subject {
    const struct algorithm *algorithm;
    struct elector_config config;
    void *state;
    uint64_t now_ns;
    struct output output;
    struct durable disk;
    int term_word; /* index of the durable word "term", or -1 */
    struct belief last;
    struct message heard; /* the last one, to answer or repeat */
};

static int find_term_word(const struct algorithm *algorithm)
{
    for (int i = 0; algorithm->durable && algorithm->durable[i]; i++)
        if (strcmp(algorithm->durable[i], "term") == 0)
            return i;
    return -1;
}

static void vet_message(const struct subject *subject, const struct message *message)
{
    uint32_t target = election_process(message->target);
    bool service = algorithm_has_service(subject->algorithm->traits(&subject->config.options));
    assert(message->source == subject->config.id && message->target != message->source);
    struct wire_context context = {1, target, subject->config.nodes,
                                   algorithm_kind_count(subject->algorithm), service};
    struct envelope envelope = {1, message->source, target, WIRE_ELECTION, {*message}};
    struct envelope got;
    struct text bytes = {0};
    struct error error;
    uint32_t ids[NODES_LIMIT];
    wire_encode(&envelope, &bytes);
    int rc = wire_decode(&context, (const uint8_t *)bytes.at, bytes.length, ids, &got, &error);
    assert(rc == 0);
    text_release(&bytes);
}

/* Where votes are counted, a term is durable before anybody hears of it. */
static void vet_durability(const struct subject *subject)
{
    const uint32_t promising = 1u << TRAIT_MAJORITY | 1u << TRAIT_DURABLE;
    uint32_t traits = subject->algorithm->traits(&subject->config.options);
    bool owed = subject->term_word >= 0 && (traits & promising) == promising;
    if (owed && subject->output.message_count)
        assert(subject->output.belief.term <= subject->disk.word[subject->term_word]);
}

static void vet_belief(const struct subject *subject)
{
    const struct belief *belief = &subject->output.belief;
    assert(belief->role <= ROLE_LEADER && belief->leader <= subject->config.nodes);
    assert(belief->term >= subject->last.term);
    if (belief->role == ROLE_LEADER) {
        assert(belief->leader == subject->config.id);
        assert(!belief->may_act || belief->token > 0);
        assert(!elector_is_witness(&subject->config, subject->config.id));
    } else {
        assert(belief->token == 0 && !belief->may_act && belief->until_ns == 0);
    }
}

static void vet_notes(const struct subject *subject)
{
    for (uint32_t i = 0; i < subject->output.note_count; i++) {
        const struct note *note = &subject->output.notes[i];
        assert(note->f < EVENT_FS && note->peer <= subject->config.nodes);
        assert(note->f != F_LEAD && note->f != F_STEP_DOWN && note->f != F_FOLLOW);
        assert(note->f != F_VOTE || note->peer >= 1);
    }
}

static bool same_belief(const struct belief *a, const struct belief *b)
{
    return a->role == b->role && a->leader == b->leader && a->term == b->term &&
           a->token == b->token;
}

/* A wake before the deadline does nothing; one at the deadline sets a later one. */
static void vet_wake(const struct subject *subject, uint64_t deadline_ns)
{
    if (subject->now_ns >= deadline_ns) {
        assert(subject->output.wake_ns > subject->now_ns);
        return;
    }
    assert(subject->output.note_count == 0 && subject->output.message_count == 0);
    assert(!subject->output.persist && same_belief(&subject->output.belief, &subject->last));
}

static void step(struct subject *subject, struct input input)
{
    uint64_t deadline_ns = subject->output.wake_ns;
    input.now_ns = input.wall_ns = subject->now_ns;
    output_reset(&subject->output);
    subject->algorithm->step(subject->state, &input, &subject->output);
    assert(!subject->output.send_before_persist);
    if (subject->output.persist)
        subject->disk = subject->output.durable;
    for (uint32_t i = 0; i < subject->output.message_count; i++)
        vet_message(subject, &subject->output.messages[i]);
    vet_durability(subject);
    vet_belief(subject);
    vet_notes(subject);
    if (input.type == INPUT_WAKE)
        vet_wake(subject, deadline_ns);
    if (subject->output.message_count)
        subject->heard = subject->output.messages[subject->output.message_count - 1];
    subject->last = subject->output.belief;
}

static void start(struct subject *subject)
{
    free(subject->state);
    subject->state = must_alloc(1, subject->algorithm->state_size(&subject->config));
    subject->config.seed++;
    subject->last = (struct belief){0};
    subject->output.wake_ns = UINT64_MAX;
    subject->algorithm->init(subject->state, &subject->config);
    struct durable stored = subject->disk;
    step(subject, (struct input){.type = INPUT_START, .stored = &stored});
}

/* Terms and arguments near what the node itself says are the interesting ones. */
static uint64_t some_number(const struct subject *subject, struct choices *choices)
{
    switch (choose(choices, 8)) {
    case 0: return subject->last.term + choose(choices, 4);
    case 1: return subject->last.term - (subject->last.term > 0);
    case 2: return subject->heard.argument[choose(choices, MESSAGE_ARGUMENTS)];
    case 3: return subject->now_ns - choose(choices, 4) * NS_PER_MS;
    case 4: return subject->now_ns + choose(choices, 4) * NS_PER_MS;
    case 5: return (UINT64_C(1) << 40) - choose(choices, 2);
    default: return choose(choices, 8);
    }
}

static void message(struct subject *subject, struct choices *choices)
{
    const uint32_t nodes = subject->config.nodes;
    uint32_t ids[NODES_LIMIT];
    bool service = algorithm_has_service(subject->algorithm->traits(&subject->config.options));
    if (nodes == 1 && !service)
        return;
    uint32_t peer = 1 + choose(choices, nodes > 1 ? nodes - 1 : 1);
    uint32_t source = peer + (peer >= subject->config.id);
    struct message message = {
        .source = service ? SERVICE_ID : source,
        .target = subject->config.id,
        .kind = (uint8_t)choose(choices, algorithm_kind_count(subject->algorithm)),
        .term = some_number(subject, choices),
        .ids = ids,
        .id_count = choose(choices, nodes + 1),
    };
    for (uint32_t i = 0; i < MESSAGE_ARGUMENTS; i++)
        message.argument[i] = some_number(subject, choices);
    for (uint32_t i = 0; i < message.id_count; i++)
        ids[i] = 1 + choose(choices, nodes);
    step(subject, (struct input){.type = INPUT_MESSAGE, .message = &message});
}

static void command(struct subject *subject, struct choices *choices)
{
    struct input input = {.type = INPUT_COMMAND};
    input.command.type = (enum command_type)choose(choices, COMMAND_FORCE + 1);
    input.command.target = choose(choices, subject->config.nodes + 2);
    step(subject, input);
}

static void one_input(struct subject *subject, struct choices *choices)
{
    switch (choose(choices, 8)) {
    case 0: start(subject); break;
    case 1: command(subject, choices); break;
    case 2: /* to the deadline, at times far beyond it */
        if (subject->output.wake_ns != UINT64_MAX && subject->output.wake_ns > subject->now_ns)
            subject->now_ns = subject->output.wake_ns + choose(choices, 4) * NS_PER_S;
        step(subject, (struct input){.type = INPUT_WAKE});
        break;
    case 3:
        subject->now_ns += choose(choices, 64) * NS_PER_MS;
        step(subject, (struct input){.type = INPUT_WAKE});
        break;
    default: message(subject, choices); break;
    }
}

/* COUP_FUZZ_ALGORITHM names the only one to fuzz. */
static const struct algorithm *choose_algorithm(struct choices *choices)
{
    const char *only = getenv("COUP_FUZZ_ALGORITHM");
    uint32_t count = 0;
    while (algorithms[count])
        count++;
    const struct algorithm *chosen = algorithms[choose(choices, count)];
    return only ? algorithm_find(slice_of(only)) : chosen;
}

/* A cluster and options as a user could ask for them; false if they are refused. */
static bool configure(struct subject *subject, struct choices *choices)
{
    struct error error;
    subject->algorithm = choose_algorithm(choices);
    struct elector_config *config = &subject->config;
    config->nodes = 1 + choose(choices, NODES_LIMIT);
    config->id = 1 + choose(choices, config->nodes);
    config->witnesses = choose(choices, 2) ? choose(choices, config->nodes) : 0;
    knobs_defaults(&config->knobs);
    const struct option *options = subject->algorithm->options;
    options_defaults(options, &config->options);
    for (uint32_t i = 0; i < options_count(options); i++)
        if (options[i].type == OPTION_SWITCH)
            config->options.at[i] = choose(choices, 2);
    subject->term_word = find_term_word(subject->algorithm);
    return !subject->algorithm->validate || subject->algorithm->validate(config, &error) == 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct choices choices = {data, data + size};
    struct subject subject = {.now_ns = NS_PER_S};
    if (configure(&subject, &choices)) {
        start(&subject);
        for (int i = 0; i < STEPS_MAX && choices.at < choices.end; i++)
            one_input(&subject, &choices);
    }
    free(subject.state);
    output_release(&subject.output);
    return 0;
}
