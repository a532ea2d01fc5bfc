/* What the controller and its children say to each other over the children's stdin and stdout, each
 * a frame (base/frame.h) holding one msgpack array [verb, ...]. Pure codec, no I/O.
 *
 *   child -> controller   ready(address text)      listening; sent once
 *                         event(event bytes)       histories/event.h, time already true
 *                         done(id, begin, end, text)  answer to a command that has an id:
 *                                               "done ...", or why not
 *   controller -> child   command(id, text)        one line, words depend on the program:
 *       coup-node          transfer N | resign | force | trace on|off |
 *                          clocks (answer: done TRUE OWN TRUE-WALL WALL, ns) |
 *                          crash N before|during|after (stops itself there in its Nth write, having
 *                          stood for election; 0: not any more) |
 *                          halt check|write|send|off (stops itself once it has found that it may
 *                          write, before anybody hears of that; with the write recorded, before it
 *                          is sent; before it sends anything to other nodes) |
 *                          message ... (nodes/edge.h; coup-coordinator too)
 *       coup-client        start | stop
 *       all of these       twin N off|both|only (whom messages for node N reach: it, its twin too,
 *                          the twin alone)
 *       coup-switch        link lines (nemesis/network/README.md) | counters
 *       coup-disk          nemesis/disk/disk_command.h
 *   EOF on stdin ends every child; its exit code is 0 then.
 * Times are true monotonic nanoseconds since the run's start, which children get as an argument. */
#ifndef COUP_NODES_CONTROL_H
#define COUP_NODES_CONTROL_H

#include "base/error.h"
#include "base/text.h"
#include "histories/event.h"

enum control_verb { CONTROL_READY, CONTROL_EVENT, CONTROL_DONE, CONTROL_COMMAND, CONTROL_VERBS };

struct control {
    enum control_verb verb;
    uint64_t id;         /* done, command */
    uint64_t begin, end; /* done */
    struct slice text;   /* ready, done, command; borrowed */
    struct event event;  /* event; texts borrowed */
};

/* Append a whole frame, head included. */
void control_encode(const struct control *control, struct text *out);
int control_decode(const uint8_t *bytes, size_t length, struct control *out, struct error *error);

#endif
