/* What an object does: a state and how each operation changes it, if it may happen at all. A state
 * is one number; models that need more keep a table of what the numbers stand for. */
#ifndef COUP_CHECKER_LINEAR_MODEL_H
#define COUP_CHECKER_LINEAR_MODEL_H

#include "base/intern.h"
#include "base/text.h"
#include "checker/linear/operation.h"
#include "checker/linear/texts.h"

/* One read or write of a transaction. */
struct linear_micro {
    bool writes;
    bool any;      /* reads, but does not tell what */
    uint32_t cell; /* 0.. */
    uint64_t value;
};

#define LINEAR_CELLS_MAX 64u

/* What the models keep. Zeroed, then linear_space_init(). */
struct linear_space {
    uint64_t initial;            /* of every register, as `value` of an operation */
    struct intern *texts;        /* borrowed: what values stand for; append adds to it */
    bool quoted;                 /* they are texts themselves, else as they are to be shown */
    struct texts states;         /* of keys that are appended to; texts_open() is the caller's */
    struct intern vectors;       /* states of several registers */
    struct linear_micro *micros; /* borrowed: of all transactions, */
    uint32_t *micro_first;       /* transaction n is micros[micro_first[n] .. micro_first[n + 1]] */
    uint32_t cells;              /* registers in a vector, at most LINEAR_CELLS_MAX */
    const int64_t *processes;    /* borrowed: what they are called; NULL: by their number */
    const uint64_t *fences;      /* borrowed: fence n, smallest first, is this number; or NULL */
    bool full;                   /* the texts of states have become too many */
};

void linear_space_init(struct linear_space *space);
void linear_space_release(struct linear_space *space);

/* A value as its history's reader would write it. */
void linear_show_value(const struct linear_space *space, uint64_t value, struct text *out);

struct linear_model {
    const char *name, *summary;
    uint32_t fs;    /* bit per enum linear_f it knows */
    bool registers; /* values of reads, writes and compare-and-sets: zones may decide */
    uint32_t holds; /* locks: how often it may be held at once, */
    bool owned;     /* by whom it is released matters, */
    bool fenced;    /* acquiring tells a fence, which grows, */
    bool shared;    /* and who else holds it does not matter */
    uint64_t (*start)(const struct linear_model *model, struct linear_space *space);
    /* False: it may not happen in this state. */
    bool (*step)(const struct linear_model *model, struct linear_space *space, uint64_t state,
                 const struct linear_op *op, uint64_t *ret_state);
    /* What the state is, for people. */
    void (*show)(const struct linear_model *model, const struct linear_space *space, uint64_t state,
                 struct text *out);
};

extern const struct linear_model *const linear_models[]; /* NULL-terminated */
const struct linear_model *linear_model_find(struct slice name);

#endif
