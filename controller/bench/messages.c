/* `coup bench messages`: what one election costs in messages against the number of nodes, in the
 * simulator, beside what the papers say; and what agreeing on anything costs with a leader and
 * without one. All nodes start within some milliseconds and elect their first leader. */
#include <inttypes.h>
#include <string.h>

#include "base/units.h"
#include "controller/algorithm_list.h"
#include "controller/bench.h"
#include "controller/grid.h"
#include "controller/output.h"
#include "simulator/sim.h"

#define SIZES_MAX 16u

/* Of an election that nobody disturbs; a and b: messages are a * n * n + b * n + c. */
static const struct formula {
    const char *algorithm, *words;
    int64_t square, linear, constant;
} formulas[] = {
    {"raft", "4 (n - 1): pre-votes and votes, asked and answered", 0, 4, -4},
    {"paxos", "2 (n - 1): prepares and promises", 0, 2, -2},
    {"quorum-lease", "2 (n - 1): asked and granted", 0, 2, -2},
    {"bully", "n (n - 1) at most: all ask all above them, who answer", 1, -1, 0},
    {"ring", "4 n: once round to collect, once to announce, each acknowledged", 0, 4, 0},
    {"zab", "n (n - 1) votes at least, 3 (n - 1) for discovery", 1, 2, -3},
    {"invitation", "two rounds of invitations and answers, groups that meet merge", 0, 0, 0},
    {"successors", "as its fallback; the first successor then leads unasked", 0, 0, 0},
};

struct request {
    const struct command_line *line;
    uint32_t sizes[SIZES_MAX];
    uint32_t size_count;
    struct grid grid;
};

static const struct formula *formula_of(const char *algorithm)
{
    for (size_t i = 0; i < sizeof formulas / sizeof formulas[0]; i++)
        if (slice_equals(slice_of(algorithm), formulas[i].algorithm))
            return &formulas[i];
    return NULL;
}

/* They go on for ever; those of the first moment announce the leader. */
static bool is_beat(const char *kind)
{
    return strncmp(kind, "heartbeat", 9) == 0 || strncmp(kind, "ping", 4) == 0;
}

static const struct grid_column columns[] = {
    {"algorithm", false}, {"nodes", false}, {"messages", false}, {"formula", false},
    {"after", false},     {"kinds", false}, {NULL, false},
};

static void add_row(struct request *request, const char *algorithm, const struct sim_config *config,
                    const struct sim_first *first)
{
    const struct formula *formula = formula_of(config->algorithm->name);
    struct grid *grid = &request->grid;
    struct text kinds = {0};
    char after[UNIT_TEXT_MAX];
    int64_t nodes = config->elector.nodes, all = 0;
    for (uint32_t i = 0; config->algorithm->kinds[i]; i++) {
        if (!is_beat(config->algorithm->kinds[i]))
            all += (int64_t)first->messages[i];
        if (first->messages[i])
            text_add(&kinds, "%s%s=%" PRIu64, kinds.length ? "," : "", config->algorithm->kinds[i],
                     first->messages[i]);
    }
    grid_row(grid, 0);
    grid_cell(grid, "%s", algorithm);
    grid_cell(grid, "%" PRId64, nodes);
    grid_cell(grid, "%" PRId64, all);
    if (formula && (formula->square || formula->linear))
        grid_cell(grid, "%" PRId64,
                  formula->square * nodes * nodes + formula->linear * nodes + formula->constant);
    else
        grid_cell(grid, "-");
    grid_cell(grid, "%s",
              first->leader_ns == UINT64_MAX ? "no leader"
                                             : human_duration(first->leader_ns, after));
    grid_cell(grid, "%s", text_string(&kinds));
    text_release(&kinds);
}

static int elect(struct request *request, const char *algorithm, uint32_t nodes,
                 struct error *error)
{
    struct sim_config config = {
        .elector.nodes = nodes, .seed = command_number(request->line, "seed"), .record = SIM_BARE};
    struct sim_result result;
    knobs_defaults(&config.elector.knobs);
    physics_defaults(&config.physics);
    config.physics.fsync_max = 0; /* each node forces many records in a moment */
    int rc = algorithm_parse(algorithm, &config.algorithm, &config.elector, error);
    if (rc == 0)
        rc = sim_run(&config, &result, error);
    if (rc < 0)
        return rc;
    add_row(request, algorithm, &config, &result.first);
    sim_result_release(&result);
    return 0;
}

static int parse_sizes(struct request *request, struct error *error)
{
    const char *list = command_text(request->line, "nodes");
    struct text word = {0};
    int rc = 0;
    for (bool more = true; more && rc == 0;) {
        size_t length = strcspn(list, ",");
        uint64_t nodes = 0;
        text_clear(&word);
        text_add_bytes(&word, list, length);
        rc = parse_count(text_string(&word), &nodes, error);
        if (rc == 0 && (nodes < 2 || nodes > SIMULATED_NODES_MAX))
            rc = error_usage(error, "%" PRIu64 " must be between 2 and %u", nodes,
                             SIMULATED_NODES_MAX);
        if (rc == 0 && request->size_count == SIZES_MAX)
            rc = error_usage(error, "more than %u numbers", SIZES_MAX);
        if (rc == 0)
            request->sizes[request->size_count++] = (uint32_t)nodes;
        more = list[length] == ',';
        list += length + more;
    }
    text_release(&word);
    if (rc < 0)
        error_prefix(error, "--nodes");
    return rc;
}

/* One decision by all: each tells each, or the leader proposes, is answered and tells. */
static void add_decisions(const struct request *request, struct text *out)
{
    text_add(out,
             "\none decision        nodes  each tells each, n (n - 1)  through a leader, n + 1\n");
    for (uint32_t i = 0; i < request->size_count; i++) {
        uint64_t nodes = request->sizes[i];
        text_add(out, "%25" PRIu64 "  %26" PRIu64 "  %23" PRIu64 "\n", nodes, nodes * (nodes - 1),
                 nodes + 1);
    }
}

static void add_formulas(struct text *out)
{
    text_add(out, "\n");
    for (size_t i = 0; i < sizeof formulas / sizeof formulas[0]; i++)
        text_add(out, "%-13s %s\n", formulas[i].algorithm, formulas[i].words);
}

static int measure(struct request *request, struct text *name, struct error *error)
{
    const char *list = command_text(request->line, "algorithm");
    int rc = parse_sizes(request, error);
    while (rc == 0 && algorithm_list_next(&list, name))
        for (uint32_t i = 0; rc == 0 && i < request->size_count; i++)
            rc = elect(request, text_string(name), request->sizes[i], error);
    return rc;
}

static int run(const struct command_line *line, struct error *error)
{
    struct request request = {.line = line, .grid = {.columns = columns}};
    struct text name = {0}, out = {0};
    int rc = measure(&request, &name, error);
    if (rc == 0) {
        grid_text(&request.grid, 0, false, &out);
        add_formulas(&out);
        add_decisions(&request, &out);
        rc = output_text(&out, error);
    }
    grid_release(&request.grid);
    text_release(&name);
    text_release(&out);
    return rc < 0 ? rc : EXIT_VALID;
}

static const struct command_option options[] = {
    {"algorithm", 'a', ARGUMENT_TEXT, "NAME[:OPTION=VALUE,...],...",
     "raft,paxos,zab,quorum-lease,bully,ring,successors", 0, 0, NULL, "election algorithms"},
    {"nodes", 'n', ARGUMENT_TEXT, "N,...", "3,5,10,50,100", 0, 0, NULL,
     "numbers of nodes, up to 10000"},
    {"seed", 's', ARGUMENT_COUNT, "S", "1", 0, UINT64_MAX, NULL, "of all random choices"},
    {.name = NULL},
};

static const char *const examples[] = {
    "coup bench messages -a ring,raft -n 10,100,1000",
    NULL,
};

const struct command bench_messages = {
    .name = "messages",
    .summary = "messages of a first election against the number of nodes, by kind",
    .arguments = "",
    .details =
        "Simulated: what was sent by the time the first leader was there. Heartbeats and pings "
        "are told, but not counted.",
    .options = options,
    .examples = examples,
    .run = run,
};
