/* coup-resource: the guarded resource. */
#include "nodes/resource.h"
#include "nodes/shell.h"

struct resource_process {
    struct resource *core;
    struct resource_log log;
    uint32_t peers[NODES_MAX];
};

static int resource_open(struct shell *shell, struct mesh_config *config, struct error *error)
{
    struct resource_process *process = shell->state;
    const struct arguments *arguments = &shell->arguments;
    process->core = resource_new(&(struct resource_config){
        .fenced = arguments->fenced,
        .registers = (uint32_t)shell->knobs.registers + 1,
        .run = arguments->run,
    });
    int rc = resource_log_open(arguments->state, process->core, &process->log, error);
    if (rc < 0)
        return rc;
    config->self = PROCESS_NUMBER(PROCESS_RESOURCE, 0);
    config->peers = process->peers;
    for (uint32_t id = 1; id <= arguments->nodes; id++)
        process->peers[config->peer_count++] = PROCESS_NUMBER(PROCESS_NODE, id);
    return 0;
}

static void resource_message(struct shell *shell, const struct envelope *envelope)
{
    struct resource_process *process = shell->state;
    if (envelope->type == WIRE_REQUEST)
        resource_request(process->core, envelope->source, &envelope->request, &shell->outbox,
                         &process->log.waiting);
}

static void resource_drained(struct shell *shell)
{
    struct resource_process *process = shell->state;
    struct error error;
    if (resource_log_commit(&process->log, &error) < 0)
        shell_fail(shell, &error);
    else
        shell_carry(shell);
}

static const char *resource_command(struct shell *shell, const char *text)
{
    (void)shell;
    (void)text;
    return "the resource takes no commands";
}

static const struct shell_program program = {
    .program = PROGRAM_RESOURCE,
    .name = "coup-resource",
    .summary = "the guarded resource; speaks control frames on stdin and stdout",
    .open = resource_open,
    .message = resource_message,
    .drained = resource_drained,
    .command = resource_command,
};

int main(int argc, char **argv)
{
    struct resource_process process = {.log = {.file = -1}};
    shell_main(&program, &process, argc, argv);
}
