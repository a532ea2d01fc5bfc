/* coup-node: one election node. */
#include "nodes/driver.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "nodes/clock.h"

struct node {
    struct driver driver;
    uint32_t peers[NODES_MAX + 2 + CLIENTS_MAX];
};

static void add_peers(struct node *node, const struct arguments *arguments,
                      struct mesh_config *config)
{
    config->peers = node->peers;
    for (uint32_t id = 1; id <= arguments->nodes; id++)
        if (id != arguments->id && !config->service)
            node->peers[config->peer_count++] = PROCESS_NUMBER(PROCESS_NODE, id);
    if (config->service && strcmp(arguments->service, "embedded") == 0)
        node->peers[config->peer_count++] = PROCESS_NUMBER(PROCESS_COORDINATOR, 0);
    node->peers[config->peer_count++] = PROCESS_NUMBER(PROCESS_RESOURCE, 0);
    for (uint32_t id = 1; id <= arguments->clients; id++)
        node->peers[config->peer_count++] = PROCESS_NUMBER(PROCESS_CLIENT, id);
}

static int node_open(struct shell *shell, struct mesh_config *config, struct error *error)
{
    struct node *node = shell->state;
    int rc = driver_open(&node->driver, shell, error);
    if (rc < 0)
        return rc;
    config->self = PROCESS_NUMBER(PROCESS_NODE, shell->arguments.id);
    if (shell->arguments.twin)
        config->home = PROCESS_NUMBER(PROCESS_TWIN, shell->arguments.id);
    config->kinds = algorithm_kind_count(node->driver.algorithm);
    shell->kinds = node->driver.algorithm->kinds;
    config->service =
        algorithm_has_service(node->driver.algorithm->traits(&node->driver.config.options));
    add_peers(node, &shell->arguments, config);
    return 0;
}

static void node_start(struct shell *shell)
{
    driver_start(&((struct node *)shell->state)->driver);
}

static void node_message(struct shell *shell, const struct envelope *envelope)
{
    driver_message(&((struct node *)shell->state)->driver, envelope);
}

static void node_unsent(struct shell *shell, const struct envelope *envelope)
{
    driver_unsent(&((struct node *)shell->state)->driver, envelope);
}

static void tell_belief(struct shell *shell, const struct belief *belief)
{
    static const char *const roles[] = {"follows", "stands", "leads"};
    text_add(&shell->answer, " %s in term %" PRIu64, roles[belief->role], belief->term);
}

/* What an operator says, and what must be so before it and after it to count as done. */
static const char *operate(struct shell *shell, enum command_type type, uint32_t target)
{
    struct driver *driver = &((struct node *)shell->state)->driver;
    const struct belief *belief = &driver->output.belief;
    if (type != COMMAND_FORCE && belief->role != ROLE_LEADER)
        return "does not lead";
    driver_command(driver, type, target);
    if (type == COMMAND_FORCE && belief->role != ROLE_LEADER)
        return "did not take the lead";
    if (type == COMMAND_RESIGN && belief->role == ROLE_LEADER)
        return "goes on leading";
    tell_belief(shell, belief);
    return NULL;
}

/* "N before|during|after": stop at that point of the so-manyth write. Standing makes for one. */
static const char *stop_at_write(struct driver *driver, const char *text)
{
    static const char *const points[] = {"before", "during", "after"};
    char point[16] = "", end = '\0';
    unsigned writes = 0;
    if (sscanf(text, "%u %15s%c", &writes, point, &end) != 2)
        return "not: crash N before|during|after";
    for (int i = 0; i < 3; i++)
        if (strcmp(point, points[i]) == 0)
            driver->stop_at = (enum write_stop)i;
    driver->stop_writes = writes;
    if (writes)
        driver_command(driver, COMMAND_STAND, 0);
    return NULL;
}

static const char *halt_at(struct shell *shell, const char *point)
{
    static const char *const points[] = {[HALT_NOWHERE] = "off",
                                         [HALT_AT_CHECK] = "check",
                                         [HALT_AT_WRITE] = "write",
                                         [HALT_AT_SEND] = "send"};
    for (size_t i = 0; i < sizeof points / sizeof points[0]; i++)
        if (strcmp(point, points[i]) == 0) {
            shell->halt = (enum halt)i;
            return NULL;
        }
    return "not: halt check|write|send|off";
}

/* What is for faults rather than for operators. */
static bool fault_command(struct shell *shell, const char *text, const char **ret_refusal)
{
    struct driver *driver = &((struct node *)shell->state)->driver;
    *ret_refusal = NULL;
    if (strncmp(text, "halt ", 5) == 0)
        *ret_refusal = halt_at(shell, text + 5);
    else if (strncmp(text, "crash ", 6) == 0)
        *ret_refusal = stop_at_write(driver, text + 6);
    else
        return false;
    return true;
}

/* As listed in nodes/control.h. */
static const char *node_command(struct shell *shell, const char *text)
{
    struct driver *driver = &((struct node *)shell->state)->driver;
    const char *refusal;
    unsigned target = 0;
    char end = '\0';
    if (fault_command(shell, text, &refusal))
        return refusal;
    if (strcmp(text, "resign") == 0)
        return operate(shell, COMMAND_RESIGN, 0);
    if (strcmp(text, "force") == 0)
        return operate(shell, COMMAND_FORCE, 0);
    if (sscanf(text, "transfer %u%c", &target, &end) == 1 && target <= driver->config.nodes)
        return operate(shell, COMMAND_TRANSFER, target);
    if (strcmp(text, "trace on") == 0 || strcmp(text, "trace off") == 0)
        driver->chronicle.trace = strcmp(text, "trace on") == 0;
    else
        return "not one of the commands of a node";
    return NULL;
}

static void node_stop(struct shell *shell)
{
    driver_stop(&((struct node *)shell->state)->driver);
}

static const struct shell_program program = {
    .program = PROGRAM_NODE,
    .name = "coup-node",
    .summary = "one election node; speaks control frames on stdin and stdout",
    .open = node_open,
    .start = node_start,
    .message = node_message,
    .command = node_command,
    .stop = node_stop,
    .unsent = node_unsent,
};

int main(int argc, char **argv)
{
    struct node node = {0};
    shell_main(&program, &node, argc, argv);
}
