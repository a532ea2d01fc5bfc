#include "checker/linear/model.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"

/* States of several registers may grow with every order that is tried. */
#define VECTOR_BYTES_MAX ((size_t)256 << 20)

void linear_space_init(struct linear_space *space)
{
    *space = (struct linear_space){0};
}

void linear_space_release(struct linear_space *space)
{
    texts_release(&space->states);
    intern_release(&space->vectors);
}

/* Those of an importer are numbers of texts, 0 is nil; else numbers as they are. */
#define SHOWN_MAX 40u

void linear_show_value(const struct linear_space *space, uint64_t value, struct text *out)
{
    if (!space->texts) {
        text_add(out, "%" PRIu64, value);
        return;
    }
    if (value == 0) {
        text_add(out, "nil");
        return;
    }
    struct slice text = intern_get(space->texts, (uint32_t)value);
    bool cut = text.length > SHOWN_MAX;
    if (cut)
        text.length = SHOWN_MAX;
    if (space->quoted)
        text_add_json(out, text);
    else
        text_add_utf8(out, text);
    text_add(out, "%s", cut ? "..." : "");
}

/* Register */

static uint64_t register_start(const struct linear_model *model, struct linear_space *space)
{
    (void)model;
    return space->initial;
}

static bool register_step(const struct linear_model *model, struct linear_space *space,
                          uint64_t state, const struct linear_op *op, uint64_t *ret_state)
{
    (void)model;
    (void)space;
    *ret_state = linear_sets(op) ? op->value : state;
    switch (op->f) {
    case LINEAR_READ: return state == op->value;
    case LINEAR_CAS: return state == op->expected;
    case LINEAR_REFUSED: return state != op->expected;
    default: return true;
    }
}

static void register_show(const struct linear_model *model, const struct linear_space *space,
                          uint64_t state, struct text *out)
{
    (void)model;
    linear_show_value(space, state, out);
}

/* A text per key: put replaces it, append lengthens it, get returns it. */

static bool text_step(const struct linear_model *model, struct linear_space *space, uint64_t state,
                      const struct linear_op *op, uint64_t *ret_state)
{
    (void)model;
    *ret_state = op->f == LINEAR_WRITE    ? texts_put(&space->states, op->value)
                 : op->f == LINEAR_APPEND ? texts_append(&space->states, state, op->value)
                                          : state;
    return op->f != LINEAR_READ || state == op->value;
}

static uint64_t text_start(const struct linear_model *model, struct linear_space *space)
{
    (void)model;
    return texts_put(&space->states, space->initial);
}

static void text_show(const struct linear_model *model, const struct linear_space *space,
                      uint64_t state, struct text *out)
{
    (void)model;
    if (state == TEXT_DEAD_END)
        text_add(out, "a text that leads to none that was read");
    else
        linear_show_value(space, state, out);
}

/* Several registers, read and written by transactions */

static uint64_t keep_vector(struct linear_space *space, const uint64_t *cells)
{
    return intern_put(&space->vectors,
                      (struct slice){(const char *)cells, space->cells * sizeof *cells});
}

static void read_vector(const struct linear_space *space, uint64_t state, uint64_t *cells)
{
    memcpy(cells, intern_get(&space->vectors, (uint32_t)state).at, space->cells * sizeof *cells);
}

static uint64_t vector_start(const struct linear_model *model, struct linear_space *space)
{
    uint64_t cells[LINEAR_CELLS_MAX];
    (void)model;
    for (uint32_t i = 0; i < space->cells; i++)
        cells[i] = space->initial;
    return keep_vector(space, cells);
}

static bool vector_step(const struct linear_model *model, struct linear_space *space,
                        uint64_t state, const struct linear_op *op, uint64_t *ret_state)
{
    uint64_t cells[LINEAR_CELLS_MAX];
    uint32_t until = space->micro_first[op->value + 1];
    (void)model;
    read_vector(space, state, cells);
    for (uint32_t i = space->micro_first[op->value]; i < until; i++) {
        const struct linear_micro *micro = &space->micros[i];
        if (micro->writes)
            cells[micro->cell] = micro->value;
        else if (!micro->any && cells[micro->cell] != micro->value)
            return false;
    }
    *ret_state = keep_vector(space, cells);
    space->full = space->full || space->vectors.bytes.length > VECTOR_BYTES_MAX;
    return true;
}

static void vector_show(const struct linear_model *model, const struct linear_space *space,
                        uint64_t state, struct text *out)
{
    uint64_t cells[LINEAR_CELLS_MAX];
    (void)model;
    read_vector(space, state, cells);
    text_add(out, "(");
    for (uint32_t i = 0; i < space->cells; i++) {
        text_add(out, "%s", i ? " " : "");
        linear_show_value(space, cells[i], out);
    }
    text_add(out, ")");
}

/* Locks. Who holds it (1 + process) and how often; of a fenced one the fence of this hold and the
 * largest ever, both as places among all fences of the history. */

#define OWNER_BITS 20u
#define FENCE_BITS 20u
#define LIMIT(bits) (UINT64_C(1) << (bits))

struct lock {
    uint64_t owner, held, fence, highest;
};

static struct lock unpack(uint64_t state)
{
    return (struct lock){state & (LIMIT(OWNER_BITS) - 1), state >> OWNER_BITS & 3,
                         state >> (OWNER_BITS + 2) & (LIMIT(FENCE_BITS) - 1),
                         state >> (OWNER_BITS + 2 + FENCE_BITS)};
}

static uint64_t pack(struct lock lock)
{
    return lock.owner | lock.held << OWNER_BITS | lock.fence << (OWNER_BITS + 2) |
           lock.highest << (OWNER_BITS + 2 + FENCE_BITS);
}

static uint64_t lock_start(const struct linear_model *model, struct linear_space *space)
{
    (void)model;
    (void)space;
    return 0;
}

static bool acquire(const struct linear_model *model, struct lock *lock, const struct linear_op *op)
{
    uint64_t owner = model->owned ? op->process + 1 : 1;
    bool again = lock->held > 0;
    if (again && (lock->owner != owner || lock->held >= model->holds || !model->owned))
        return false;
    if (model->fenced && op->value) {
        bool same = again && lock->fence;
        if (same ? op->value != lock->fence : op->value <= lock->highest)
            return false;
        lock->fence = lock->highest = op->value;
    }
    lock->owner = owner;
    lock->held++;
    return true;
}

static bool release(const struct linear_model *model, struct lock *lock, const struct linear_op *op)
{
    if (lock->held == 0 || (model->owned && lock->owner != op->process + 1))
        return false;
    if (--lock->held == 0)
        lock->owner = lock->fence = 0;
    return true;
}

static bool lock_step(const struct linear_model *model, struct linear_space *space, uint64_t state,
                      const struct linear_op *op, uint64_t *ret_state)
{
    struct lock lock = unpack(state);
    (void)space;
    bool may = op->f == LINEAR_ACQUIRE ? acquire(model, &lock, op) : release(model, &lock, op);
    *ret_state = pack(lock);
    return may;
}

static void lock_show(const struct linear_model *model, const struct linear_space *space,
                      uint64_t state, struct text *out)
{
    struct lock lock = unpack(state);
    int64_t owner = (int64_t)lock.owner - 1;
    if (lock.held == 0)
        text_add(out, "free");
    else if (model->owned)
        text_add(out, "held by process %" PRIi64 "%s",
                 space->processes ? space->processes[owner] : owner, lock.held > 1 ? " twice" : "");
    else
        text_add(out, "held");
    if (model->fenced && lock.highest)
        text_add(out, ", with fences up to %" PRIu64,
                 space->fences ? space->fences[lock.highest] : lock.highest);
}

/* Two permits, each with its holder, smaller first; 0: free. */

static bool permit_step(const struct linear_model *model, struct linear_space *space,
                        uint64_t state, const struct linear_op *op, uint64_t *ret_state)
{
    uint64_t low = state >> 32, high = state & UINT32_MAX, who = (uint64_t)op->process + 1;
    (void)model;
    (void)space;
    if (op->f == LINEAR_ACQUIRE) {
        if (low)
            return false;
        low = who;
    } else if (low == who) {
        low = 0;
    } else if (high == who) {
        high = 0;
    } else {
        return false;
    }
    *ret_state = low < high ? low << 32 | high : high << 32 | low;
    return true;
}

static void permit_show(const struct linear_model *model, const struct linear_space *space,
                        uint64_t state, struct text *out)
{
    (void)model;
    (void)space;
    text_add(out, "%u of 2 permits held", (state >> 32 != 0) + ((state & UINT32_MAX) != 0));
}

#define REGISTER_FS \
    (1u << LINEAR_READ | 1u << LINEAR_WRITE | 1u << LINEAR_CAS | 1u << LINEAR_REFUSED)
#define LOCK_FS (1u << LINEAR_ACQUIRE | 1u << LINEAR_RELEASE)

static const struct linear_model model_register = {
    .name = "register",
    .summary = "one value per key: read, write, cas",
    .fs = REGISTER_FS,
    .registers = true,
    .start = register_start,
    .step = register_step,
    .show = register_show,
};

static const struct linear_model model_cas_register = {
    .name = "cas-register",
    .summary = "the same; the name Knossos has for it",
    .fs = REGISTER_FS,
    .registers = true,
    .start = register_start,
    .step = register_step,
    .show = register_show,
};

static const struct linear_model model_multi_register = {
    .name = "multi-register",
    .summary = "several registers, read and written by transactions",
    .fs = 1u << LINEAR_TXN,
    .start = vector_start,
    .step = vector_step,
    .show = vector_show,
};

static const struct linear_model model_kv = {
    .name = "kv",
    .summary = "a text per key: get, put, append",
    .fs = 1u << LINEAR_READ | 1u << LINEAR_WRITE | 1u << LINEAR_APPEND,
    .start = text_start,
    .step = text_step,
    .show = text_show,
};

#define LOCK_MODEL(id, text, what, ...)             \
    static const struct linear_model model_##id = { \
        .name = text,                               \
        .summary = what,                            \
        .fs = LOCK_FS,                              \
        .start = lock_start,                        \
        .step = lock_step,                          \
        .show = lock_show,                          \
        __VA_ARGS__,                                \
    }

LOCK_MODEL(mutex, "mutex", "a lock that anybody may release (Knossos' mutex)", .holds = 1);
LOCK_MODEL(owner_mutex, "owner-mutex", "a lock that its holder alone may release", .holds = 1,
           .owned = true);
LOCK_MODEL(reentrant_mutex, "reentrant-mutex", "the same; its holder may hold it twice", .holds = 2,
           .owned = true);
LOCK_MODEL(fenced_lock, "fenced-lock", "an owner-mutex; every hold has a larger fence", .holds = 1,
           .owned = true, .fenced = true);
LOCK_MODEL(reentrant_fenced_lock, "reentrant-fenced-lock",
           "the same; its holder may hold it twice, under one fence", .holds = 2, .owned = true,
           .fenced = true);

static const struct linear_model model_semaphore = {
    .name = "semaphore",
    .summary = "two permits, released by who acquired them",
    .fs = LOCK_FS,
    .shared = true,
    .start = lock_start,
    .step = permit_step,
    .show = permit_show,
};

const struct linear_model *const linear_models[] = {
    &model_register,
    &model_cas_register,
    &model_kv,
    &model_multi_register,
    &model_mutex,
    &model_owner_mutex,
    &model_reentrant_mutex,
    &model_fenced_lock,
    &model_reentrant_fenced_lock,
    &model_semaphore,
    NULL,
};

const struct linear_model *linear_model_find(struct slice name)
{
    for (uint32_t i = 0; linear_models[i]; i++)
        if (slice_equals(name, linear_models[i]->name))
            return linear_models[i];
    return NULL;
}
