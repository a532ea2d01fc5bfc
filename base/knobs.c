#include "base/knobs.h"

#include <string.h>

#include "base/units.h"

const struct option knob_table[] = {
#define X(field, name, type, initial, min, max, help) \
    {name, OPTION_##type, initial, UINT64_C(min), UINT64_C(max), NULL, help},
    COUP_KNOBS(X)
#undef X
        {.name = NULL},
};

/* The struct and the table have one order, so values move as a block. */
static void knobs_to_values(const struct knobs *knobs, struct option_values *out)
{
    *out = (struct option_values){0};
    memcpy(out->at, knobs, sizeof *knobs);
}

void knobs_defaults(struct knobs *out)
{
    struct option_values values;
    options_defaults(knob_table, &values);
    memcpy(out, values.at, sizeof *out);
}

static int check_together(const struct knobs *knobs, struct error *error)
{
    char a[UNIT_TEXT_MAX], b[UNIT_TEXT_MAX];
    if (knobs->election_timeout_max < knobs->election_timeout_min)
        return error_usage(error, "election-timeout-max (%s) must be >= election-timeout-min (%s)",
                           format_duration(knobs->election_timeout_max, a),
                           format_duration(knobs->election_timeout_min, b));
    if (knobs->heartbeat * 2 > knobs->election_timeout_min)
        return error_usage(error, "2 x heartbeat (%s) must be <= election-timeout-min (%s)",
                           format_duration(knobs->heartbeat, a),
                           format_duration(knobs->election_timeout_min, b));
    return 0;
}

int knobs_parse(const char *text, struct knobs *knobs, struct error *error)
{
    struct option_values values;
    struct knobs parsed;
    knobs_to_values(knobs, &values);
    int rc = options_parse(knob_table, "knob", text, &values, error);
    if (rc < 0)
        return rc;
    memcpy(&parsed, values.at, sizeof parsed);
    rc = check_together(&parsed, error);
    if (rc == 0)
        *knobs = parsed;
    return rc;
}

void knobs_format(const struct knobs *knobs, bool only_changed, struct text *out)
{
    struct option_values values;
    knobs_to_values(knobs, &values);
    options_format(knob_table, &values, only_changed, out);
}
