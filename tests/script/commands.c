#include "tests/script/commands.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "base/units.h"
#include "tests/script/words.h"

#define DELIVERIES_MAX 20000u
#define RUN_LATENCY_NS NS_PER_MS

/* Until nothing moves that the filter names; answers to what was delivered included. */
static int do_deliver(struct world *world, const struct words *words, struct error *error)
{
    struct filter filter;
    int rc = read_filter(world, words, &filter, error);
    if (rc < 0)
        return rc;
    uint32_t left = DELIVERIES_MAX;
    for (uint32_t at = 0; at < world->queued && left > 0; left--) {
        const struct message *message = &world->queue[at].message;
        if (filter_matches(&filter, message) && world_can_deliver(world, message))
            world_deliver(world, at);
        else
            at++;
    }
    if (left == 0)
        return error_set(error, -ELOOP, "%u messages and no end", DELIVERIES_MAX);
    return 0;
}

static int do_drop(struct world *world, const struct words *words, struct error *error)
{
    struct filter filter;
    int rc = read_filter(world, words, &filter, error);
    for (uint32_t at = 0; rc == 0 && at < world->queued;) {
        if (filter_matches(&filter, &world->queue[at].message))
            world_drop(world, at);
        else
            at++;
    }
    return rc;
}

static int do_duplicate(struct world *world, const struct words *words, struct error *error)
{
    struct filter filter;
    int rc = read_filter(world, words, &filter, error);
    for (uint32_t at = 0, before = world->queued; rc == 0 && at < before; at++)
        if (filter_matches(&filter, &world->queue[at].message))
            world_send(world, &world->queue[at].message);
    return rc;
}

static int set_links(struct world *world, const struct words *words, enum link_state state,
                     struct error *error)
{
    for (uint32_t i = 1; i < words->count; i++) {
        struct link_pattern pattern;
        int rc = read_link(world, words->at[i], &pattern, error);
        if (rc < 0)
            return rc;
        for (uint32_t from = 1; from <= world->count; from++)
            for (uint32_t to = 1; to <= world->count; to++)
                if (link_matches(&pattern, from, to))
                    world->links[from - 1][to - 1] = state;
    }
    if (words->count == 1)
        memset(world->links, 0, sizeof world->links);
    return 0;
}

static int do_cut(struct world *world, const struct words *words, struct error *error)
{
    return set_links(world, words, LINK_CUT, error);
}

static int do_hold(struct world *world, const struct words *words, struct error *error)
{
    return set_links(world, words, LINK_HELD, error);
}

static int do_heal(struct world *world, const struct words *words, struct error *error)
{
    return set_links(world, words, LINK_OPEN, error);
}

static int do_run(struct world *world, const struct words *words, struct error *error)
{
    uint64_t duration_ns;
    int rc = parse_duration(words->at[1], &duration_ns, error);
    if (rc < 0)
        return rc;
    world->quiet = true;
    world_run(world, duration_ns, RUN_LATENCY_NS);
    world->quiet = false;
    return 0;
}

static int do_tick(struct world *world, const struct words *words, struct error *error)
{
    uint64_t duration_ns;
    int rc = parse_duration(words->at[1], &duration_ns, error);
    if (rc == 0)
        world_run(world, duration_ns, 0);
    return rc;
}

/* What a command does to each of the nodes it names (none named: to all), and in which state they
 * must be for that. */
struct node_command {
    const char *name;
    bool running;
    void (*run)(struct world *world, uint32_t id);
};

static void disk_slow(struct world *world, uint32_t id)
{
    world_node(world, id)->slow_disk = true;
}

static void disk_loss(struct world *world, uint32_t id)
{
    world_node(world, id)->disk = (struct durable){0};
}

static void pause(struct world *world, uint32_t id)
{
    world_node(world, id)->paused = true;
}

static void resume(struct world *world, uint32_t id)
{
    world_node(world, id)->paused = false;
}

static const struct node_command node_commands[] = {
    {"start", false, world_start},
    {"restart", false, world_start},
    {"crash", true, world_crash},
    {"crash-unreported", true, world_crash_unreported},
    {"disk-loss", false, disk_loss},
    {"disk-slow", true, disk_slow},
    {"disk-done", true, world_disk_done},
    {"timeout", true, world_timeout},
    {"pause", true, pause},
    {"resume", true, resume},
};

static int run_node_command(struct world *world, const struct node_command *command,
                            const struct words *words, struct error *error)
{
    uint32_t all = words->count == 1 ? world->count : words->count - 1;
    for (uint32_t i = 1; i <= all; i++) {
        uint32_t id = i;
        int rc = words->count == 1 ? 0 : read_id(world, words->at[i], &id, error);
        if (rc < 0)
            return rc;
        if ((world_node(world, id)->state != NULL) != command->running)
            return error_usage(error, "node %" PRIu32 " is %s", id,
                               command->running ? "not running" : "running");
        command->run(world, id);
    }
    return 0;
}

static int do_command(struct world *world, const struct words *words, struct error *error)
{
    static const char *const names[] = {[COMMAND_TRANSFER] = "transfer",
                                        [COMMAND_RESIGN] = "resign",
                                        [COMMAND_STAND] = "stand",
                                        [COMMAND_FORCE] = "force"};
    struct input input = {.type = INPUT_COMMAND};
    uint32_t id, target = 0;
    int rc = read_id(world, words->at[1], &id, error);
    if (rc == 0 && words->count > 3)
        rc = read_id(world, words->at[3], &target, error);
    if (rc < 0)
        return rc;
    for (uint32_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (strcmp(names[i], words->at[2]) != 0)
            continue;
        input.command.type = (enum command_type)i;
        input.command.target = target;
        world_input(world, id, &input);
        return 0;
    }
    return error_usage(error, "unknown command '%s' (accepted: transfer, resign, stand, force)",
                       words->at[2]);
}

/* inject 1->2 vote-reply TERM [ARGUMENT...]: queue a message nobody sent. */
static int do_inject(struct world *world, const struct words *words, struct error *error)
{
    struct link_pattern link;
    struct message message = {0};
    int rc = read_link(world, words->at[1], &link, error);
    int kind = rc < 0 ? rc : read_kind(world, words->at[2], error);
    if (kind < 0)
        return kind;
    rc = parse_count(words->at[3], &message.term, error);
    for (uint32_t i = 4; rc == 0 && i < words->count && i - 4 < MESSAGE_ARGUMENTS; i++)
        rc = parse_count(words->at[i], &message.argument[i - 4], error);
    if (rc == 0 && (!link.from || !link.to || link.from == link.to))
        rc = error_usage(error, "a message goes from one node to another");
    if (rc < 0)
        return rc;
    message.source = link.from;
    message.target = link.to;
    message.kind = (uint8_t)kind;
    world_send(world, &message);
    return 0;
}

static int do_cluster(struct world *world, const struct words *words, struct error *error)
{
    struct elector_config config = {0};
    uint64_t nodes, witnesses = 0;
    int rc = parse_count(words->at[2], &nodes, error);
    knobs_defaults(&config.knobs);
    for (uint32_t i = 3; rc == 0 && i < words->count; i++) {
        if (strncmp(words->at[i], "witnesses=", 10) == 0)
            rc = parse_count(words->at[i] + 10, &witnesses, error);
        else
            rc = knobs_parse(words->at[i], &config.knobs, error);
    }
    if (rc < 0)
        return rc;
    if (world->count || nodes < 1 || nodes > SCRIPT_NODES_MAX || witnesses >= nodes)
        return error_usage(error, "one cluster of 1 to %u nodes, not all of them witnesses",
                           SCRIPT_NODES_MAX);
    config.nodes = (uint32_t)nodes;
    config.witnesses = (uint32_t)witnesses;
    return world_open(world, words->at[1], &config, error);
}

static int do_phase(struct world *world, const struct words *words, struct error *error)
{
    struct event event = {
        .process = PROCESS_NUMBER(PROCESS_CONTROLLER, 0), .type = EVENT_INFO, .f = F_PHASE};
    (void)error;
    event_set_text(&event, FIELD_NAME, slice_of(words->at[1]));
    world_event(world, &event);
    return 0;
}

static const struct command commands[] = {
    {"cluster", 2, 5, do_cluster},
    {"tick", 1, 1, do_tick},
    {"run", 1, 1, do_run},
    {"deliver", 0, 12, do_deliver},
    {"drop", 0, 12, do_drop},
    {"duplicate", 0, 12, do_duplicate},
    {"cut", 1, 12, do_cut},
    {"hold", 1, 12, do_hold},
    {"heal", 0, 12, do_heal},
    {"command", 2, 3, do_command},
    {"inject", 3, 7, do_inject},
    {"phase", 1, 1, do_phase},
    {.name = NULL},
};

static const struct command *find(const struct command *table, const char *name)
{
    while (table->name && strcmp(table->name, name) != 0)
        table++;
    return table->name ? table : NULL;
}

static int dispatch(struct world *world, const struct words *words, struct error *error)
{
    const char *name = words->at[0];
    for (size_t i = 0; i < sizeof node_commands / sizeof node_commands[0]; i++)
        if (strcmp(node_commands[i].name, name) == 0)
            return run_node_command(world, &node_commands[i], words, error);
    const struct command *command = find(commands, name);
    if (!command)
        command = find(expectations, name);
    if (!command)
        return error_usage(error, "unknown command");
    if (words->count - 1 < command->least || words->count - 1 > command->most)
        return error_usage(error, "takes %u to %u words", command->least, command->most);
    return command->run(world, words, error);
}

int command_run(struct world *world, const char *line, struct error *error)
{
    struct words words;
    int rc = words_split(line, &words, error);
    if (rc < 0 || words.count == 0)
        return rc;
    if (world->count == 0 && strcmp(words.at[0], "cluster") != 0)
        return error_usage(error, "a script begins with cluster");
    rc = dispatch(world, &words, error);
    if (rc < 0)
        error_prefix(error, "%s", words.at[0]);
    return rc;
}
