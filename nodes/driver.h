/* Carries an elector's outputs out in a real process, in the order elector.h demands: persist and
 * fsync, report, send, rearm. The simulator has a driver of its own. */
#ifndef COUP_NODES_DRIVER_H
#define COUP_NODES_DRIVER_H

#include "nodes/adapter.h"
#include "nodes/alarm.h"
#include "nodes/chronicle.h"
#include "nodes/elector.h"
#include "nodes/service.h"
#include "nodes/shell.h"
#include "nodes/store.h"

/* Where the process stops itself, for whoever asked for it to kill it there. */
enum write_stop { STOP_BEFORE_WRITE, STOP_DURING_WRITE, STOP_AFTER_WRITE };

struct driver {
    struct shell *shell;
    const struct algorithm *algorithm;
    struct elector_config config;
    void *elector; /* the algorithm's state */
    struct output output;
    struct chronicle chronicle;
    struct service service;
    struct adapter adapter; /* to the coordination service, with the trait service */
    struct store store;
    struct durable stored; /* as read at the start */
    struct alarm wake, service_wake, counts;
    enum write_stop stop_at;
    uint32_t stop_writes; /* at the so-manyth write from now; 0: at none */
};

/* Parse the algorithm, read the state; nothing is sent before driver_start(). */
int driver_open(struct driver *driver, struct shell *shell, struct error *error);
void driver_start(struct driver *driver);
void driver_message(struct driver *driver, const struct envelope *envelope);
void driver_unsent(struct driver *driver, const struct envelope *envelope);
void driver_command(struct driver *driver, enum command_type type, uint32_t target);
void driver_stop(struct driver *driver); /* last counts */

#endif
