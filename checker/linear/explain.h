/* A result in words, and the events that prove it. */
#ifndef COUP_CHECKER_LINEAR_EXPLAIN_H
#define COUP_CHECKER_LINEAR_EXPLAIN_H

#include "checker/linear/model.h"

/* How operations are called where they come from. */
struct linear_names {
    const void *context;
    /* Append who did it and when: "client-1 (1.203s to 1.207s)" becomes "client-1's read of 7
     * (1.203s to 1.207s)". */
    void (*who)(const void *context, const struct linear_op *op, struct text *out);
    void (*when)(const void *context, const struct linear_op *op, struct text *out);
    /* What the key is: "register 3". */
    void (*key)(const void *context, uint64_t key, struct text *out);
};

/* One sentence without full stop. Of anything but LINEAR_FINE. */
void linear_explain(const struct linear_result *result, const struct linear_model *model,
                    const struct linear_space *space, const struct linear_names *names,
                    struct text *out);

/* The events that matter of the operations named, at most 6; how many. */
#define LINEAR_WITNESS_MAX 6u
uint32_t linear_witness(const struct linear_result *result, uint64_t witness[LINEAR_WITNESS_MAX]);

#endif
