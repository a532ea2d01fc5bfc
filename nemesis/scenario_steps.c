/* Steps of a scenario: each becomes the schedule's line form, which has the only parser of faults.
 * Repeats and loops are written out here: the schedule knows single faults only. */
#include "nemesis/scenario_source.h"

#include <string.h>

#include "base/units.h"

/* A step, or a loop around some, as it is written. */
struct item {
    struct text line;
    const yaml_node_t *steps; /* of a loop */
    uint64_t count;           /* repeats of the step or rounds of the loop */
    uint64_t every_ns;        /* between their beginnings; 0: not given */
    bool loop, counted;
};

/* Of the loop that is being written out; zeroed outside of one. */
struct round {
    uint64_t number, shift_ns;
    bool inside;
};

/* `after: {f: lead, nth: 2, by: n3, delay: 50ms}` as a trigger is written in a line. */
static int add_trigger(struct source *source, const yaml_node_t *node, struct text *out)
{
    static const struct {
        const char *key, *mark;
    } parts[] = {{"f", ""}, {"nth", ":"}, {"by", "@"}, {"delay", "+"}};
    enum { PARTS = sizeof parts / sizeof parts[0] };
    const char *values[PARTS] = {NULL};
    for (yaml_node_pair_t *pair = node->data.mapping.pairs.start;
         pair < node->data.mapping.pairs.top; pair++) {
        const yaml_node_t *key = yaml_document_get_node(&source->document, pair->key);
        const yaml_node_t *value = yaml_document_get_node(&source->document, pair->value);
        size_t i = 0;
        while (i < PARTS && (!source_scalar(key) || strcmp(source_scalar(key), parts[i].key) != 0))
            i++;
        if (i == PARTS || values[i])
            return source_fail(source, key, "after takes f, nth, by and delay, each once");
        values[i] = source_scalar(value);
        if (!values[i] || strpbrk(values[i], " \t\n:@+"))
            return source_fail(source, value, "must be a plain word");
    }
    if (!values[0])
        return source_fail(source, node, "after needs f, the kind of event");
    for (size_t i = 0; i < PARTS; i++)
        if (values[i])
            text_add(out, "%s%s", parts[i].mark, values[i]);
    return 0;
}

static int add_word(struct source *source, const yaml_node_t *key, const yaml_node_t *value,
                    struct text *line)
{
    const char *name = source_scalar(key);
    bool trigger = name && strcmp(name, "after") == 0 && value->type == YAML_MAPPING_NODE;
    bool plain = name && !strpbrk(name, " =\t\n") &&
                 (trigger || (source_scalar(value) && !strpbrk(source_scalar(value), " \t\n")));
    if (!plain)
        return source_fail(source, key, "a step's keys and values must be plain words");
    text_add(line, "%s%s=", line->length ? " " : "", name);
    if (trigger)
        return add_trigger(source, value, line);
    text_add(line, "%s", source_scalar(value));
    return 0;
}

static int take_count(struct source *source, const yaml_node_t *node, const char *key,
                      struct item *item)
{
    const char *text = source_scalar(node);
    if (item->counted)
        return source_fail(source, node, "loop and repeat are given once and not both");
    if (!text)
        return source_fail(source, node, "must be a plain value");
    int rc = parse_count(text, &item->count, source->error);
    if (rc == 0 && (item->count < 1 || item->count > SCENARIO_STEPS_MAX))
        rc = error_usage(source->error, "'%.60s' must be between 1 and %u", text,
                         SCENARIO_STEPS_MAX);
    item->counted = true;
    return rc < 0 ? source_blame(source, node, key) : 0;
}

static int take_every(struct source *source, const yaml_node_t *node, const struct scenario *out,
                      struct item *item)
{
    const char *text = source_scalar(node);
    if (!text || item->every_ns)
        return source_fail(source, node, "every is given once, as a plain value");
    int rc = parse_duration(text, &item->every_ns, source->error);
    if (rc == 0 && (item->every_ns == 0 || item->every_ns > out->duration_ns))
        rc = error_usage(source->error, "'%.60s' must be above 0 and within the scenario's time",
                         text);
    return rc < 0 ? source_blame(source, node, "every") : 0;
}

static int take_pair(struct source *source, const yaml_node_pair_t *pair,
                     const struct scenario *out, struct item *item)
{
    const yaml_node_t *key = yaml_document_get_node(&source->document, pair->key);
    const yaml_node_t *value = yaml_document_get_node(&source->document, pair->value);
    const char *name = source_scalar(key) ? source_scalar(key) : "";
    if (strcmp(name, "repeat") == 0)
        return take_count(source, value, name, item);
    if (strcmp(name, "every") == 0)
        return take_every(source, value, out, item);
    if (strcmp(name, "loop") == 0) {
        item->loop = true;
        return take_count(source, value, name, item);
    }
    if (strcmp(name, "steps") == 0) {
        if (item->steps)
            return source_fail(source, key, "key given twice");
        item->steps = value;
        return 0;
    }
    return add_word(source, key, value, &item->line);
}

static int check_item(struct source *source, const yaml_node_t *node, const struct round *round,
                      const struct item *item)
{
    if (item->loop && round->inside)
        return source_fail(source, node, "a loop within a loop");
    if (item->loop != (item->steps != NULL) || (item->loop && item->line.length))
        return source_fail(source, node, "a loop is {loop: 3, every: 2s, steps: [...]}");
    if (item->counted != (item->every_ns > 0))
        return source_fail(source, node, "repeat and loop go together with every");
    return 0;
}

/* A later copy of the same step chooses anew. One that waits for an event waits once, and its
 * copies begin so much later after it; in the next round of a loop it waits anew. */
static int add_copy(struct source *source, const yaml_node_t *node,
                    struct scheduled_fault scheduled, struct scenario *out)
{
    if (scheduled.at_ns >= out->duration_ns || scheduled.after.delay_ns >= out->duration_ns)
        return source_fail(source, node, "step begins after the scenario's time is over");
    if (out->schedule.count == SCENARIO_STEPS_MAX)
        return source_fail(source, node, "too many steps");
    schedule_add(&out->schedule, &scheduled);
    return 0;
}

static int add_step(struct source *source, const yaml_node_t *node, const struct item *item,
                    const struct round *round, struct scenario *out)
{
    struct scheduled_fault scheduled;
    int rc = scheduled_fault_parse(text_string(&item->line), out->nodes, &scheduled, source->error);
    if (rc < 0)
        return source_blame(source, node, "step");
    for (uint64_t i = 0; rc == 0 && i < (item->counted ? item->count : 1); i++) {
        struct scheduled_fault copy = scheduled;
        copy.at_ns += round->shift_ns;
        *(scheduled.after.nth ? &copy.after.delay_ns : &copy.at_ns) += i * item->every_ns;
        copy.seed += round->number * SCENARIO_STEPS_MAX + i;
        rc = add_copy(source, node, copy, out);
    }
    return rc;
}

static int read_list(struct source *source, const yaml_node_t *list, const struct round *round,
                     struct scenario *out);

static int add_loop(struct source *source, const struct item *item, struct scenario *out)
{
    int rc = 0;
    for (uint64_t i = 0; rc == 0 && i < item->count; i++) {
        const struct round round = {i, i * item->every_ns, true};
        rc = read_list(source, item->steps, &round, out);
    }
    return rc;
}

static int read_item(struct source *source, const yaml_node_t *node, const struct round *round,
                     struct scenario *out)
{
    struct item item = {0};
    int rc = 0;
    if (node->type != YAML_MAPPING_NODE)
        return source_fail(source, node, "a step must be a mapping like {at: 1s, fault: kill}");
    for (yaml_node_pair_t *pair = node->data.mapping.pairs.start;
         rc == 0 && pair < node->data.mapping.pairs.top; pair++)
        rc = take_pair(source, pair, out, &item);
    if (rc == 0)
        rc = check_item(source, node, round, &item);
    if (rc == 0)
        rc = item.loop ? add_loop(source, &item, out) : add_step(source, node, &item, round, out);
    text_release(&item.line);
    return rc;
}

static int read_list(struct source *source, const yaml_node_t *list, const struct round *round,
                     struct scenario *out)
{
    int rc = 0;
    if (list->type != YAML_SEQUENCE_NODE)
        return source_fail(source, list, "steps must be a list");
    for (yaml_node_item_t *item = list->data.sequence.items.start;
         rc == 0 && item < list->data.sequence.items.top; item++)
        rc = read_item(source, yaml_document_get_node(&source->document, *item), round, out);
    return rc;
}

int steps_read(struct source *source, const yaml_node_t *list, struct scenario *out)
{
    const struct round once = {0};
    return read_list(source, list, &once, out);
}
