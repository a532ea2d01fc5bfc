/* What was found in a foreign history, in the words of the file. */
#include "checker/import/import.h"

#include <inttypes.h>

#include "checker/linear/explain.h"

#define QUOTE_MAX 160u

static void who(const void *context, const struct linear_op *op, struct text *out)
{
    const struct import *import = context;
    text_add(out, "process %" PRIi64, import->processes[op->process]);
}

static void when(const void *context, const struct linear_op *op, struct text *out)
{
    const struct import *import = context;
    text_add(out, "line %u", import->places[op->call_index].line);
    if (linear_is_open(op))
        text_add(out, ", outcome unknown");
    else
        text_add(out, " to %u", import->places[op->done_index].line);
}

static void key(const void *context, uint64_t number, struct text *out)
{
    const struct import *import = context;
    if (number == 0) {
        text_add(out, "%s", import->options.model->name);
        return;
    }
    struct slice name = intern_get(&import->keys, (uint32_t)number);
    text_add(out, "key %.*s", name.length < 40 ? (int)name.length : 40, name.at);
}

void import_explain(const struct import *import, const struct linear_result *result,
                    struct text *out)
{
    const struct linear_names names = {import, who, when, key};
    linear_explain(result, import->options.model, &import->space, &names, out);
}

void import_quote(const struct import *import, struct slice text, uint64_t entry, struct text *out)
{
    const struct import_place *place = &import->places[entry];
    struct text line = {0};
    bool blank = false;
    for (uint32_t i = 0; i < place->length && line.length < QUOTE_MAX; i++) {
        unsigned char c = (unsigned char)text.at[place->offset + i];
        if (c <= ' ' || c == 0x7f) {
            blank = true;
            continue;
        }
        if (blank && line.length)
            text_add_bytes(&line, " ", 1);
        blank = false;
        text_add_bytes(&line, &c, 1);
    }
    text_add_utf8(out, (struct slice){text_string(&line), line.length});
    if (line.length >= QUOTE_MAX)
        text_add(out, "...");
    text_release(&line);
}
