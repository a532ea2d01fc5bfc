#include "tests/events.h"

#include <assert.h>
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/units.h"

/* A line being read. */
struct line {
    struct events *events;
    const char *at, *end;
    struct event event;
    struct error *error;
};

static char *keep_text(struct events *events, struct slice text)
{
    if (events->text_count == events->text_capacity) {
        events->text_capacity = events->text_capacity ? events->text_capacity * 2 : 16;
        events->texts = must_grow(events->texts, events->text_capacity, sizeof *events->texts);
    }
    char *copy = must_alloc(text.length + 1, 1);
    memcpy(copy, text.at, text.length);
    events->texts[events->text_count++] = copy;
    return copy;
}

/* The next word, quotes kept together but not stripped; empty at the end of the line. */
static struct slice next_word(struct line *line)
{
    bool quoted = false;
    while (line->at < line->end && *line->at == ' ')
        line->at++;
    const char *start = line->at;
    for (; line->at < line->end && (quoted || *line->at != ' '); line->at++)
        if (*line->at == '"')
            quoted = !quoted;
    return (struct slice){start, (size_t)(line->at - start)};
}

/* A plain number or a duration. */
static int read_number(struct line *line, struct slice word, uint64_t *out)
{
    char text[40];
    if (word.length == 0 || word.length >= sizeof text)
        return error_usage(line->error, "'%.*s' is no number", (int)word.length, word.at);
    memcpy(text, word.at, word.length);
    text[word.length] = '\0';
    return isalpha((unsigned char)text[word.length - 1]) ? parse_duration(text, out, line->error)
                                                         : parse_count(text, out, line->error);
}

static int read_value(struct line *line, enum event_field field, struct slice value)
{
    uint64_t number = 0;
    uint32_t process = 0;
    int rc = 0;
    switch (event_field_kind(field)) {
    case FIELD_KIND_NUMBER:
        rc = read_number(line, value, &number);
        event_set(&line->event, field, number);
        break;
    case FIELD_KIND_PROCESS:
        if (!process_parse(value, &process))
            return error_usage(line->error, "'%.*s' is no process", (int)value.length, value.at);
        event_set(&line->event, field, process);
        break;
    case FIELD_KIND_TEXT:
        if (value.length >= 2 && value.at[0] == '"')
            value = (struct slice){value.at + 1, value.length - 2};
        event_set_text(&line->event, field, value);
        break;
    }
    return rc;
}

static int read_field(struct line *line, struct slice word)
{
    const char *equals = memchr(word.at, '=', word.length);
    if (!equals)
        return error_usage(line->error, "'%.*s' is no FIELD=VALUE", (int)word.length, word.at);
    struct slice name = {word.at, (size_t)(equals - word.at)};
    struct slice value = {equals + 1, word.length - name.length - 1};
    int field = event_field_parse(name);
    if (field < 0)
        return error_usage(line->error, "unknown field '%.*s'", (int)name.length, name.at);
    return read_value(line, (enum event_field)field, value);
}

/* TIME [@NODE-TIME] PROCESS F [TYPE]; what follows is left to the caller. */
static int read_head(struct line *line, struct slice *ret_next)
{
    int rc = read_number(line, next_word(line), &line->event.time_ns);
    struct slice word = next_word(line);
    if (rc == 0 && word.length && word.at[0] == '@') {
        rc = read_number(line, (struct slice){word.at + 1, word.length - 1}, &line->event.node_ns);
        word = next_word(line);
    }
    if (rc < 0)
        return rc;
    if (!process_parse(word, &line->event.process))
        return error_usage(line->error, "'%.*s' is no process", (int)word.length, word.at);
    word = next_word(line);
    int f = event_f_parse(word);
    if (f < 0)
        return error_usage(line->error, "'%.*s' is no kind of event", (int)word.length, word.at);
    line->event.f = (uint8_t)f;
    line->event.type = EVENT_INFO;
    *ret_next = next_word(line);
    int type = event_type_parse(*ret_next);
    if (type >= 0) {
        line->event.type = (uint8_t)type;
        *ret_next = next_word(line);
    }
    return 0;
}

/* How often the process was started so far. */
static uint64_t spawns(const struct events *events, uint32_t process)
{
    uint64_t count = 0;
    for (uint32_t i = 0; i < events->count; i++)
        count += events->at[i].f == F_SPAWN && events->at[i].process == process;
    return count;
}

static int read_line(struct line *line)
{
    struct slice word;
    int rc = read_head(line, &word);
    for (; rc == 0 && word.length; word = next_word(line))
        rc = read_field(line, word);
    if (rc == 0 && line->event.f == F_SPAWN && !event_has(&line->event, FIELD_PID)) {
        uint64_t incarnation = 1 + spawns(line->events, line->event.process);
        event_set(&line->event, FIELD_INCARNATION, incarnation);
        event_set(&line->event, FIELD_PID, 1000 * incarnation + process_index(line->event.process));
    }
    if (rc == 0)
        (void)events_add(line->events, &line->event);
    return rc;
}

int events_parse(struct events *events, const char *lines, struct error *error)
{
    uint32_t number = 0;
    while (*lines) {
        size_t length = strcspn(lines, "\n");
        struct line line = {.events = events, .at = lines, .end = lines + length, .error = error};
        number++;
        while (line.at < line.end && *line.at == ' ')
            line.at++;
        if (line.at < line.end && *line.at != '#' && read_line(&line) < 0) {
            error_prefix(error, "line %u", number);
            return -EINVAL;
        }
        lines += length + (lines[length] == '\n');
    }
    return 0;
}

struct event *events_add(struct events *events, const struct event *event)
{
    if (events->count == events->capacity) {
        events->capacity = events->capacity ? events->capacity * 2 : 16;
        events->at = must_grow(events->at, events->capacity, sizeof *events->at);
    }
    struct event *copy = &events->at[events->count];
    *copy = *event;
    copy->index = events->count++;
    for (uint32_t field = 0; field < EVENT_FIELDS; field++)
        if (event_has(event, (enum event_field)field) &&
            event_field_kind((enum event_field)field) == FIELD_KIND_TEXT)
            copy->field[field].text.at = keep_text(events, event->field[field].text);
    return copy;
}

void events_release(struct events *events)
{
    for (uint32_t i = 0; i < events->text_count; i++)
        free(events->texts[i]);
    free(events->texts);
    free(events->at);
    *events = (struct events){0};
}

struct history_header events_header(uint32_t nodes)
{
    static char algorithm[] = "raft", fenced[] = "fenced", none[] = "";
    struct history_header header = {
        .format = HISTORY_FORMAT,
        .algorithm = algorithm,
        .resource = fenced,
        .faults = none,
        .traits = 1u << TRAIT_MAJORITY | 1u << TRAIT_DURABLE | 1u << TRAIT_TOKEN,
        .nodes = nodes,
    };
    knobs_defaults(&header.knobs);
    return header;
}

void events_check(const struct history_header *header, const char *names,
                  const struct events *events, struct report_data *out)
{
    struct checker *checker;
    struct error error;
    int rc = checker_new(header, names, &checker, &error);
    if (rc < 0)
        (void)fprintf(stderr, "%s\n", error.text);
    assert(rc == 0);
    for (uint32_t i = 0; i < events->count; i++)
        checker_step(checker, &events->at[i]);
    checker_end(checker, out);
}
