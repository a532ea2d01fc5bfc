/* A world for the engine that answers at once, late, badly or never, and writes down what it is
 * asked. Times are milliseconds. */
#ifndef COUP_TESTS_FAKE_WORLD_H
#define COUP_TESTS_FAKE_WORLD_H

#include "nemesis/engine.h"

#define NODES 5
#define ASKED_MAX 2048

enum manner { AT_ONCE, WHEN_TOLD, BADLY, NEVER };

struct asked {
    uint64_t ticket;
    bool counters;
};

struct fake {
    struct engine *engine;
    struct schedule schedule;
    uint64_t now_ns;
    uint32_t leader;
    node_set running, paused, twins;
    bool stale;   /* the view still shows everybody well, led by n1 */
    bool service; /* there is one, behind the nodes */
    struct impairment link[NODES + 1][NODES + 1]; /* of nodes and service */
    struct clock_bend bend[NODES + 2];            /* by id; the service comes behind */
    struct disk_trouble disk[NODES + 1];
    uint64_t disk_requests;
    const char *missing;   /* what the view says of wall clocks */
    uint64_t frames;       /* what counters answer */
    enum manner manner[4]; /* of kill+pause, restart+resume, links, counters */
    struct asked waiting[ASKED_MAX];
    uint32_t waiting_count;
    struct text asked; /* "kill n2; links n1>n2 cut; ..." */
    struct text events;
    uint32_t fault_events, heal_events;
    uint64_t last_event_ns;
};

enum { DOING, UNDOING, LINKS, COUNTERS };

#define LINES(...) ((const char *const[]){__VA_ARGS__, NULL})

/* With these lines as the schedule; all nodes run, n1 leads, everything is answered at once. */
struct fake *fake_new(const char *const *lines);
void fake_free(struct fake *fake);

/* There is a coordination service, which has the id behind the nodes. */
void fake_add_service(struct fake *fake);

/* On to `ms`, at every time the engine asks for. */
void fake_run_to(struct fake *fake, uint64_t ms);
void fake_heal(struct fake *fake);

/* Answer what waits for being told. */
void fake_tell(struct fake *fake);

/* Clocks are right again, and nobody has a twin. */
bool fake_is_true(const struct fake *fake);

/* Everything is as it was, every fault was recorded once, every installed one healed. */
void fake_assert_nothing_left(const struct fake *fake);

/* What was asked, what was recorded since the last look. */
void fake_assert_asked(struct fake *fake, const char *expected);
void fake_assert_events(struct fake *fake, const char *expected);

#endif
