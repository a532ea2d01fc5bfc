/* Building blocks that faults share: sides of a partition, and which links an impairment is put on.
 * Pure. */
#ifndef COUP_NEMESIS_SHAPE_H
#define COUP_NEMESIS_SHAPE_H

#include "nemesis/fault.h"

/* Between the two, both included but rounded up to what reads well: whole ms, or us when short. */
uint64_t draw_duration(struct random *random, uint64_t low_ns, uint64_t high_ns);

/* `size` of 1..nodes: drawn from `chosen`, and where those do not suffice all of them and random
 * others. So "on=leader" puts the leader on this side, and a side named in full is that side. */
node_set shape_side(struct random *random, uint32_t nodes, node_set chosen, uint32_t size);

/* An entry of a parameter table: what a cut does to frames that are under way. */
extern const char *const cut_words[];
#define CUT_OPTION                                         \
    {                                                      \
        "cut", OPTION_WORD, "hard", 0, 0, cut_words,       \
            "what is under way is dropped too, or arrives" \
    }
extern const struct option cut_options[]; /* a table of that alone */

/* The cut it asks for; `at` is its place in the table. */
struct impairment cut_read(const struct option_values *parameters, uint32_t at);

/* Cut every link between a node of `a` and one of `b`, both ways; the sets are disjoint. */
void shape_split(struct injection *injection, node_set a, node_set b, struct impairment cut);

/* Cut every link that begins or ends at a node of `alone`. */
void shape_isolate(struct injection *injection, node_set alone, uint32_t nodes,
                   struct impairment cut);

/* Which links, seen from the chosen nodes. */
enum scope_links { SCOPE_NODE, SCOPE_ONE, SCOPE_ALL };
enum scope_direction { SCOPE_BOTH, SCOPE_OUT, SCOPE_IN };

extern const char *const scope_links_words[];
extern const char *const scope_direction_words[];

/* Two entries of a parameter table, in this order. */
#define SCOPE_OPTIONS                                                       \
    {"links",                                                               \
     OPTION_WORD,                                                           \
     "node",                                                                \
     0,                                                                     \
     0,                                                                     \
     scope_links_words,                                                     \
     "all links of the chosen nodes, one of them, or all links there are"}, \
    {                                                                       \
        "direction", OPTION_WORD, "both", 0, 0, scope_direction_words,      \
            "both ways, only out of, or only into the chosen nodes"         \
    }

/* Draw both; `at` is the place of the first in the table. */
void scope_plan(struct random *random, uint32_t at, struct option_values *parameters);

struct scope {
    enum scope_links links;
    enum scope_direction direction;
    struct impairment impairment;
};

struct scope scope_read(const struct option_values *parameters, uint32_t at,
                        struct impairment impairment);

/* Put the impairment on the links of the scope. One link goes to the leader if that is not the
 * chosen node itself, because followers have little to say to each other. */
bool scope_start(const struct scope *scope, const struct cluster_view *view, node_set chosen,
                 struct random *random, struct injection *out, const char **ret_why);

/* A cut of one direction only: the common part of one-way and one-way-data. Their tables begin with
 * these entries. */
extern const char *const one_way_links_words[], *const one_way_direction_words[];
#define ONE_WAY_OPTION_COUNT 2
#define ONE_WAY_OPTIONS                                                 \
    {"links",                                                           \
     OPTION_WORD,                                                       \
     "node",                                                            \
     0,                                                                 \
     0,                                                                 \
     one_way_links_words,                                               \
     "between the chosen nodes and all others, or a single link"},      \
    {                                                                   \
        "direction", OPTION_WORD, "out", 0, 0, one_way_direction_words, \
            "the chosen nodes are not heard, or do not hear"            \
    }
void one_way_plan(struct random *random, const struct fault_scale *scale,
                  struct option_values *parameters);
bool one_way_start(const struct option_values *parameters, const struct cluster_view *view,
                   node_set chosen, struct random *random, struct impairment impairment,
                   struct injection *out, const char **ret_why);

#endif
