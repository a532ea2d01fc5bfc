/* coup-coordinator: the embedded coordination service. */
#include <inttypes.h>
#include <stdio.h>

#include "nodes/alarm.h"
#include "nodes/clock.h"
#include "nodes/coordinator_store.h"
#include "nodes/shell.h"

struct coordinator_process {
    struct coordinator *core;
    struct coordinator_store store;
    struct alarm wake;
    uint32_t peers[NODES_MAX];
};

static int coordinator_open(struct shell *shell, struct mesh_config *config, struct error *error)
{
    struct coordinator_process *process = shell->state;
    const struct arguments *arguments = &shell->arguments;
    process->core = coordinator_new((uint32_t)arguments->nodes);
    int rc = coordinator_store_open(arguments->state, arguments->run, process->core, clock_own_ns(),
                                    &process->store, error);
    if (rc < 0)
        return rc;
    config->self = PROCESS_NUMBER(PROCESS_COORDINATOR, 0);
    config->kinds = COORDINATION_KINDS;
    shell->kinds = coordination_kinds;
    config->service = true;
    config->peers = process->peers;
    for (uint32_t id = 1; id <= arguments->nodes; id++)
        process->peers[config->peer_count++] = PROCESS_NUMBER(PROCESS_NODE, id);
    return 0;
}

static void send_answers(struct shell *shell)
{
    const struct outbox *outbox = &shell->outbox;
    for (uint32_t i = 0; i < outbox->message_count; i++)
        (void)mesh_send(shell->mesh, &outbox->messages[i]); /* who hears nothing asks again */
}

/* Durable, then recorded, then said. */
static void carry(struct shell *shell)
{
    struct coordinator_process *process = shell->state;
    struct error error;
    if (coordinator_store_commit(&process->store, coordinator_changes(process->core), &error) < 0) {
        shell_fail(shell, &error);
        return;
    }
    shell_record(shell);
    send_answers(shell);
    shell->outbox.message_count = 0;
    shell_carry(shell);
    alarm_set(&process->wake, coordinator_deadline(process->core));
}

static void on_wake(void *context)
{
    struct shell *shell = context;
    struct coordinator_process *process = shell->state;
    coordinator_wake(process->core, clock_own_ns(), &shell->outbox);
    carry(shell);
}

static void coordinator_start(struct shell *shell)
{
    struct coordinator_process *process = shell->state;
    alarm_init(&process->wake, &shell->loop, on_wake, shell);
    alarm_set(&process->wake, coordinator_deadline(process->core));
}

static void coordinator_message(struct shell *shell, const struct envelope *envelope)
{
    struct coordinator_process *process = shell->state;
    const struct service_time time = {clock_own_ns(), clock_wall_ns()};
    if (envelope->type == WIRE_ELECTION)
        coordinator_ask(process->core, &envelope->message, time, &shell->outbox);
}

/* "drop N": forget the sessions of node N */
static const char *coordinator_command(struct shell *shell, const char *text)
{
    struct coordinator_process *process = shell->state;
    unsigned node = 0;
    char end = '\0';
    if (sscanf(text, "drop %u%c", &node, &end) != 1 || node < 1 || node > shell->arguments.nodes)
        return "not 'drop N' with N a node";
    uint32_t dropped = coordinator_drop(process->core, node, &shell->outbox);
    carry(shell);
    text_add(&shell->answer, " %" PRIu32 " sessions dropped", dropped);
    return dropped ? NULL : "the node has no session";
}

static const struct shell_program program = {
    .program = PROGRAM_COORDINATOR,
    .name = "coup-coordinator",
    .summary = "the embedded coordination service; speaks control frames on stdin and stdout",
    .open = coordinator_open,
    .start = coordinator_start,
    .message = coordinator_message,
    .drained = carry,
    .command = coordinator_command,
};

int main(int argc, char **argv)
{
    struct coordinator_process process = {0};
    shell_main(&program, &process, argc, argv);
}
