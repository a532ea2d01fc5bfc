/* coup-client: one workload client. */
#include <string.h>

#include "base/units.h"
#include "nodes/alarm.h"
#include "nodes/client_core.h"
#include "nodes/clock.h"
#include "nodes/shell.h"

struct client_process {
    struct client core;
    struct alarm wake;
    uint32_t peers[NODES_MAX];
};

static int client_open(struct shell *shell, struct mesh_config *config, struct error *error)
{
    struct client_process *client = shell->state;
    const struct arguments *arguments = &shell->arguments;
    (void)error; /* the arguments' bounds are all there is to check */
    client_init(&client->core,
                &(struct client_config){.client = (uint32_t)arguments->id,
                                        .incarnation = arguments->incarnation,
                                        .nodes = (uint32_t)arguments->nodes,
                                        .registers = (uint32_t)shell->knobs.registers,
                                        .pause_ns = NS_PER_S / arguments->rate,
                                        .request_timeout_ns = shell->knobs.request_timeout,
                                        .seed = mix64(arguments->seed ^ arguments->incarnation)});
    config->self = PROCESS_NUMBER(PROCESS_CLIENT, arguments->id);
    config->peers = client->peers;
    for (uint32_t id = 1; id <= arguments->nodes; id++)
        client->peers[config->peer_count++] = PROCESS_NUMBER(PROCESS_NODE, id);
    return 0;
}

static void carry(struct shell *shell)
{
    struct client_process *client = shell->state;
    shell_carry(shell);
    alarm_set(&client->wake, client_deadline(&client->core));
}

static void on_wake(void *context)
{
    struct shell *shell = context;
    struct client_process *client = shell->state;
    client_wake(&client->core, clock_own_ns(), &shell->outbox);
    carry(shell);
}

static void client_begin(struct shell *shell)
{
    struct client_process *client = shell->state;
    alarm_init(&client->wake, &shell->loop, on_wake, shell);
}

static void client_message(struct shell *shell, const struct envelope *envelope)
{
    struct client_process *client = shell->state;
    if (envelope->type == WIRE_REPLY)
        client_reply(&client->core, envelope->source, &envelope->reply, clock_own_ns(),
                     &shell->outbox);
    carry(shell);
}

static void client_gave_up(struct shell *shell, const struct envelope *envelope)
{
    struct client_process *client = shell->state;
    client_unsent(&client->core, envelope->request.id, clock_own_ns(), &shell->outbox);
}

/* "start | stop" */
static const char *client_command(struct shell *shell, const char *text)
{
    struct client_process *client = shell->state;
    if (strcmp(text, "start") == 0)
        client_start(&client->core, clock_own_ns());
    else if (strcmp(text, "stop") == 0)
        client_stop(&client->core);
    else
        return "not one of: start, stop";
    carry(shell);
    return NULL;
}

static const struct shell_program program = {
    .program = PROGRAM_CLIENT,
    .name = "coup-client",
    .summary = "one workload client; speaks control frames on stdin and stdout",
    .open = client_open,
    .start = client_begin,
    .message = client_message,
    .command = client_command,
    .unsent = client_gave_up,
};

int main(int argc, char **argv)
{
    struct client_process client = {0};
    shell_main(&program, &client, argc, argv);
}
