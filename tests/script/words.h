/* Words of a line, and what they name: nodes, links, messages. */
#ifndef COUP_TESTS_SCRIPT_WORDS_H
#define COUP_TESTS_SCRIPT_WORDS_H

#include "tests/script/world.h"

#define WORDS_MAX 16
#define WORD_BYTES 128

struct words {
    uint32_t count;
    char at[WORDS_MAX][WORD_BYTES];
};

int words_split(const char *line, struct words *out, struct error *error);

int read_id(const struct world *world, const char *text, uint32_t *ret_id, struct error *error);
int read_kind(const struct world *world, const char *name, struct error *error);

struct link_pattern {
    uint32_t from, to; /* 0: any */
    bool both;
};

/* "1->2", "1<->2", "*->3". */
int read_link(const struct world *world, const char *text, struct link_pattern *out,
              struct error *error);
bool link_matches(const struct link_pattern *pattern, uint32_t from, uint32_t to);

/* Which queued messages: any mix of links and kinds; nothing named means all. */
struct filter {
    struct link_pattern links[WORDS_MAX];
    uint32_t link_count;
    uint64_t kinds; /* bit per kind */
};

int read_filter(const struct world *world, const struct words *words, struct filter *out,
                struct error *error);
bool filter_matches(const struct filter *filter, const struct message *message);

struct command {
    const char *name;
    uint32_t least, most; /* words behind the name */
    int (*run)(struct world *world, const struct words *words, struct error *error);
};

/* The expect-* commands; ends with a NULL name. */
extern const struct command expectations[];

#endif
