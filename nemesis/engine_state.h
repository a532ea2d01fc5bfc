/* What the engine remembers; shared by its two files alone. engine.c decides when a fault moves
 * from one stage to the next, engine_request.c asks the world and takes its answers. */
#ifndef COUP_NEMESIS_ENGINE_STATE_H
#define COUP_NEMESIS_ENGINE_STATE_H

#include "nemesis/engine.h"

enum stage {
    STAGE_LISTENING,
    STAGE_WAITING,
    STAGE_STARTING,
    STAGE_ACTIVE,
    STAGE_STOPPING,
    STAGE_OVER
};

struct active {
    const struct scheduled_fault *scheduled;
    enum stage stage;
    uint64_t stop_at_ns;   /* UINT64_MAX: with the heal */
    uint64_t retry_ns;     /* waiting: looks again */
    uint64_t due_ns;       /* when it should begin, once the event came */
    uint64_t begun_ns;     /* listening: since when */
    uint64_t seen;         /* listening: events that counted */
    uint32_t actor;        /* whose event ended the listening; 0: it did not listen */
    uint64_t flap_at_ns;   /* UINT64_MAX: does not flap */
    const char *waits_for; /* why it could not start when it should have; static, or NULL */
    bool flapped;          /* links are clean just now */
    bool installed;        /* and so owes a heal event */
    bool failed;           /* something in the present stage did not work */
    struct injection injection;
    node_set landed;           /* processes that were hit */
    node_set held;             /* processes that are owed a restart or resume */
    uint32_t open;             /* unanswered requests */
    uint64_t begin_ns, end_ns; /* of the present stage's actions */
    uint64_t baseline, touched;
    struct text details;
};

enum request_kind {
    REQUEST_NOTHING,
    REQUEST_KILL,
    REQUEST_RESTART,
    REQUEST_PAUSE,
    REQUEST_RESUME,
    REQUEST_ACT,
    REQUEST_UNDO,
    REQUEST_LINKS,
    REQUEST_BASELINE,
    REQUEST_COUNTERS,
};

struct request {
    uint64_t ticket, deadline_ns;
    enum request_kind kind;
    uint32_t node;
    struct active *active;
};

struct engine {
    const struct schedule *schedule;
    struct nemesis_world world;
    struct link_matrix *matrix;
    uint32_t nodes;
    bool begun, healing;
    uint64_t origin_ns; /* of the schedule's times */
    uint64_t now_ns;
    uint64_t recorded_ns; /* time of the last event: they never run backwards */
    uint32_t next;        /* first of the schedule that has not begun */
    uint32_t depth;       /* of calls into the engine */
    struct active **active;
    uint32_t active_count, active_capacity;
    struct request *requests;
    uint32_t request_count, request_capacity;
    uint64_t last_ticket;
    struct text scratch[2];
};

/* Another proof or reason for the event of this stage. */
void active_detail(struct active *active, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Each of these opens a request, which may be answered before they return. */
void do_act(struct engine *engine, struct active *active, node_set nodes);
void undo_act(struct engine *engine, struct active *active, node_set nodes);
/* The act's next turn has come (active->flapped). */
void flap_act(struct engine *engine, struct active *active, node_set nodes);
void ask_counters(struct engine *engine, struct active *active, enum request_kind kind);

/* Add the fault's links to the matrix, or take them out, and tell the world what changed: nothing
 * may have, when another fault does the same to these links. Returns the number of changes. */
uint32_t put_links(struct engine *engine, struct active *active);
uint32_t take_links(struct engine *engine, struct active *active);

/* An event of a message that the fault touched is its proof. */
void count_message(struct active *active, const struct event *event);

struct answer {
    bool ok, late;
    uint64_t begin_ns, end_ns, touched;
    struct slice proof;
};

/* Close the request at this place of the list and note what the answer says. Returns whose it was;
 * the caller settles it. */
struct active *request_answered(struct engine *engine, uint32_t at, const struct answer *answer);

#endif
