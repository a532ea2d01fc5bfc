/* One operation of a history whose order is asked for. An operation takes effect at one instant
 * between its call and its return; one of unknown outcome at any instant after its call, or never.
 *
 * Linearizability: Herlihy & Wing, ACM TOPLAS 12(3), 1990. By its locality each key (register) is
 * judged apart. */
#ifndef COUP_CHECKER_LINEAR_OPERATION_H
#define COUP_CHECKER_LINEAR_OPERATION_H

#include <stdbool.h>
#include <stdint.h>

enum linear_f {
    LINEAR_READ,    /* of `value` */
    LINEAR_WRITE,   /* of `value` */
    LINEAR_CAS,     /* from `expected` to `value` */
    LINEAR_REFUSED, /* a compare that did not find `expected` */
    LINEAR_APPEND,  /* of `value` */
    LINEAR_TXN,     /* the transaction of number `value`; `expected` 1: it writes something */
    LINEAR_ACQUIRE, /* by `process`; `value` is the fence, 0: none told */
    LINEAR_RELEASE, /* by `process` */
    LINEAR_FS
};

#define LINEAR_OPEN UINT64_MAX /* `done` of an operation of unknown outcome */

/* `call` and `done` are on one time axis; a comes before b when a.done < b.call. What is equal is
 * not ordered. An operation that certainly did not happen, or tells nothing, is left out. */
struct linear_op {
    uint64_t call, done;
    uint64_t value, expected;
    uint64_t call_index, done_index; /* of the events, for witnesses; done_index 0 when open */
    uint64_t key;
    uint32_t process;
    uint8_t f; /* enum linear_f */
};

static inline bool linear_is_open(const struct linear_op *op)
{
    return op->done == LINEAR_OPEN;
}

static inline bool linear_sets(const struct linear_op *op)
{
    return op->f == LINEAR_WRITE || op->f == LINEAR_CAS;
}

/* Whether it leaves every state as it is. */
static inline bool linear_is_inert(const struct linear_op *op)
{
    return op->f == LINEAR_READ || op->f == LINEAR_REFUSED ||
           (op->f == LINEAR_CAS && op->value == op->expected) ||
           (op->f == LINEAR_TXN && op->expected == 0);
}

/* Why there is no order. `ops` as each says. */
enum linear_fault {
    LINEAR_FINE,
    LINEAR_UNWRITTEN, /* 0 saw what nobody wrote */
    LINEAR_EARLY,     /* 0 stands on 1, but was over before 1 began */
    LINEAR_FORKED,    /* 0 and 1 both replaced one value, which was written once */
    LINEAR_CIRCLE,    /* 0's value follows from itself */
    LINEAR_MIXED,     /* 0 was over before 1 began and 2 before 3: 0 (NULL: the initial value) and 3
                       * are of one value, 1 and 2 of another, so neither value can be first */
    LINEAR_STUCK,     /* 0 fits nowhere; the others left what may be there */
    LINEAR_GIVEN_UP,  /* not decided: a limit was reached at 0 */
};

#define LINEAR_OPS_MAX 4u
struct linear_result {
    enum linear_fault fault;
    const struct linear_op *ops[LINEAR_OPS_MAX]; /* borrowed from the operations judged; or NULL */
    uint32_t count;
    uint64_t configurations; /* GIVEN_UP: how many there were at once */
    bool states_known;       /* STUCK: `states` are all that the key may have held */
    uint64_t states[LINEAR_OPS_MAX];
    uint32_t state_count;
};

#endif
