/* `coup doctor`: what this machine can do, and the one command that fixes each gap. */
#include "controller/command.h"

#include "controller/fault_probe.h"
#include "controller/grid.h"
#include "controller/output.h"
#include "controller/probe.h"

static const struct grid_column columns[] = {
    {"name", false},   {"state", false}, {"required", false}, {"needed_for", false},
    {"problem", true}, {"fix", true},    {NULL, false}};

/* Fills the grid, appends the problems for people. Returns how many required things are missing.
 */
static uint32_t examine(struct grid *grid, struct text *problems)
{
    uint32_t missing = 0;
    for (const struct probe *probe = probes; probe->name; probe++) {
        struct error error = {.text = ""};
        const char *fix = NULL;
        bool ok = probe->run(&error, &fix) == 0;
        grid_row(grid, 0);
        grid_cell(grid, "%s", probe->name);
        grid_cell(grid, "%s", ok ? "ok" : "missing");
        grid_cell(grid, "%s", probe->required ? "yes" : "no");
        grid_cell(grid, "%s", probe->purpose);
        grid_cell(grid, "%s", ok ? "" : error.text);
        grid_cell(grid, "%s", !ok && fix ? fix : "");
        if (ok)
            continue;
        missing += probe->required;
        text_add(problems, "\n%s: %s\n  fix: %s\n", probe->name, error.text,
                 fix ? fix : "none known on this kernel");
    }
    return missing;
}

static const struct grid_column fault_columns[] = {{"name", false},  {"group", false},
                                                   {"state", false}, {"problem", false},
                                                   {"fix", false},   {NULL, false}};

static void examine_faults(struct grid *grid)
{
    struct fault_probes done = {0};
    for (int i = 0; faults[i]; i++) {
        struct error error = {.text = ""};
        const char *fix = NULL;
        bool ok = fault_probe(&done, faults[i], &error, &fix) == 0;
        grid_row(grid, 0);
        grid_cell(grid, "%s", faults[i]->name);
        grid_cell(grid, "%s", faults[i]->group);
        grid_cell(grid, "%s", ok ? "available" : "missing");
        grid_cell(grid, "%s", ok ? "" : error.text);
        grid_cell(grid, "%s", ok ? "" : fix ? fix : "none known on this kernel");
    }
}

static int doctor_run(const struct command_line *line, struct error *error)
{
    struct grid grid = {.columns = columns}, fault_grid = {.columns = fault_columns};
    struct text problems = {0}, out = {0};
    uint32_t missing = examine(&grid, &problems);
    examine_faults(&fault_grid);
    if (command_given(line, "json")) {
        text_add(&out, "{\"possible\":%s,\"machine\":", missing ? "false" : "true");
        grid_json(&grid, &out);
        text_add(&out, ",\"faults\":");
        grid_json(&fault_grid, &out);
        text_add(&out, "}\n");
    } else {
        grid_text(&grid, output_columns(), output_colour(), &out);
        text_add(&out, "\n");
        grid_text(&fault_grid, output_columns(), output_colour(), &out);
        text_add(&out, "%s\n%s\n", text_string(&problems),
                 missing ? "A run is not possible on this machine."
                         : "A run is possible on this machine.");
    }
    int rc = output_text(&out, error);
    grid_release(&grid);
    grid_release(&fault_grid);
    text_release(&problems);
    text_release(&out);
    if (rc < 0)
        return rc;
    return missing ? EXIT_HARNESS : EXIT_VALID;
}

static const struct command_option doctor_options[] = {
    {.name = "json", .help = "print one JSON object"},
    {.name = NULL},
};

const struct command command_doctor = {
    .name = "doctor",
    .summary = "show what this machine can do, and what fixes each gap",
    .arguments = "",
    .details =
        "Everything is tried out in a child process with namespaces of its own; nothing on "
        "the machine changes. Each fault is listed with what keeps it from real "
        "processes here; in the simulator all work. Exit code 0 if a run is possible, else 3.",
    .options = doctor_options,
    .run = doctor_run,
};
