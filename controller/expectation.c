#include "controller/expectation.h"

#include <string.h>

#include <jansson.h>

static int unknown_check(const char *name, struct error *error)
{
    struct text accepted = {0};
    for (uint32_t i = 0; checks[i]; i++)
        text_add(&accepted, "%s%s", i ? ", " : "", checks[i]->name);
    int rc =
        error_usage(error, "unknown check '%.60s' (accepted: %s)", name, text_string(&accepted));
    text_release(&accepted);
    return rc;
}

int expectation_parse(const char *text, struct expectation *out, struct error *error)
{
    static const char invalid[] = "invalid";
    struct expectation parsed = {.given = true};
    const char *rest = text + sizeof invalid - 1;
    if (strcmp(text, "valid") == 0) {
        parsed.verdict = VERDICT_VALID;
    } else if (strncmp(text, invalid, sizeof invalid - 1) == 0 && (*rest == '\0' || *rest == ':')) {
        parsed.verdict = VERDICT_INVALID;
        if (*rest == ':') {
            parsed.check = check_find(slice_of(rest + 1));
            if (!parsed.check)
                return unknown_check(rest + 1, error);
        }
    } else {
        return error_usage(error, "'%.60s' is unknown (accepted: valid, invalid, invalid:CHECK)",
                           text);
    }
    *out = parsed;
    return 0;
}

static bool check_is_invalid(const struct report_data *data, const struct check *check)
{
    for (uint32_t i = 0; i < data->result_count; i++)
        if (data->results[i].check == check && data->results[i].owed)
            return data->results[i].finding.verdict == VERDICT_INVALID;
    return false;
}

enum exit_code expectation_judge(const struct expectation *expectation,
                                 const struct report_data *data)
{
    static const enum exit_code plain[] = {
        [VERDICT_VALID] = EXIT_VALID,
        [VERDICT_UNKNOWN] = EXIT_UNKNOWN,
        [VERDICT_INVALID] = EXIT_INVALID,
    };
    if (!expectation->given || data->verdict == VERDICT_UNKNOWN)
        return plain[data->verdict];
    bool met = data->verdict == expectation->verdict &&
               (!expectation->check || check_is_invalid(data, expectation->check));
    return met ? EXIT_VALID : EXIT_INVALID;
}

void expectation_format(const struct expectation *expectation, struct text *out)
{
    text_add(out, "%s", verdict_name(expectation->verdict));
    if (expectation->check)
        text_add(out, ":%s", expectation->check->name);
}

void expectation_line(const struct expectation *expectation, bool met, struct text *out)
{
    if (!expectation->given)
        return;
    text_add(out, met ? "as expected: " : "not as expected: ");
    expectation_format(expectation, out);
    text_add(out, met ? "\n" : " was expected\n");
}

static bool is_text(const json_t *object, const char *key, const char *value)
{
    const char *text = json_string_value(json_object_get(object, key));
    return text && strcmp(text, value) == 0;
}

char *expectation_recorded(struct slice verdict)
{
    json_t *root = json_loadb(verdict.at, verdict.length, 0, NULL), *check;
    struct text out = {0};
    size_t i;
    if (is_text(root, "verdict", "valid"))
        text_add(&out, "valid");
    if (is_text(root, "verdict", "invalid"))
        text_add(&out, "invalid");
    json_array_foreach(json_object_get(root, "checks"), i, check)
    {
        if (!out.at || !is_text(check, "verdict", "invalid"))
            continue;
        text_add(&out, ":%s", json_string_value(json_object_get(check, "name")));
        break;
    }
    json_decref(root);
    return out.at;
}
