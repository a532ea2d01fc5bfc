/* `coup list`: what the registries hold, with every name a user may write. */
#include "controller/command.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>

#include "base/knobs.h"
#include "checker/check.h"
#include "checker/linear/model.h"
#include "controller/fault_probe.h"
#include "controller/grid.h"
#include "controller/output.h"
#include "controller/suite_plan.h"
#include "nemesis/fault.h"
#include "nemesis/shipped.h"
#include "nodes/elector.h"

static const struct grid_column option_columns[] = {
    {"name", false}, {"default", false}, {"meaning", false}, {NULL, false}};

static void add_options(struct grid *grid, const struct option *options)
{
    for (const struct option *option = options; option && option->name; option++) {
        grid_row(grid, 1);
        grid_cell(grid, "%s", option->name);
        grid_cell(grid, "%s", option->initial);
        struct text words = {0};
        for (uint32_t i = 0; option->type == OPTION_WORD && option->words[i]; i++)
            text_add(&words, "%s%s", i ? ", " : ": ", option->words[i]);
        grid_cell(grid, "%s%s", option->help, text_string(&words));
        text_release(&words);
    }
}

static void traits_text(uint32_t traits, struct text *out)
{
    for (int trait = 0; trait < TRAITS; trait++)
        if (traits & (1u << trait))
            text_add(out, "%s%s", out->length ? ", " : "", trait_name((enum trait)trait));
}

static const struct grid_column algorithm_columns[] = {
    {"name", false},    {"traits", false},   {"summary", false}, {"reference", true},
    {"promises", true}, {"broken_by", true}, {"messages", true}, {NULL, false}};

static void list_algorithms(struct grid *grid)
{
    for (uint32_t i = 0; algorithms[i]; i++) {
        const struct algorithm *algorithm = algorithms[i];
        struct option_values values;
        struct text traits = {0}, messages = {0};
        options_defaults(algorithm->options, &values);
        for (uint32_t kind = 0; algorithm->kinds[kind]; kind++)
            text_add(&messages, "%s%s", kind ? ", " : "", algorithm->kinds[kind]);
        traits_text(algorithm->traits(&values), &traits);
        grid_row(grid, 0);
        grid_cell(grid, "%s", algorithm->name);
        grid_cell(grid, "%s", text_string(&traits));
        grid_cell(grid, "%s", algorithm->summary);
        grid_cell(grid, "%s", algorithm->reference);
        grid_cell(grid, "%s", algorithm->promises);
        grid_cell(grid, "%s", algorithm->broken_by);
        grid_cell(grid, "%s", text_string(&messages));
        text_release(&messages);
        add_options(grid, algorithm->options);
        text_release(&traits);
    }
}

static const struct grid_column guarantee_columns[] = {
    {"algorithm", false}, {"under", false}, {"holds", false}, {NULL, false}};

static void list_guarantees(struct grid *grid)
{
    for (uint32_t i = 0; algorithms[i]; i++) {
        for (int under = 0; under < UNDERS; under++) {
            grid_row(grid, 0);
            grid_cell(grid, "%s", algorithms[i]->name);
            grid_cell(grid, "%s", under_names[under]);
            grid_cell(grid, "%s", algorithms[i]->bears[under]);
        }
        grid_row(grid, 0);
        grid_cell(grid, "%s", algorithms[i]->name);
        grid_cell(grid, "broken by");
        grid_cell(grid, "%s", algorithms[i]->broken_by);
    }
}

static const struct grid_column bug_columns[] = {
    {"name", false}, {"caught_by", false}, {"faults", false}, {"summary", false}, {NULL, false}};

static void list_bugs(struct grid *grid)
{
    for (uint32_t i = 0; algorithms[i]; i++)
        for (const struct bug *bug = algorithms[i]->bugs; bug && bug->name; bug++) {
            grid_row(grid, 0);
            grid_cell(grid, "%s:%s%sbug=%s", algorithms[i]->name, bug->options,
                      *bug->options ? "," : "", bug->name);
            grid_cell(grid, "%s", bug->check);
            grid_cell(grid, "%s", bug->faults);
            grid_cell(grid, "%s", bug->summary);
        }
}

static const struct grid_column fault_columns[] = {
    {"name", false}, {"group", false}, {"summary", false}, {"here", true}, {NULL, false}};

/* "here": whether it can be done to real processes; coup doctor says why not. */
static void list_faults(struct grid *grid)
{
    struct fault_probes probes = {0};
    struct error error;
    const char *fix;
    for (uint32_t i = 0; faults[i]; i++) {
        bool here = fault_probe(&probes, faults[i], &error, &fix) == 0;
        grid_row(grid, 0);
        grid_cell(grid, "%s", faults[i]->name);
        grid_cell(grid, "%s", faults[i]->group);
        grid_cell(grid, "%s%s", faults[i]->summary,
                  here ? "" : " (not on this machine: see coup doctor)");
        grid_cell(grid, "%s", here ? "yes" : "no");
        add_options(grid, faults[i]->parameters);
    }
}

static const struct grid_column check_columns[] = {
    {"name", false}, {"needs", false}, {"summary", false}, {NULL, false}};

static void list_checks(struct grid *grid)
{
    for (uint32_t i = 0; checks[i]; i++) {
        struct text traits = {0};
        traits_text(checks[i]->traits, &traits);
        grid_row(grid, 0);
        grid_cell(grid, "%s", checks[i]->name);
        grid_cell(grid, "%s", text_string(&traits));
        grid_cell(grid, "%s", checks[i]->summary);
        text_release(&traits);
    }
}

static const struct grid_column knob_columns[] = {
    {"name", false}, {"default", false}, {"range", false}, {"meaning", false}, {NULL, false}};

static void list_knobs(struct grid *grid)
{
    for (const struct option *knob = knob_table; knob->name; knob++) {
        struct text range = {0};
        options_format_one(knob, knob->min, &range);
        text_add(&range, "..");
        options_format_one(knob, knob->max, &range);
        grid_row(grid, 0);
        grid_cell(grid, "%s", knob->name);
        grid_cell(grid, "%s", knob->initial);
        grid_cell(grid, "%s", text_string(&range));
        grid_cell(grid, "%s", knob->help);
        text_release(&range);
    }
}

static const struct grid_column scenario_columns[] = {{"name", false},   {"algorithm", false},
                                                      {"expect", false}, {"summary", false},
                                                      {"source", true},  {NULL, false}};

/* They are read at test time: one that cannot be is our own bug. */
static void list_scenarios(struct grid *grid)
{
    for (const struct shipped_text *shipped = shipped_scenarios; shipped->name; shipped++) {
        struct scenario scenario;
        struct error error;
        int rc = shipped_parse(shipped, &scenario, &error);
        assert(rc == 0);
        (void)rc;
        grid_row(grid, 0);
        grid_cell(grid, "%s", shipped->name);
        grid_cell(grid, "%s", scenario.algorithm);
        grid_cell(grid, "%s", scenario.expect);
        grid_cell(grid, "%s", scenario.summary);
        grid_cell(grid, "%s", scenario.source);
        scenario_release(&scenario);
    }
}

static const struct grid_column model_columns[] = {
    {"model", false}, {"what it is", false}, {NULL, false}};

static void list_models(struct grid *grid)
{
    for (uint32_t i = 0; linear_models[i]; i++) {
        grid_row(grid, 0);
        grid_cell(grid, "%s", linear_models[i]->name);
        grid_cell(grid, "%s", linear_models[i]->summary);
    }
}

static const struct grid_column suite_columns[] = {
    {"name", false}, {"cells", false}, {"budget", false}, {"summary", false}, {NULL, false}};

static void list_suites(struct grid *grid)
{
    for (const struct shipped_text *shipped = shipped_suites; shipped->name; shipped++) {
        struct suite suite;
        struct error error;
        char budget[UNIT_TEXT_MAX];
        int rc = suite_parse(shipped->name, slice_of(shipped->text), &suite, &error);
        assert(rc == 0); /* as with scenarios */
        (void)rc;
        grid_row(grid, 0);
        grid_cell(grid, "%s", shipped->name);
        grid_cell(grid, "%" PRIu32, suite.count);
        grid_cell(grid, "%s", suite.budget_ns ? format_duration(suite.budget_ns, budget) : "-");
        grid_cell(grid, "%s", suite.summary);
        suite_release(&suite);
    }
}

static const struct listing {
    const char *name;
    const struct grid_column *columns;
    const char *inner;
    void (*fill)(struct grid *grid);
} listings[] = {
    {"algorithms", algorithm_columns, "options", list_algorithms},
    {"guarantees", guarantee_columns, NULL, list_guarantees},
    {"faults", fault_columns, "parameters", list_faults},
    {"checks", check_columns, NULL, list_checks},
    {"knobs", knob_columns, NULL, list_knobs},
    {"bugs", bug_columns, NULL, list_bugs},
    {"scenarios", scenario_columns, NULL, list_scenarios},
    {"models", model_columns, NULL, list_models},
    {"suites", suite_columns, NULL, list_suites},
};

#define LISTINGS (sizeof listings / sizeof listings[0])

static const struct listing *find_listing(const char *name, struct error *error)
{
    struct text accepted = {0};
    for (size_t i = 0; i < LISTINGS; i++) {
        if (slice_equals(slice_of(name), listings[i].name)) {
            text_release(&accepted);
            return &listings[i];
        }
        text_add(&accepted, "%s%s", i ? ", " : "", listings[i].name);
    }
    (void)error_usage(error, "unknown list '%.60s' (accepted: %s)", name, text_string(&accepted));
    text_release(&accepted);
    return NULL;
}

static int list_run(const struct command_line *line, struct error *error)
{
    const struct listing *listing = find_listing(line->arguments[0], error);
    if (!listing)
        return -EINVAL;
    struct grid grid = {
        .columns = listing->columns, .inner = listing->inner, .inner_columns = option_columns};
    struct text out = {0};
    listing->fill(&grid);
    if (command_given(line, "json")) {
        text_add(&out, "{\"%s\":", listing->name);
        grid_json(&grid, &out);
        text_add(&out, "}\n");
    } else {
        grid_text(&grid, output_columns(), output_colour(), &out);
    }
    int rc = output_text(&out, error);
    text_release(&out);
    grid_release(&grid);
    return rc < 0 ? rc : EXIT_VALID;
}

static const struct command_option list_options[] = {
    {.name = "json", .help = "print one JSON object"},
    {.name = NULL},
};

static const char *const list_examples[] = {
    "coup list algorithms",
    "coup list faults --json",
    NULL,
};

const struct command command_list = {
    .name = "list",
    .summary = "list algorithms, what they guarantee, faults, checks, knobs, planted bugs, "
               "scenarios, models or suites",
    .arguments = "algorithms|guarantees|faults|checks|knobs|bugs|scenarios|models|suites",
    .arguments_min = 1,
    .arguments_max = 1,
    .options = list_options,
    .examples = list_examples,
    .run = list_run,
};
