/* nemesis: what breaks things, as data and pure plans. Depends on base and histories; only network/
 * and process execution (in controller/) touch the machine.
 *
 * The network is a matrix of directed links between endpoints. Faults add contributions and take
 * their own out again; the effective impairment is their merger; a backend is told only of links
 * that changed. */
#ifndef COUP_NEMESIS_LINK_H
#define COUP_NEMESIS_LINK_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "base/options.h"
#include "base/text.h"
#include "base/units.h"

/* Zeroed is a perfect link. Merged field by field: cuts by or, probabilities as independent, delay
 * and jitter by sum (up to IMPAIRMENT_DELAY_MAX_NS), rate by minimum of the non-zero. */
#define IMPAIRMENT_DELAY_MAX_NS (3600 * NS_PER_S)
struct impairment {
    bool cut;      /* nothing passes, what is under way is dropped too */
    bool cut_soft; /* nothing new passes, what is under way arrives */
    bool cut_data; /* TCP segments with payload are dropped, bare ACKs and SYNs pass */
    uint32_t loss_ppm;
    uint32_t duplicate_ppm;
    uint32_t reorder_ppm;         /* so many frames overtake the delay */
    uint32_t corrupt_ppm;         /* one bit flipped: the checksum drops it at the receiver */
    uint64_t delay_ns, jitter_ns; /* uniform in delay +- jitter */
    uint64_t rate_bits_per_s;     /* 0: unlimited */
};

struct impairment impairment_merge(struct impairment a, struct impairment b);
bool impairment_equal(const struct impairment *a, const struct impairment *b);
bool impairment_is_clean(const struct impairment *impairment);
bool impairment_cuts(const struct impairment *impairment); /* one way or the other */

/* What a frame that was touched is counted as. */
enum link_cause {
    CAUSE_CUT,
    CAUSE_CUT_DATA,
    CAUSE_LOSS,
    CAUSE_CORRUPT,
    CAUSE_DUPLICATE,
    CAUSE_REORDER,
    CAUSE_DELAY, /* delay and jitter */
    CAUSE_RATE,
    CAUSES,
};

/* Bit per cause by which this impairment shows. The delay that reordering needs is a means, not an
 * end: it is not counted with it. */
uint32_t impairment_causes(const struct impairment *impairment);

/* "dropped", "delayed", ... by the first of the causes; "touched" for none. */
const char *causes_verb(uint32_t causes);

/* The fields as a table, in the order of impairment_format(). */
extern const struct option impairment_options[];

/* "cut", "loss=20%,delay=50ms", "" when clean; and back, exact (the backends' and the history's
 * grammar). Fields at 0 are left out; a field may be named once. */
void impairment_format(const struct impairment *impairment, struct text *out);
int impairment_parse(const char *text, struct impairment *out, struct error *error);

/* Endpoints are numbered 0..count-1 by whoever owns the matrix: nodes first (id - 1). */
struct link_change {
    uint32_t from, to;
    struct impairment impairment; /* effective from now on */
};

struct link_matrix;
struct link_matrix *link_matrix_new(uint32_t endpoints);
void link_matrix_free(struct link_matrix *matrix);

/* `fault` contributes `impairment` to from->to, in addition to what it already does there. */
void link_matrix_add(struct link_matrix *matrix, uint64_t fault, uint32_t from, uint32_t to,
                     struct impairment impairment);
/* Take out all that `fault` contributed; unknown faults are fine (heal is idempotent). */
void link_matrix_remove(struct link_matrix *matrix, uint64_t fault);

struct impairment link_matrix_get(const struct link_matrix *matrix, uint32_t from, uint32_t to);

/* Links whose effective impairment differs from the last call's report, in the order they were
 * first touched. Costs what changed, not what there is. Returns the count; the array belongs to the
 * matrix until its next use. */
uint32_t link_matrix_changes(struct link_matrix *matrix, const struct link_change **ret_changes);

#endif
