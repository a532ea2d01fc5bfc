#include "nemesis/shipped.h"

#include <string.h>

#include "nemesis/yaml_source.h"

int shipped_parse(const struct shipped_text *shipped, struct scenario *out, struct error *error)
{
    return scenario_parse(shipped->name, slice_of(shipped->text), out, error);
}

int scenario_find(const char *name, struct scenario *out, struct error *error)
{
    if (source_is_path(name))
        return scenario_read(name, out, error);
    for (const struct shipped_text *shipped = shipped_scenarios; shipped->name; shipped++)
        if (strcmp(shipped->name, name) == 0)
            return shipped_parse(shipped, out, error);
    return error_usage(error,
                       "unknown scenario '%.60s' (accepted: names that coup list scenarios shows, "
                       "files that end in .yaml or have a / in their name)",
                       name);
}
