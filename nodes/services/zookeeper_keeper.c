/* ZooKeeper as it is kept: one server in a small Java machine. What it granted is read from its
 * transaction log, which it writes before it answers; a watch would miss what comes and goes
 * between two looks. After a restart the log is read from its beginning, and what the mark says is
 * recorded is passed over. Data is not fsynced: what a killed process wrote the kernel keeps. */
#include "nodes/keeper.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/units.h"
#include "nodes/address.h"
#include "nodes/alarm.h"
#include "nodes/clock.h"
#include "nodes/services/zk_link.h"
#include "nodes/services/zk_log.h"

#define LOOK_EVERY_NS (5 * NS_PER_MS)
#define READ_BYTES 65536u
/* Short, because a server that is still starting may swallow a greeting, which is repeated after
 * two thirds of this. */
#define SESSION_MS 1000

/* A record that is there. */
struct live {
    char path[ZK_PATH_MAX];
    uint64_t session, record;
    uint32_t node;
};

struct zk_keeper {
    struct keeper *keeper;
    struct zk_link link;
    struct alarm look;
    struct live *lives;
    uint32_t live_count, live_capacity;
    int file;             /* the log being read; -1: none */
    uint64_t file_number; /* its first transaction's, which names it; valid while file >= 0 */
    uint64_t at;          /* up to where it is understood */
    uint64_t newest;      /* transaction understood */
    uint32_t made;        /* of our folders, on this connection */
};

static bool write_settings(const struct keeper *keeper)
{
    char ip[ADDRESS_TEXT_MAX];
    struct text path = {0}, settings = {0};
    const char *state = keeper->shell->arguments.state;
    text_add(&path, "%s/data", state);
    (void)mkdir(text_string(&path), 0777); /* it may be there */
    text_add(&path, "/zoo.cfg");
    text_add(&settings,
             "tickTime=50\ndataDir=%s/data\nclientPort=%u\nclientPortAddress=%s\n"
             "minSessionTimeout=10\nmaxSessionTimeout=3600000\nmaxClientCnxns=0\n"
             "admin.enableServer=false\n",
             state, ZOOKEEPER_PORT, address_format(keeper->address, ip));
    int fd = open(text_string(&path), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    bool wrote = fd >= 0 && write(fd, settings.at, settings.length) == (ssize_t)settings.length;
    if (fd >= 0 && close(fd) < 0)
        wrote = false;
    text_release(&path);
    text_release(&settings);
    return wrote;
}

static bool zk_command(struct keeper *keeper, struct keeper_words *words,
                       struct keeper_words *environment)
{
    const struct arguments *arguments = &keeper->shell->arguments;
    (void)environment;
    (void)write_settings(keeper); /* without them the server says so */
    keeper_word(words, "%s", arguments->program);
    keeper_word(words, "-Xmx64m");
    keeper_word(words, "-Xms16m");
    keeper_word(words, "-XX:+UseSerialGC");
    keeper_word(words, "-XX:TieredStopAtLevel=1");
    keeper_word(words, "-XX:-UsePerfData");
    keeper_word(words, "-Djava.net.preferIPv4Stack=true");
    keeper_word(words, "-Dzookeeper.forceSync=no");
    keeper_word(words, "-Dzookeeper.preAllocSize=64");
    keeper_word(words, "-cp");
    keeper_word(words, "/usr/share/java/zookeeper.jar");
    keeper_word(words, "org.apache.zookeeper.server.quorum.QuorumPeerMain");
    keeper_word(words, "%s/data/zoo.cfg", arguments->state);
    return false;
}

/* --- what it grants --- */

static void tell(struct zk_keeper *zk, enum event_f f, const struct live *live, const char *reason)
{
    char record[32] = "leader";
    if (strcmp(live->path, ZK_LEADER) != 0)
        (void)snprintf(record, sizeof record, "queue/%" PRIu64, live->record);
    if (zk->newest > zk->keeper->recorded)
        keeper_event(zk->keeper, f, record, live->node, live->record, reason);
}

static void created(struct zk_keeper *zk, const struct zk_transaction *transaction)
{
    uint32_t nodes = (uint32_t)zk->keeper->shell->arguments.nodes;
    struct live live = {.session = transaction->session, .record = transaction->zxid};
    struct zk_name name;
    const char *queued = transaction->path + sizeof ZK_QUEUE;
    if (strcmp(transaction->path, ZK_LEADER) == 0) {
        if (!zk_node_read(transaction->data, nodes, &live.node))
            return;
    } else if (strncmp(transaction->path, ZK_QUEUE "/", sizeof ZK_QUEUE) == 0 &&
               zk_name_read(queued, nodes, &name)) {
        live.record = name.record;
        live.node = name.node;
    } else {
        return;
    }
    (void)snprintf(live.path, sizeof live.path, "%s", transaction->path);
    if (zk->live_count == zk->live_capacity) {
        zk->live_capacity = zk->live_capacity ? zk->live_capacity * 2 : 16;
        zk->lives = must_grow(zk->lives, zk->live_capacity, sizeof *zk->lives);
    }
    zk->lives[zk->live_count++] = live;
    tell(zk, F_GRANT, &live, NULL);
}

static void understood(struct zk_keeper *zk, const struct zk_transaction *transaction)
{
    if (transaction->zxid <= zk->newest)
        return; /* a new file begins with what the old one ends with */
    zk->newest = transaction->zxid;
    if (transaction->type == ZK_CREATE)
        created(zk, transaction);
    bool closes = transaction->type == ZK_CLOSE_SESSION;
    for (uint32_t i = 0; i < zk->live_count;) {
        const struct live live = zk->lives[i];
        bool goes =
            closes ? live.session == transaction->session
                   : transaction->type == ZK_DELETE && strcmp(live.path, transaction->path) == 0;
        if (!goes) {
            i++;
            continue;
        }
        zk->lives[i] = zk->lives[--zk->live_count];
        tell(zk, closes ? F_EXPIRE : F_REVOKE, &live, closes ? "session over" : "released");
    }
}

/* --- the files --- */

/* The log file that begins soonest after `after`, or at 0. False: there is none. */
static bool next_file(const struct zk_keeper *zk, bool any, uint64_t after, uint64_t *out)
{
    struct text path = {0};
    bool found = false;
    text_add(&path, "%s/data/version-2", zk->keeper->shell->arguments.state);
    DIR *folder = opendir(text_string(&path));
    struct dirent *entry;
    while (folder && (entry = readdir(folder))) {
        uint64_t number;
        char end = '\0';
        if (sscanf(entry->d_name, "log.%" SCNx64 "%c", &number, &end) != 1 ||
            (!any && number <= after) || (found && number >= *out))
            continue;
        *out = number;
        found = true;
    }
    if (folder)
        (void)closedir(folder); /* read only */
    text_release(&path);
    return found;
}

static void open_file(struct zk_keeper *zk, uint64_t number)
{
    struct text path = {0};
    text_add(&path, "%s/data/version-2/log.%" PRIx64, zk->keeper->shell->arguments.state, number);
    if (zk->file >= 0)
        (void)close(zk->file); /* read only */
    zk->file = open(text_string(&path), O_RDONLY | O_CLOEXEC);
    zk->file_number = number;
    zk->at = ZK_LOG_HEADER;
    text_release(&path);
}

/* What the file has beyond what was understood; the zeros behind it are read again. */
static void read_file(struct zk_keeper *zk)
{
    struct zk_transaction transaction;
    char buffer[READ_BYTES];
    ssize_t got;
    do {
        off_t from = (off_t)zk->at;
        got = pread(zk->file, buffer, sizeof buffer, from);
        size_t at = 0, before;
        do {
            before = at;
            if (got > 0 && zk_log_next((const uint8_t *)buffer, (size_t)got, &at, &transaction))
                understood(zk, &transaction);
        } while (at > before);
        zk->at += at;
        if (at == 0)
            break;
    } while (got > 0);
}

static void on_look(void *context)
{
    struct zk_keeper *zk = context;
    uint64_t number;
    if (zk->file < 0 && next_file(zk, true, 0, &number))
        open_file(zk, number);
    while (zk->file >= 0) {
        read_file(zk);
        if (!next_file(zk, false, zk->file_number, &number))
            break;
        read_file(zk); /* what came between the two looks */
        open_file(zk, number);
    }
    keeper_recorded(zk->keeper, zk->newest);
    alarm_set(&zk->look, clock_own_ns() + LOOK_EVERY_NS);
}

/* --- ready: our folders are there --- */

static void on_made(int rc, const char *path, const void *context)
{
    struct zk_keeper *zk = (struct zk_keeper *)(uintptr_t)context;
    (void)path;
    if (rc != ZOK && rc != ZNODEEXISTS)
        return; /* it connects again, and this begins anew */
    if (++zk->made == 2)
        keeper_ready(zk->keeper);
}

static void on_connected(void *context)
{
    struct zk_keeper *zk = context;
    zk->made = 0;
    (void)zoo_acreate(zk->link.handle, ZK_ROOT, "", 0, &ZOO_OPEN_ACL_UNSAFE, 0, on_made, zk);
    (void)zoo_acreate(zk->link.handle, ZK_QUEUE, "", 0, &ZOO_OPEN_ACL_UNSAFE, 0, on_made, zk);
}

static void on_expired(void *context)
{
    (void)context; /* it has done its part, or the run will say that nobody is ready */
}

static void on_watched(void *context, int type, const char *path)
{
    (void)context;
    (void)type;
    (void)path;
}

static int zk_begin(struct keeper *keeper, struct error *error)
{
    struct zk_keeper *zk = must_alloc(1, sizeof *zk);
    const struct zk_link_events events = {zk, on_connected, on_expired, on_watched};
    char ip[ADDRESS_TEXT_MAX], address[ADDRESS_TEXT_MAX + 8];
    *zk = (struct zk_keeper){.keeper = keeper, .file = -1};
    keeper->state = zk;
    (void)snprintf(address, sizeof address, "%s:%u", address_format(keeper->address, ip),
                   ZOOKEEPER_PORT);
    alarm_init(&zk->look, &keeper->shell->loop, on_look, zk);
    on_look(zk);
    if (!zk_link_open(&zk->link, &keeper->shell->loop, address, SESSION_MS, &events))
        return error_set(error, -errno, "the client of ZooKeeper does not start: %s",
                         strerror(errno));
    return 0;
}

/* Nobody but its owner can end a session. */
static bool zk_drop(struct keeper *keeper, uint32_t node)
{
    (void)node;
    keeper_dropped(keeper, 0);
    return true;
}

const struct keeper_kind keeper_zookeeper = {
    .name = "zookeeper", .command = zk_command, .begin = zk_begin, .drop = zk_drop};
