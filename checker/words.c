#include "checker/words.h"

#include <inttypes.h>
#include <stdio.h>

static char *next_text(struct words *words)
{
    return words->text[words->used++ % WORDS_KEPT];
}

const char *word_process(struct words *words, uint32_t process)
{
    return process_name(process, next_text(words));
}

const char *word_node(struct words *words, uint32_t id)
{
    return word_process(words, PROCESS_NUMBER(PROCESS_NODE, id));
}

const char *word_time(struct words *words, uint64_t ns)
{
    char *text = next_text(words);
    (void)snprintf(text, WORD_MAX, "%" PRIu64 ".%03" PRIu64 "s", ns / NS_PER_S,
                   ns % NS_PER_S / NS_PER_MS);
    return text;
}

const char *word_span(struct words *words, uint64_t ns)
{
    return human_duration(ns, next_text(words));
}

const char *word_apart(struct words *words, uint64_t a_ns, uint64_t b_ns)
{
    return word_span(words, a_ns < b_ns ? b_ns - a_ns : a_ns - b_ns);
}

const char *word_allowed(struct words *words, uint64_t bound_ns, uint64_t stalled_ns)
{
    char bound[UNIT_TEXT_MAX], stalled[UNIT_TEXT_MAX], *text = next_text(words);
    if (stalled_ns == 0)
        return human_duration(bound_ns, text);
    (void)snprintf(text, WORD_MAX, "%s + %s of stalls", human_duration(bound_ns, bound),
                   human_duration(stalled_ns, stalled));
    return text;
}

const char *word_count(struct words *words, uint64_t count, const char *noun)
{
    return count_of(count, noun, next_text(words));
}
