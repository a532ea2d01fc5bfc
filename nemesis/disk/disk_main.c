/* coup-disk: the disks of a run's nodes, with every trouble of struct disk_trouble, power losses
 * and wipes. It gets the FUSE connections as open descriptors, one behind the other, and behind
 * them the folders that the mounts hide, into which the files are written at the end. It is one
 * thread: a command takes effect between two requests. Arguments are name=value words: nodes=N
 * first-fd=N seed=N Commands and answers are control frames (nodes/control.h) on stdin and stdout;
 * commands are those of disk_command.h, answers "ok TOUCHED PROOF" and "failed WHY". */
#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/process.h"
#include "base/units.h"
#include "nemesis/disk/disk_command.h"
#include "nemesis/disk/disk_requests.h"
#include "nemesis/network/helper_end.h"
#include "nodes/clock.h"

enum { NODES, FIRST_FD, SEED };

static const struct option options[] = {
    [NODES] = {"nodes", OPTION_COUNT, "1", 1, NODES_MAX, NULL, "number of disks"},
    [FIRST_FD] = {"first-fd", OPTION_COUNT, "3", 3, 65535, NULL, "first FUSE connection"},
    [SEED] = {"seed", OPTION_COUNT, "0", 0, UINT64_MAX, NULL, "of all random draws"},
    {.name = NULL},
};

struct shell {
    struct option_values values;
    struct helper_end end;
    struct disk *disks; /* by node - 1 */
    uint32_t count;
};

/* ---- commands ---- */

static uint64_t set_trouble(struct disk *disk, const struct act *act, struct text *proof)
{
    char is[DISK_TROUBLE_TEXT_MAX];
    disk_set_trouble(disk, &act->disk);
    text_add(proof, "disk %s, %" PRIu64 " requests touched so far",
             disk_trouble_format(&act->disk, is), disk->ailment.touched[act->symptom]);
    return disk->ailment.touched[act->symptom];
}

static uint64_t carry_out(struct disk *disk, const struct act *act, struct text *proof)
{
    if (act->action == ACTION_DISK)
        return set_trouble(disk, act, proof);
    if (act->action == ACTION_WIPE) {
        disk_core_wipe(disk->core);
        text_add(proof, "disk empty");
        return 0;
    }
    uint32_t all = disk_core_unsynced(disk->core);
    uint32_t lost = disk_core_power_loss(disk->core, act->kept_ppm);
    if (all == 0)
        text_add(proof, "all was synced");
    else
        text_add(proof, "%" PRIu32 " of %" PRIu32 " unsynced operations lost", lost, all);
    return 0;
}

static bool take_command(void *context, const struct control *control)
{
    struct shell *shell = context;
    struct text proof = {0}, text = {0};
    struct error error;
    struct act act;
    uint32_t node;
    if (disk_command_parse(control->text, shell->count, &node, &act, &error) < 0) {
        text_add(&text, "failed %s", error.text);
    } else {
        uint64_t touched = carry_out(&shell->disks[node - 1], &act, &proof);
        text_add(&text, "ok %" PRIu64 " %s", touched, text_string(&proof));
    }
    const struct control done = {
        .verb = CONTROL_DONE, .id = control->id, .text = {text_string(&text), text.length}};
    bool sent = helper_end_send(&shell->end, &done);
    text_release(&text);
    text_release(&proof);
    return sent;
}

/* ---- loop ---- */

/* How long until a slow fsync ends; NULL: none does. */
static struct timespec *patience(const struct shell *shell, struct timespec *out)
{
    uint64_t due_ns = UINT64_MAX, now_ns = clock_true_ns();
    for (uint32_t i = 0; i < shell->count; i++)
        if (disk_due(&shell->disks[i]) < due_ns)
            due_ns = disk_due(&shell->disks[i]);
    if (due_ns == UINT64_MAX)
        return NULL;
    uint64_t left_ns = due_ns > now_ns ? due_ns - now_ns : 0;
    *out = (struct timespec){(time_t)(left_ns / NS_PER_S), (long)(left_ns % NS_PER_S)};
    return out;
}

static bool is_served(const struct disk *disk)
{
    return !disk->gone && !disk->ailment.trouble.stalled;
}

/* Poll leaves out what has a negative descriptor. */
static int turn(struct shell *shell, struct error *error)
{
    struct pollfd watched[1 + NODES_MAX] = {{.fd = STDIN_FILENO, .events = POLLIN}};
    struct timespec time;
    for (uint32_t i = 0; i < shell->count; i++)
        watched[1 + i] = (struct pollfd){
            .fd = is_served(&shell->disks[i]) ? shell->disks[i].fuse : -1, .events = POLLIN};
    if (ppoll(watched, 1 + shell->count, patience(shell, &time), NULL) < 0)
        return errno == EINTR ? 0 : error_set(error, -errno, "poll: %s", strerror(errno));
    for (uint32_t i = 0; i < shell->count; i++) {
        if (watched[1 + i].revents)
            disk_serve(&shell->disks[i]);
        disk_end_due(&shell->disks[i], clock_true_ns());
    }
    return watched[0].revents ? helper_end_read(&shell->end, error) : 0;
}

static int open_disks(struct shell *shell, struct error *error)
{
    uint32_t count = (uint32_t)shell->values.at[NODES];
    int first = (int)shell->values.at[FIRST_FD], rc = 0;
    shell->disks = must_alloc(count, sizeof *shell->disks);
    for (; rc == 0 && shell->count < count; shell->count++) {
        int fuse = first + (int)shell->count;
        rc = disk_open(&shell->disks[shell->count], shell->values.at[SEED], shell->count + 1, fuse,
                       fuse + (int)count, error);
    }
    return rc;
}

static int save_all(const struct shell *shell, struct error *error)
{
    int rc = 0;
    for (uint32_t i = 0; i < shell->count && rc == 0; i++)
        rc = disk_save(&shell->disks[i], error);
    return rc;
}

static int run(struct shell *shell, struct error *error)
{
    int rc = open_disks(shell, error);
    const struct control hello = {.verb = CONTROL_READY};
    if (rc == 0)
        shell->end.ended = !helper_end_send(&shell->end, &hello);
    while (rc == 0 && !shell->end.ended)
        rc = turn(shell, error);
    return rc < 0 ? rc : save_all(shell, error);
}

static void close_shell(struct shell *shell)
{
    for (uint32_t i = 0; i < shell->count; i++)
        disk_close(&shell->disks[i]);
    free(shell->disks);
    helper_end_release(&shell->end);
}

int main(int argc, char **argv)
{
    struct shell shell = {.end = {.context = &shell, .command = take_command}};
    struct error error;
    int rc = helper_end_begin(options, argc, argv, &shell.values, &error);
    if (rc == 0)
        rc = run(&shell, &error);
    close_shell(&shell);
    if (rc == 0)
        return EXIT_VALID;
    (void)fprintf(stderr, "coup-disk: %s\n", error.text);
    return (int)error_exit_code(&error);
}
