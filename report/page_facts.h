/* What a page tells, gathered in one pass over the history. Internal to report/page*.c. */
#ifndef COUP_REPORT_PAGE_FACTS_H
#define COUP_REPORT_PAGE_FACTS_H

#include "report/page.h"
#include "report/pauses.h"

#define PAGE_BINS 4000u /* of writes */
#define PAGE_CLIENT_BINS 300u
#define PAGE_KINDS_MAX 64u

enum role { ROLE_NONE, ROLE_LEADER, ROLE_CANDIDATE, ROLE_FOLLOWER };
enum state { STATE_DOWN, STATE_RUNS, STATE_PAUSED };

/* What a node's lane shows now, since when, and what it showed before, as JSON rows. */
struct lane {
    struct text roles, states;
    enum role role;
    enum state state;
    uint64_t role_ns, state_ns, term;
    uint32_t leader, pauses;
    bool down;
};

struct band {
    uint64_t id, begin_ns, end_ns, touched;
    struct text rest; /* kind, targets, outcome, proof as JSON */
};

struct message_kind {
    char name[40];
    uint64_t count;
};

struct page {
    const struct report *report;
    const struct history_header *header;
    uint64_t end_ns;
    struct lane *lanes; /* by node id; owned */
    struct band *bands; /* owned */
    uint32_t band_count, band_capacity;
    struct pauses pauses;
    struct text phases, runs, rejects, events;
    uint64_t run_holder, run_token, run_ns, bin, bin_count; /* of the accepted writes at hand */
    bool run_open;
    uint64_t clients[PAGE_CLIENT_BINS][3]; /* ok, fail, unknown */
    struct message_kind kinds[PAGE_KINDS_MAX];
    uint32_t kind_count;
    uint64_t rejected, common, told, told_left_out;
    uint64_t common_step; /* one of so many common events is told */
};

/* Everything the history has left. Borrows the report and what it speaks of. */
void page_gather(struct page *page, const struct report *report, struct history_reader *reader);
void page_release(struct page *page);

/* Times of the page. */
static inline uint64_t page_us(uint64_t ns)
{
    return ns / UINT64_C(1000);
}

void page_comma(struct text *out); /* unless it is the first row */

/* As in JSON lines: what a double would round is a string. It is only ever shown. */
void page_number(struct text *out, uint64_t number);

#endif
