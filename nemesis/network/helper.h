/* One incarnation of coup-switch or coup-disk as a child process in a uv loop: started with what it
 * works on as inherited descriptors, spoken to in control frames, seen to its end. When and whether
 * to start the next one is the owner's business. */
#ifndef COUP_NEMESIS_NETWORK_HELPER_H
#define COUP_NEMESIS_NETWORK_HELPER_H

#include <stdbool.h>

#include "base/error.h"
#include "base/text.h"
#include "nodes/control.h"

struct uv_loop_s;
struct helper;

struct helper_config {
    const char *program;    /* path */
    char *const *arguments; /* NULL-terminated, the program's name first */
    const char *log_path;   /* its stderr is appended there; NULL: nowhere */
    const int *descriptors; /* inherited as 3, 4, ... */
    uint32_t descriptor_count;
};

struct helper_listener {
    void *context;
    /* A ready or done frame; borrowed for the call. */
    void (*frame)(void *context, const struct control *control);
    /* It is gone, by itself or by a signal; helper_close() must follow. */
    void (*ended)(void *context, int64_t status, int signal);
};

/* -errno when the program cannot be started, naming it. */
int helper_start(const struct helper_config *config, struct uv_loop_s *loop,
                 const struct helper_listener *listener, struct helper **out, struct error *error);

/* Never blocks; what cannot be written now is written by the loop, in order. */
void helper_send(struct helper *helper, const struct control *control);

/* What a done frame says: "ok NUMBER DETAILS", or "failed WHY" and anything else: false. Borrows.
 */
bool helper_answer(const char *text, uint64_t *ret_number, const char **ret_rest);

/* It is of no use any more; ended() follows. */
void helper_kill(struct helper *helper);

/* Say no more, hear no more: the program sees end of file and is killed if it does not end soon.
 * Frees itself from within the loop. */
void helper_close(struct helper *helper);

#endif
