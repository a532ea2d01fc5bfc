#include "base/process.h"

#include <stdio.h>
#include <string.h>

/* Kinds with several members carry an index behind the prefix; the others are one name. */
static const struct {
    const char *prefix;
    bool indexed;
} kinds[PROCESS_KINDS] = {
    [PROCESS_NODE] = {"n", true},
    [PROCESS_CLIENT] = {"client-", true},
    [PROCESS_RESOURCE] = {"resource", false},
    [PROCESS_COORDINATOR] = {"coordinator", false},
    [PROCESS_NEMESIS] = {"nemesis", false},
    [PROCESS_CONTROLLER] = {"controller", false},
    [PROCESS_SWITCH] = {"switch", false},
    [PROCESS_TWIN] = {"twin-", true},
};

bool process_valid(uint32_t process)
{
    enum process_kind kind = process_kind(process);
    return kind < PROCESS_KINDS && kinds[kind].indexed == (process_index(process) > 0);
}

const char *process_name(uint32_t process, char buffer[PROCESS_NAME_MAX])
{
    enum process_kind kind = process_kind(process);
    if (kind >= PROCESS_KINDS)
        (void)snprintf(buffer, PROCESS_NAME_MAX, "process-%u", process);
    else if (kinds[kind].indexed)
        (void)snprintf(buffer, PROCESS_NAME_MAX, "%s%u", kinds[kind].prefix,
                       process_index(process));
    else
        (void)snprintf(buffer, PROCESS_NAME_MAX, "%s", kinds[kind].prefix);
    return buffer;
}

static bool parse_index(struct slice digits, uint32_t *out)
{
    uint32_t value = 0;
    if (digits.length == 0 || digits.length > 8 || digits.at[0] == '0')
        return false;
    for (size_t i = 0; i < digits.length; i++) {
        if (digits.at[i] < '0' || digits.at[i] > '9')
            return false;
        value = value * 10 + (uint32_t)(digits.at[i] - '0');
    }
    *out = value;
    return value <= PROCESS_INDEX_MAX;
}

bool process_parse(struct slice name, uint32_t *ret_process)
{
    for (uint32_t kind = 0; kind < PROCESS_KINDS; kind++) {
        size_t length = strlen(kinds[kind].prefix);
        uint32_t index = 0;
        if (name.length < length || memcmp(name.at, kinds[kind].prefix, length) != 0)
            continue;
        struct slice rest = {name.at + length, name.length - length};
        if (kinds[kind].indexed ? !parse_index(rest, &index) : rest.length != 0)
            continue;
        *ret_process = PROCESS_NUMBER(kind, index);
        return true;
    }
    return false;
}
