#include "nemesis/network/switch_command.h"

#include <stdlib.h>
#include <string.h>

static const char *const verbs[SWITCH_VERBS] = {"links", "counters"};

void switch_command_format(enum switch_verb verb, const struct link_change *links, uint32_t count,
                           struct text *out)
{
    text_add(out, "%s\n", verbs[verb]);
    for (uint32_t i = 0; i < count; i++) {
        text_add(out, "%u %u ", links[i].from, links[i].to);
        impairment_format(&links[i].impairment, out);
        text_add(out, "\n");
    }
}

void switch_command_release(struct switch_command *command)
{
    free(command->links);
    *command = (struct switch_command){0};
}

/* Cut the text before `end` off `*rest`, and `end` with it; all of it if there is none. */
static struct slice cut_at(struct slice *rest, char end)
{
    const char *found = rest->length ? memchr(rest->at, end, rest->length) : NULL;
    struct slice word = {rest->at, found ? (size_t)(found - rest->at) : rest->length};
    size_t used = word.length + (found ? 1 : 0);
    *rest = (struct slice){rest->at + used, rest->length - used};
    return word;
}

static bool parse_endpoint(struct slice word, uint32_t endpoints, uint32_t *out)
{
    uint32_t value = 0;
    if (word.length == 0 || word.length > 5)
        return false;
    for (size_t i = 0; i < word.length; i++) {
        if (word.at[i] < '0' || word.at[i] > '9')
            return false;
        value = value * 10 + (uint32_t)(word.at[i] - '0');
    }
    *out = value;
    return value < endpoints;
}

static int parse_line(struct slice line, uint32_t endpoints, struct link_change *out,
                      struct error *error)
{
    struct slice rest = line;
    struct link_change parsed = {0};
    bool good = parse_endpoint(cut_at(&rest, ' '), endpoints, &parsed.from) &&
                parse_endpoint(cut_at(&rest, ' '), endpoints, &parsed.to) &&
                parsed.from != parsed.to;
    if (!good)
        return error_usage(error, "'%.*s' does not begin with two endpoints below %u",
                           (int)(line.length < 60 ? line.length : 60), line.at, endpoints);
    struct text impairment = {0};
    text_add_bytes(&impairment, rest.at, rest.length);
    int rc = strlen(text_string(&impairment)) == rest.length
                 ? impairment_parse(text_string(&impairment), &parsed.impairment, error)
                 : error_usage(error, "a zero byte in an impairment");
    text_release(&impairment);
    if (rc == 0)
        *out = parsed;
    return rc;
}

static int parse_lines(struct slice rest, uint32_t endpoints, struct switch_command *command,
                       struct error *error)
{
    while (rest.length) {
        if (command->link_count >= endpoints * (endpoints - 1))
            return error_usage(error, "more lines than there are links");
        if (command->link_count == command->link_capacity) {
            command->link_capacity = command->link_capacity ? command->link_capacity * 2 : 32;
            command->links =
                must_grow(command->links, command->link_capacity, sizeof *command->links);
        }
        int rc =
            parse_line(cut_at(&rest, '\n'), endpoints, &command->links[command->link_count], error);
        if (rc < 0) {
            error_prefix(error, "line %u", command->link_count + 2);
            return rc;
        }
        command->link_count++;
    }
    return 0;
}

static int parse_verb(struct slice word, enum switch_verb *out, struct error *error)
{
    for (uint32_t verb = 0; verb < SWITCH_VERBS; verb++)
        if (slice_equals(word, verbs[verb])) {
            *out = (enum switch_verb)verb;
            return 0;
        }
    return error_usage(error, "'%.*s' is neither links nor counters",
                       (int)(word.length < 60 ? word.length : 60), word.at);
}

int switch_command_parse(struct slice text, uint32_t endpoints, struct switch_command *out,
                         struct error *error)
{
    struct switch_command parsed = {0};
    struct slice rest = text;
    int rc = parse_verb(cut_at(&rest, '\n'), &parsed.verb, error);
    if (rc == 0)
        rc = parse_lines(rest, endpoints, &parsed, error);
    if (rc < 0)
        switch_command_release(&parsed);
    else
        *out = parsed;
    return rc;
}
