#include "tests/script/words.h"

#include <inttypes.h>
#include <string.h>

#include "base/units.h"

int words_split(const char *line, struct words *out, struct error *error)
{
    out->count = 0;
    for (;;) {
        line += strspn(line, " ");
        size_t length = strcspn(line, " ");
        if (length == 0)
            return 0;
        if (out->count == WORDS_MAX || length >= WORD_BYTES)
            return error_usage(error, "a line of at most %d words of %d characters", WORDS_MAX,
                               WORD_BYTES - 1);
        memcpy(out->at[out->count], line, length);
        out->at[out->count++][length] = '\0';
        line += length;
    }
}

int read_id(const struct world *world, const char *text, uint32_t *ret_id, struct error *error)
{
    uint64_t id;
    int rc = parse_count(text, &id, error);
    if (rc == 0 && (id < 1 || id > world->count))
        rc = error_usage(error, "no node %s in a cluster of %" PRIu32, text, world->count);
    if (rc == 0)
        *ret_id = (uint32_t)id;
    return rc;
}

/* One end of "1->2": a node, or 0 for "*". */
static int read_end(const struct world *world, const char *text, size_t length, uint32_t *ret_id,
                    struct error *error)
{
    char copy[WORD_BYTES] = "";
    memcpy(copy, text, length);
    *ret_id = 0;
    return strcmp(copy, "*") == 0 ? 0 : read_id(world, copy, ret_id, error);
}

int read_link(const struct world *world, const char *text, struct link_pattern *out,
              struct error *error)
{
    const char *arrow = strstr(text, "->");
    if (!arrow)
        return error_usage(error, "'%s' is no link (accepted: 1->2, 1<->2, *->2, 1->*)", text);
    bool both = arrow > text && arrow[-1] == '<';
    struct link_pattern read = {.both = both};
    int rc = read_end(world, text, (size_t)(arrow - text) - both, &read.from, error);
    if (rc == 0)
        rc = read_end(world, arrow + 2, strlen(arrow + 2), &read.to, error);
    if (rc == 0)
        *out = read;
    return rc;
}

bool link_matches(const struct link_pattern *pattern, uint32_t from, uint32_t to)
{
    bool there = (!pattern->from || pattern->from == from) && (!pattern->to || pattern->to == to);
    bool back = (!pattern->from || pattern->from == to) && (!pattern->to || pattern->to == from);
    return there || (pattern->both && back);
}

int read_kind(const struct world *world, const char *name, struct error *error)
{
    for (int kind = 0; world->algorithm->kinds[kind]; kind++)
        if (strcmp(world->algorithm->kinds[kind], name) == 0)
            return kind;
    return error_usage(error, "%s has no message '%s'", world->algorithm->name, name);
}

int read_filter(const struct world *world, const struct words *words, struct filter *out,
                struct error *error)
{
    *out = (struct filter){0};
    for (uint32_t i = 1; i < words->count; i++) {
        if (strstr(words->at[i], "->")) {
            int rc = read_link(world, words->at[i], &out->links[out->link_count++], error);
            if (rc < 0)
                return rc;
            continue;
        }
        int kind = read_kind(world, words->at[i], error);
        if (kind < 0)
            return kind;
        out->kinds |= UINT64_C(1) << kind;
    }
    return 0;
}

bool filter_matches(const struct filter *filter, const struct message *message)
{
    bool on_link = filter->link_count == 0;
    for (uint32_t i = 0; i < filter->link_count; i++)
        on_link = on_link || link_matches(&filter->links[i], message->source, message->target);
    return on_link && (filter->kinds == 0 || filter->kinds >> message->kind & 1);
}
