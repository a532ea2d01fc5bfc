#include "nodes/edge.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* Goes out with what the program records next, so that it does not overtake what the program has
 * still to make durable. */
static void record(struct shell *shell, const struct filtered *filtered)
{
    const struct message *message = &filtered->message;
    struct event *event =
        outbox_event(&shell->outbox, mesh_self(shell->mesh), EVENT_INFO, F_MESSAGE);
    event_set(event, FIELD_ID, filtered->fault);
    event_set_text(event, FIELD_OUTCOME, slice_of(filtered->outcome));
    event_set_text(event, FIELD_KIND, slice_of(shell->kinds[message->kind]));
    event_set(event, FIELD_PEER, election_process(message->source));
    event_set(event, FIELD_TERM, message->term);
}

static void deliver(struct shell *shell, const struct message *message)
{
    const struct envelope envelope = {.source = election_process(message->source),
                                      .target = mesh_self(shell->mesh),
                                      .type = WIRE_ELECTION,
                                      .message = *message};
    shell->program->message(shell, &envelope);
}

static void carry_out(struct shell *shell)
{
    for (uint32_t i = 0; i < shell->filter.passed_count && !shell->failed; i++) {
        const struct filtered *filtered = &shell->filter.passed[i];
        if (filtered->outcome)
            record(shell, filtered);
        if (filtered->delivered)
            deliver(shell, &filtered->message);
    }
    if (!shell->program->drained && !shell->failed)
        shell_carry(shell);
}

void edge_message(struct shell *shell, const struct envelope *envelope)
{
    if (envelope->type != WIRE_ELECTION || filter_is_idle(&shell->filter)) {
        shell->program->message(shell, envelope);
        return;
    }
    filter_message(&shell->filter, &envelope->message);
    carry_out(shell);
}

/* What was let go is taken before the command is answered: by then all of it is recorded. */
static void take_what_was_let_go(struct shell *shell)
{
    uint32_t passed = shell->filter.passed_count;
    carry_out(shell);
    if (passed && shell->program->drained && !shell->failed)
        shell->program->drained(shell);
    text_add(&shell->answer, " %" PRIu32 " messages let go", passed);
}

bool edge_command(struct shell *shell, const char *text, const char **ret_refusal)
{
    struct filter_rule rule;
    uint64_t fault;
    int end = 0;
    if (strncmp(text, "message ", 8) != 0 || !shell->kinds)
        return false;
    *ret_refusal = NULL;
    bool off = sscanf(text + 8, "%" SCNu64 " off%n", &fault, &end) == 1 && end > 0 &&
               text[8 + end] == '\0';
    if (off)
        filter_take_out(&shell->filter, fault);
    else if (filter_rule_parse(text + 8, shell->kinds, &rule, NULL) == 0)
        filter_put(&shell->filter, &rule);
    else
        *ret_refusal = "not 'FAULT off' and no rule for messages";
    if (*ret_refusal)
        return true;
    if (off || rule.deed == FILTER_RELEASE)
        take_what_was_let_go(shell);
    else
        text_add(&shell->answer, " in force");
    return true;
}
