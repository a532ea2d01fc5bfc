/* Behind every claim stands what the coordination service granted: a grant of the claimed token to
 * this node, made since its process started, and neither revoked nor expired when the claim was
 * made. A claim that was made late by the claimant's own clock - after the time until which it was
 * to hold - is not held against it: it knew.
 *
 * The coordinator's events may be recorded after the claim they support, so all is judged at the
 * end. */
#include "checker/check.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/error.h"
#include "checker/table.h"
#include "checker/words.h"

struct granted {
    uint64_t time_ns, index;
    uint64_t end_ns, end_index; /* end_ns UINT64_MAX: never */
    uint32_t holder;
    uint8_t ended_by;
};

struct claim {
    uint64_t time_ns, index, token;
    uint64_t spawned_ns, spawned_index; /* of the claimant's process */
    uint32_t node;
};

struct leader_without_grant {
    uint32_t nodes;
    uint64_t uncertainty_ns;
    uint64_t *spawned_ns, *spawned_index; /* by node id */
    struct table grants;                  /* token -> struct granted */
    struct claim *claims;
    uint32_t count, capacity;
};

static void begin(void *state, const struct history_header *header)
{
    struct leader_without_grant *check = state;
    check->nodes = header->nodes;
    check->uncertainty_ns = header->clock_uncertainty_ns;
    check->spawned_ns = must_alloc(header->nodes + 1, sizeof *check->spawned_ns);
    check->spawned_index = must_alloc(header->nodes + 1, sizeof *check->spawned_index);
    table_init(&check->grants, sizeof(struct granted));
}

static void on_grant(struct leader_without_grant *check, const struct event *event)
{
    bool fresh;
    struct granted *granted =
        table_put(&check->grants, event_number(event, FIELD_TOKEN), 0, &fresh);
    if (fresh)
        *granted = (struct granted){.time_ns = event->time_ns,
                                    .index = event->index,
                                    .end_ns = UINT64_MAX,
                                    .holder = (uint32_t)event_number(event, FIELD_HOLDER)};
}

static void on_end(struct leader_without_grant *check, const struct event *event)
{
    struct granted *granted = table_find(&check->grants, event_number(event, FIELD_TOKEN), 0);
    if (!granted || granted->end_ns != UINT64_MAX)
        return;
    granted->end_ns = event->time_ns;
    granted->end_index = event->index;
    granted->ended_by = event->f;
}

static void on_lead(struct leader_without_grant *check, const struct event *event)
{
    uint64_t until_ns = event_number(event, FIELD_UNTIL);
    if (until_ns && event->node_ns > until_ns)
        return;
    if (check->count == check->capacity) {
        check->capacity = check->capacity ? check->capacity * 2 : 64;
        check->claims = must_grow(check->claims, check->capacity, sizeof *check->claims);
    }
    check->claims[check->count++] =
        (struct claim){.time_ns = event->time_ns,
                       .index = event->index,
                       .token = event_number(event, FIELD_TOKEN),
                       .spawned_ns = check->spawned_ns[event->process],
                       .spawned_index = check->spawned_index[event->process],
                       .node = event->process};
}

static void step(void *state, const struct event *event, struct finding *finding)
{
    struct leader_without_grant *check = state;
    bool node = process_kind(event->process) == PROCESS_NODE &&
                process_index(event->process) >= 1 && event->process <= check->nodes;
    (void)finding;
    if (event->f == F_GRANT) {
        on_grant(check, event);
    } else if (event->f == F_REVOKE || event->f == F_EXPIRE) {
        on_end(check, event);
    } else if (node && event->f == F_SPAWN) {
        check->spawned_ns[event->process] = event->time_ns;
        check->spawned_index[event->process] = event->index;
    } else if (node && event->f == F_LEAD) {
        on_lead(check, event);
    }
}

static void judge(const struct leader_without_grant *check, const struct claim *claim,
                  struct finding *finding)
{
    struct words words = {0};
    const struct granted *granted = table_find(&check->grants, claim->token, 0);
    const char *name = word_process(&words, claim->node);
    const char *at = word_time(&words, claim->time_ns);
    if (!granted)
        finding_invalid(finding, &claim->index, 1,
                        "%s claimed leadership with token %" PRIu64 " at %s, which the service "
                        "granted nobody",
                        name, claim->token, at);
    else if (granted->holder != claim->node)
        finding_invalid(finding, (uint64_t[]){granted->index, claim->index}, 2,
                        "%s claimed leadership with token %" PRIu64 " at %s, which the service "
                        "had granted %s",
                        name, claim->token, at, word_process(&words, granted->holder));
    else if (granted->time_ns + check->uncertainty_ns < claim->spawned_ns)
        finding_invalid(finding, (uint64_t[]){granted->index, claim->spawned_index, claim->index},
                        3,
                        "%s claimed leadership with token %" PRIu64 " at %s, granted to its "
                        "process before, which had ended",
                        name, claim->token, at);
    else if (granted->end_ns + check->uncertainty_ns < claim->time_ns &&
             granted->end_ns != UINT64_MAX)
        finding_invalid(finding, (uint64_t[]){granted->end_index, claim->index}, 2,
                        "%s claimed leadership with token %" PRIu64 " at %s, %s after its grant "
                        "%s",
                        name, claim->token, at, word_apart(&words, granted->end_ns, claim->time_ns),
                        granted->ended_by == F_EXPIRE ? "had expired" : "was revoked");
}

static void end(void *state, uint64_t end_ns, struct finding *finding)
{
    struct leader_without_grant *check = state;
    (void)end_ns;
    finding->judged = check->count;
    for (uint32_t i = 0; i < check->count; i++)
        judge(check, &check->claims[i], finding);
    free(check->claims);
    free(check->spawned_ns);
    free(check->spawned_index);
    table_release(&check->grants);
}

const struct check check_leader_without_grant = {
    .name = "leader-without-grant",
    .summary = "every claim stands on a grant of the service that is this process's and in force",
    .traits = 1u << TRAIT_SERVICE,
    .judges = "claim",
    .events = 1u << F_LEAD | 1u << F_SPAWN | 1u << F_GRANT | 1u << F_REVOKE | 1u << F_EXPIRE,
    .state_bytes = sizeof(struct leader_without_grant),
    .begin = begin,
    .step = step,
    .end = end,
};
