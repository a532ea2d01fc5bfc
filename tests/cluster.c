#include "tests/cluster.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/units.h"
#include "nodes/clock.h"
#include "nodes/control.h"

/* Something is wrong that no test can go on from. */
static _Noreturn void give_up(const char *format, ...) __attribute__((format(printf, 1, 2)));
static _Noreturn void give_up(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    (void)vfprintf(stderr, format, arguments);
    va_end(arguments);
    (void)fputc('\n', stderr);
    abort();
}

static const char *name_of(const struct member *member)
{
    static char name[PROCESS_NAME_MAX];
    return process_name(member->process, name);
}

uint64_t cluster_now(const struct cluster *cluster)
{
    return clock_true_ns() - cluster->origin_ns;
}

struct member *cluster_node(struct cluster *cluster, uint32_t id)
{
    return &cluster->members[id - 1];
}

struct member *cluster_resource(struct cluster *cluster)
{
    return &cluster->members[cluster->nodes];
}

struct member *cluster_client(struct cluster *cluster, uint32_t id)
{
    return &cluster->members[cluster->nodes + id];
}

/* Spawning */

#define READY_MS 20000
#define WORDS_MAX 20
struct words {
    char text[WORDS_MAX][96];
    char *argv[WORDS_MAX + 1];
    uint32_t count;
};

static void add_word(struct words *words, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
static void add_word(struct words *words, const char *format, ...)
{
    assert(words->count < WORDS_MAX);
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(words->text[words->count], sizeof words->text[0], format, arguments);
    va_end(arguments);
    words->argv[words->count] = words->text[words->count];
    words->argv[++words->count] = NULL;
}

static void command_line(const struct cluster *cluster, const struct member *member,
                         struct words *words)
{
    static const char *const programs[PROCESS_KINDS] = {[PROCESS_NODE] = "coup-node",
                                                        [PROCESS_RESOURCE] = "coup-resource",
                                                        [PROCESS_CLIENT] = "coup-client"};
    enum process_kind kind = process_kind(member->process);
    add_word(words, "%s/%s", PROGRAMS_FOLDER, programs[kind]);
    add_word(words, "nodes=%" PRIu32, cluster->nodes);
    add_word(words, "run=%" PRIx64, cluster->run);
    add_word(words, "origin=%" PRIu64, cluster->origin_ns);
    add_word(words, "base=%s", cluster->base);
    add_word(words, "seed=%" PRIu64, cluster->run);
    add_word(words, "incarnation=%" PRIu32, member->incarnation);
    if (kind != PROCESS_RESOURCE)
        add_word(words, "id=%" PRIu32, process_index(member->process));
    if (kind != PROCESS_CLIENT)
        add_word(words, "state=%s", cluster->folder);
    if (kind == PROCESS_RESOURCE)
        add_word(words, "mode=%s", cluster->mode);
    if (kind == PROCESS_NODE) {
        add_word(words, "algorithm=%s", cluster->algorithm);
        add_word(words, "clients=%" PRIu32, cluster->clients);
    }
}

void cluster_spawn(struct cluster *cluster, struct member *member)
{
    int in[2], out[2];
    struct words words = {.count = 0};
    assert(member->pid == 0);
    member->incarnation++;
    command_line(cluster, member, &words);
    if (pipe2(in, O_CLOEXEC) < 0 || pipe2(out, O_CLOEXEC) < 0)
        give_up("pipe: %s", strerror(errno));
    pid_t pid = fork();
    if (pid == 0) {
        (void)dup2(in[0], STDIN_FILENO);
        (void)dup2(out[1], STDOUT_FILENO);
        (void)execv(words.argv[0], words.argv);
        _exit(127);
    }
    (void)close(in[0]);
    (void)close(out[1]);
    member->pid = pid;
    member->input = in[1];
    member->output = out[0];
    member->ready = false;
}

static int reap(struct cluster *cluster, struct member *member)
{
    int status = -1;
    while (waitpid(member->pid, &status, 0) < 0 && errno == EINTR)
        continue;
    if (member->input >= 0)
        (void)close(member->input);
    (void)close(member->output);
    frame_reader_release(&member->reader);
    if (cluster->leader == member->process)
        cluster->leader = 0;
    member->pid = 0;
    return status;
}

void cluster_kill(struct cluster *cluster, struct member *member)
{
    (void)kill(member->pid, SIGKILL);
    (void)reap(cluster, member);
}

/* Watching */

static void take_operation_end(struct member *member, const struct event *event)
{
    member->ok += event->type == EVENT_OK;
    member->failed += event->type == EVENT_FAIL;
    member->unknown += event->type == EVENT_INFO;
}

static void take_event(struct cluster *cluster, struct member *member, const struct event *event)
{
    switch (event->f) {
    case F_LEAD:
        cluster->leader = event->process;
        cluster->token = event_number(event, FIELD_TOKEN);
        cluster->lead_ns = event->time_ns;
        cluster->accept_ns = 0;
        break;
    case F_STEP_DOWN:
        if (cluster->leader == event->process)
            cluster->leader = 0;
        break;
    case F_SUSPECT:
        if (!cluster->suspect_ns)
            cluster->suspect_ns = event->time_ns;
        break;
    case F_CAMPAIGN:
        if (!cluster->campaign_ns)
            cluster->campaign_ns = event->time_ns;
        break;
    case F_ACCEPT:
        cluster->accepted++;
        cluster->accepted_token = event_number(event, FIELD_TOKEN);
        cluster->accepted_sequence = event_number(event, FIELD_SEQUENCE);
        if (!cluster->accept_ns && cluster->accepted_token == cluster->token)
            cluster->accept_ns = event->time_ns;
        break;
    case F_REJECT: cluster->rejected++; break;
    case F_GUARDED_WRITE:
    case F_READ:
    case F_WRITE:
    case F_CAS: take_operation_end(member, event); break;
    default: break;
    }
}

static void take_frame(struct cluster *cluster, struct member *member, const uint8_t *bytes,
                       size_t length)
{
    struct control control;
    struct error error;
    if (control_decode(bytes, length, &control, &error) < 0)
        give_up("%s says: %s", name_of(member), error.text);
    if (control.verb == CONTROL_READY)
        member->ready = true;
    if (control.verb == CONTROL_EVENT)
        take_event(cluster, member, &control.event);
    if (control.verb == CONTROL_DONE) {
        member->dones++;
        (void)snprintf(member->answer, sizeof member->answer, "%.*s", (int)control.text.length,
                       control.text.at);
    }
}

/* False at the end of the child's output. */
static bool read_member(struct cluster *cluster, struct member *member)
{
    size_t room = 0;
    uint8_t *into = frame_reader_room(&member->reader, 4096, &room);
    ssize_t got = read(member->output, into, room);
    if (got <= 0)
        return false;
    frame_reader_filled(&member->reader, (size_t)got);
    const uint8_t *bytes = NULL;
    size_t length = 0;
    struct error error;
    while (frame_reader_next(&member->reader, &bytes, &length, &error) > 0)
        take_frame(cluster, member, bytes, length);
    return true;
}

/* A child that ends by itself fails the test that runs. */
static void pump(struct cluster *cluster, int limit_ms)
{
    struct pollfd polled[MEMBERS_MAX];
    for (uint32_t i = 0; i < cluster->member_count; i++)
        polled[i] = (struct pollfd){.fd = cluster->members[i].pid ? cluster->members[i].output : -1,
                                    .events = POLLIN};
    if (poll(polled, cluster->member_count, limit_ms) <= 0)
        return;
    for (uint32_t i = 0; i < cluster->member_count; i++) {
        if (polled[i].revents && !read_member(cluster, &cluster->members[i]))
            give_up("%s ended by itself", name_of(&cluster->members[i]));
    }
}

bool cluster_wait(struct cluster *cluster, cluster_predicate holds, uint64_t argument,
                  uint64_t limit_ms)
{
    uint64_t end_ns = clock_true_ns() + limit_ms * NS_PER_MS;
    while (!holds(cluster, argument)) {
        if (clock_true_ns() >= end_ns)
            return false;
        pump(cluster, 10);
    }
    return true;
}

void cluster_command(struct member *member, const char *text)
{
    struct text frame = {0};
    control_encode(&(struct control){.verb = CONTROL_COMMAND, .id = 1, .text = slice_of(text)},
                   &frame);
    if (write(member->input, frame.at, frame.length) != (ssize_t)frame.length)
        give_up("%s takes no command: %s", name_of(member), strerror(errno));
    text_release(&frame);
}

/* Opening and closing */

static bool all_ready(const struct cluster *cluster, uint64_t argument)
{
    (void)argument;
    for (uint32_t i = 0; i < cluster->member_count; i++)
        if (cluster->members[i].pid && !cluster->members[i].ready)
            return false;
    return true;
}

static void add_member(struct cluster *cluster, uint32_t process)
{
    assert(cluster->member_count < MEMBERS_MAX);
    cluster->members[cluster->member_count++] = (struct member){.process = process};
}

void cluster_open(struct cluster *cluster)
{
    (void)signal(SIGPIPE, SIG_IGN);
    (void)snprintf(cluster->folder, sizeof cluster->folder, "/tmp/coup-live-XXXXXX");
    if (!mkdtemp(cluster->folder))
        give_up("%s: %s", cluster->folder, strerror(errno));
    /* A network of its own for each test that runs at the same time. */
    (void)snprintf(cluster->base, sizeof cluster->base, "127.%d.%d.0", 1 + (getpid() >> 8) % 254,
                   getpid() & 255);
    cluster->origin_ns = clock_true_ns();
    cluster->run = cluster->origin_ns ^ (uint64_t)getpid();
    for (uint32_t id = 1; id <= cluster->nodes; id++)
        add_member(cluster, PROCESS_NUMBER(PROCESS_NODE, id));
    add_member(cluster, PROCESS_NUMBER(PROCESS_RESOURCE, 0));
    for (uint32_t id = 1; id <= cluster->clients; id++)
        add_member(cluster, PROCESS_NUMBER(PROCESS_CLIENT, id));
    for (uint32_t i = 0; i < cluster->member_count; i++)
        cluster_spawn(cluster, &cluster->members[i]);
    if (!cluster_wait(cluster, all_ready, 0, READY_MS))
        give_up("not all members were ready within %d ms", READY_MS);
}

static void remove_folder(const struct cluster *cluster)
{
    char path[160];
    for (uint32_t id = 1; id <= cluster->nodes; id++) {
        (void)snprintf(path, sizeof path, "%s/node-%" PRIu32 ".state", cluster->folder, id);
        (void)unlink(path);
        (void)snprintf(path, sizeof path, "%s/node-%" PRIu32 ".state.new", cluster->folder, id);
        (void)unlink(path); /* a kill may leave one */
    }
    (void)snprintf(path, sizeof path, "%s/resource.log", cluster->folder);
    (void)unlink(path);
    if (rmdir(cluster->folder) < 0)
        give_up("remove %s: %s", cluster->folder, strerror(errno));
}

void cluster_close(struct cluster *cluster)
{
    for (uint32_t i = 0; i < cluster->member_count; i++) {
        struct member *member = &cluster->members[i];
        if (!member->pid)
            continue;
        (void)close(member->input);
        member->input = -1;
    }
    for (uint32_t i = 0; i < cluster->member_count; i++) {
        struct member *member = &cluster->members[i];
        if (!member->pid)
            continue;
        while (read_member(cluster, member))
            continue;
        int status = reap(cluster, member);
        if (status != 0)
            give_up("%s ended with status %d", name_of(member), status);
    }
}

void cluster_release(struct cluster *cluster)
{
    for (uint32_t i = 0; i < cluster->member_count; i++)
        if (cluster->members[i].pid)
            cluster_kill(cluster, &cluster->members[i]);
    remove_folder(cluster);
}
