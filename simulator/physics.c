#include <string.h>

#include "base/units.h"
#include "simulator/sim.h"

const struct option physics_table[] = {
#define X(field, name, type, initial, min, max, help) \
    {name, OPTION_##type, initial, UINT64_C(min), UINT64_C(max), NULL, help},
    COUP_PHYSICS(X)
#undef X
        {.name = NULL},
};

static void physics_to_values(const struct physics *physics, struct option_values *out)
{
    *out = (struct option_values){0};
    memcpy(out->at, physics, sizeof *physics);
}

void physics_defaults(struct physics *out)
{
    struct option_values values;
    options_defaults(physics_table, &values);
    memcpy(out, values.at, sizeof *out);
}

static int check_order(uint64_t low, uint64_t high, const char *what, struct error *error)
{
    char a[UNIT_TEXT_MAX], b[UNIT_TEXT_MAX];
    if (low <= high)
        return 0;
    return error_usage(error, "%s-max (%s) must be >= %s-min (%s)", what, format_duration(high, a),
                       what, format_duration(low, b));
}

int physics_parse(const char *text, struct physics *physics, struct error *error)
{
    struct option_values values;
    struct physics parsed;
    physics_to_values(physics, &values);
    int rc = options_parse(physics_table, "physics", text, &values, error);
    if (rc < 0)
        return rc;
    memcpy(&parsed, values.at, sizeof parsed);
    rc = check_order(parsed.latency_min, parsed.latency_max, "latency", error);
    if (rc == 0)
        rc = check_order(parsed.fsync_min, parsed.fsync_max, "fsync", error);
    if (rc == 0)
        *physics = parsed;
    return rc;
}

void physics_format(const struct physics *physics, bool only_changed, struct text *out)
{
    struct option_values values;
    physics_to_values(physics, &values);
    options_format(physics_table, &values, only_changed, out);
}
