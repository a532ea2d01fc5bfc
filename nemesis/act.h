/* What is done to one process. Links are in link.h. */
#ifndef COUP_NEMESIS_ACT_H
#define COUP_NEMESIS_ACT_H

#include <stdbool.h>
#include <stdint.h>

enum process_action {
    ACTION_NONE,
    ACTION_KILL,      /* SIGKILL; undone by a restart, as are: */
    ACTION_TERMINATE, /* SIGTERM: it ends by itself */
    ACTION_CRASH,     /* SIGKILL at a point of a write */
    ACTION_PAUSE,     /* SIGSTOP; undone by resuming, as are: */
    ACTION_HALT,      /* it stops itself at a point of its own code */
    ACTION_FREEZE,    /* the kernel's freezer keeps it from running; likewise */
    ACTION_CLOCK,     /* bend its clocks */
    ACTION_DISK,      /* trouble its disk */
    ACTION_POWER,     /* SIGKILL, and its disk loses what was not synced; undone by a restart */
    ACTION_WIPE,      /* SIGKILL, and its disk is empty; undone by a restart */
    ACTION_SESSION,   /* the coordination service forgets its sessions; cannot be undone */
    ACTION_TWIN,      /* run another one beside it, from a copy of its state */
    ACTION_COMMAND,   /* tell it something; nothing is left to undo */
    ACTION_MESSAGES,  /* do something to election messages that reach it */
};

/* Who reaches the twin, and not the node, of those who reach one of the two: every second process
 * of its kind. */
static inline bool twin_takes(uint32_t process_index)
{
    return process_index % 2 == 0;
}

/* Of a node that makes its state durable: nothing is written yet; the new file is, but is not in
 * place; it is, and nobody has been told. */
enum write_point { WRITE_BEFORE, WRITE_DURING, WRITE_AFTER };

/* Of a node that is about to say something: it has found that it may act as leader, and nobody has
 * heard of that, the history neither; the write that came of it is recorded, not sent; what it has
 * to tell the other nodes is durable and recorded, not sent. */
enum halt_point { HALT_AFTER_CHECK, HALT_BEFORE_WRITE, HALT_BEFORE_SEND };

/* What an operator may tell a node. */
enum operator_command { OPERATOR_RESIGN, OPERATOR_TRANSFER, OPERATOR_FORCE };

/* The clocks of one machine against true time. The wall clock may be stepped either way, on top of
 * a rate at which both run. */
struct clock_bend {
    int64_t step_ns;
    uint64_t rate_ppm; /* CLOCK_TRUE_PPM: as true time */
};

#define CLOCK_TRUE_PPM UINT64_C(1000000)

/* "wall +5.000 s, rate 1.000000" */
#define CLOCK_BEND_TEXT_MAX 64
const char *clock_bend_format(const struct clock_bend *bend, char buffer[CLOCK_BEND_TEXT_MAX]);

/* What a disk does to requests: all of it at once, each zeroed field nothing. */
enum disk_symptom { DISK_SLOW, DISK_FULL, DISK_ERRORS, DISK_STALLED, DISK_SYMPTOMS };

struct disk_trouble {
    uint64_t fsync_delay_ns; /* DISK_SLOW: so much longer */
    bool full;               /* DISK_FULL: ENOSPC after `room_bytes` more */
    uint64_t room_bytes;
    uint64_t error_ppm; /* DISK_ERRORS: share of requests that fail with EIO */
    bool stalled;       /* DISK_STALLED: no request is answered */
};

/* "fsync +50ms, room 0, errors 100%, stalled"; "whole" */
#define DISK_TROUBLE_TEXT_MAX 96
const char *disk_trouble_format(const struct disk_trouble *trouble,
                                char buffer[DISK_TROUBLE_TEXT_MAX]);

/* ACTION_MESSAGES: which messages, and what becomes of them. What is said of its parts in
 * nodes/filter.h holds here. */
enum message_deed {
    MESSAGE_DROP,
    MESSAGE_HOLD,
    MESSAGE_DUPLICATE,
    MESSAGE_ECHO,
    MESSAGE_REORDER,
    MESSAGE_RELEASE,
    MESSAGE_DEEDS,
};

struct message_trouble {
    enum message_deed deed;
    const char *kind; /* static; NULL: any */
    uint64_t term;    /* 0: any */
    uint64_t count;   /* at each receiver; 0: no bound */
    uint64_t from;    /* set of ids; a world is asked about those that send to this receiver */
    uint64_t fault;   /* the engine's to fill in: what the events of messages are joined by */
    uint32_t service; /* id of the coordination service; 0: nodes talk to each other */
};

struct act {
    enum process_action action;
    bool undo;
    /* ACTION_DISK: as with clocks, what is asked for is the worst of all active ones. The symptom
     * stays the fault's own: the answer counts the requests that it touched. */
    struct disk_trouble disk;
    enum disk_symptom symptom;
    /* ACTION_POWER: how much of what was not synced the disk still took, in the order of the
     * writes; the write at which the power went is torn. */
    uint64_t kept_ppm;
    /* ACTION_CLOCK. A fault's own contribution; what a world is asked for is the sum of all active
     * ones, so undoing is asking for what is left. */
    struct clock_bend clock;
    bool apart;                    /* ACTION_TWIN: each other node reaches one of the two */
    enum operator_command command; /* ACTION_COMMAND */
    enum write_point point;        /* ACTION_CRASH */
    enum halt_point halt;          /* ACTION_HALT */
    uint32_t write;                /* ACTION_CRASH: which one from now on, from 1 */
    uint32_t resigner;             /* ACTION_CRASH: who is told to step down meanwhile; 0: nobody */
    uint32_t successor;            /* OPERATOR_TRANSFER: to whom; 0: whoever is best */
    struct message_trouble message; /* ACTION_MESSAGES */
};

/* Whether the process is gone, or stands still, while the act lasts. */
static inline bool act_ends(enum process_action action)
{
    return action == ACTION_KILL || action == ACTION_TERMINATE || action == ACTION_CRASH ||
           action == ACTION_POWER || action == ACTION_WIPE;
}

static inline bool act_stops(enum process_action action)
{
    return action == ACTION_PAUSE || action == ACTION_HALT || action == ACTION_FREEZE;
}

#endif
