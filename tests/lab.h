/* Three network namespaces with a backend's network between them, and probes that see it as sockets
 * do. */
#ifndef COUP_TESTS_LAB_H
#define COUP_TESTS_LAB_H

#include <stdbool.h>

#include <uv.h>

#include "nemesis/network/backend.h"

#define LAB_ENDPOINTS 3
#define LAB_BASE 0x0a4d0700u /* 10.77.7.0 */
#define LAB_PORT 7000

struct lab {
    uv_loop_t loop;
    const struct network_backend *backend;
    struct network *network;
    struct endpoint endpoints[LAB_ENDPOINTS];
    int udp[LAB_ENDPOINTS];
    uint64_t last_ticket;
    uint16_t connections; /* so far */
    /* the latest answer */
    uint64_t answered;
    char failure[256], proof[256];
    uint64_t begin_ns, end_ns, touched, origin_ns;
    char notes[4096];
};

/* namespaces_allowed() must have said yes. Every failure fails the test. */
struct lab *lab_open(const char *backend);
void lab_close(struct lab *lab);
void lab_open_network(struct lab *lab, const char *folder); /* of coup-switch */

/* Run the loop until `done` holds; fails the test after ten seconds. */
void lab_run_until(struct lab *lab, bool (*done)(struct lab *lab, const void *wanted),
                   const void *wanted);
bool lab_is_answered(struct lab *lab, const void *wanted); /* uint64_t: the ticket */
bool lab_has_note(struct lab *lab, const void *wanted);    /* text */
bool lab_is_idle(struct lab *lab, const void *unused);     /* no handle is open */

/* What the network tells; for who opens one himself. */
void lab_on_answer(void *context, uint64_t ticket, const char *failure, uint64_t begin_ns,
                   uint64_t end_ns, uint64_t touched, const char *proof);
void lab_on_note(void *context, const char *text);
void lab_on_failed(void *context, const struct error *error);

/* Ask for one link and wait for the answer, which may be a failure. Returns `touched`. */
uint64_t lab_ask(struct lab *lab, uint32_t from, uint32_t to, const char *text, bool counters);
/* The same, and it must not fail. */
void lab_impair(struct lab *lab, uint32_t from, uint32_t to, const char *text);
uint64_t lab_touched(struct lab *lab, uint32_t from, uint32_t to, const char *causes);

struct tally {
    uint32_t arrived, twice, overtaken; /* the last: a later one was there first */
    uint64_t least_ns, median_ns;
};

/* Send datagrams and tell what came of them, `quiet_ms` after the last arrival. */
struct tally lab_probe(struct lab *lab, uint32_t from, uint32_t to, uint32_t count, int quiet_ms);
/* What still arrives of those sent before. */
struct tally lab_collect(struct lab *lab, uint32_t to, int quiet_ms);
void lab_assert_all_pass(struct lab *lab); /* every link of every two */

/* A TCP connection from endpoint 0 to 1; and whether bytes come within that time. */
void lab_connect(struct lab *lab, int *ret_client, int *ret_server);
bool lab_hears(int sock, int wait_ms);

/* What every backend must do to TCP: bytes of one direction are cut while those of the other are
 * acknowledged; a connection whose peer cannot be reached is given up in seconds. */
void lab_check_cut_data(struct lab *lab);
void lab_check_dead_connections(struct lab *lab);

#endif
