/* `coup list`: what the registries hold. */
#include "controller/command.h"

#include "base/knobs.h"
#include "controller/output.h"

static int list_run(const struct command_line *line, struct error *error)
{
    (void)line;
    struct text out = {0};
    for (const struct option *knob = knob_table; knob->name; knob++)
        text_add(&out, "%-24s %-8s %s\n", knob->name, knob->initial, knob->help);
    int rc = output_text(&out, error);
    text_release(&out);
    return rc < 0 ? rc : EXIT_VALID;
}

const struct command command_list = {
    .name = "list",
    .summary = "list algorithms, faults, checks, knobs or planted bugs",
    .arguments = "knobs",
    .arguments_min = 1,
    .arguments_max = 1,
    .run = list_run,
};
