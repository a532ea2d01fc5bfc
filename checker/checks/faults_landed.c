/* Did anything happen that could be judged? Every fault asked for landed with proof, somebody led,
 * and work was done. Else every other verdict is vacuous: unknown, never valid.
 *
 * A kind is asked for by its name or by its group, of which one member is enough. It landed when
 * one was installed, what was read back is in the event, and its heal says that it touched
 * something: a cut that no frame ran into tested nothing. */
#include "checker/check.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "checker/fault_kinds.h"
#include "checker/table.h"
#include "checker/words.h"

#define REQUESTS_MAX 64
#define REQUEST_NAME_MAX 40

struct request {
    char name[REQUEST_NAME_MAX];
    uint64_t skipped, tried; /* never begun; begun, whether or not it could be installed */
    uint64_t proven, landed; /* installed with proof; touched something */
    char trouble[120];       /* why the last was skipped or could not be installed; "" */
};

struct faults_landed {
    struct request requests[REQUESTS_MAX];
    uint32_t count;
    struct table wanted; /* id of an active fault -> bit per request that it serves */
    bool clients;
    uint64_t leads, accepted, client_ok;
};

static void add_request(struct faults_landed *check, struct slice name)
{
    if (name.length == 0 || slice_equals(name, "none") || check->count == REQUESTS_MAX)
        return;
    struct request *request = &check->requests[check->count++];
    size_t length = name.length < REQUEST_NAME_MAX - 1 ? name.length : REQUEST_NAME_MAX - 1;
    memcpy(request->name, name.at, length);
}

/* "all" stands for every group. */
static void add_all(struct faults_landed *check)
{
    const char *last = "";
    for (const struct fault_kind *kind = fault_kinds; kind->name; kind++) {
        if (strcmp(kind->group, last) != 0)
            add_request(check, slice_of(kind->group));
        last = kind->group;
    }
}

static void begin(void *state, const struct history_header *header)
{
    struct faults_landed *check = state;
    table_init(&check->wanted, sizeof(uint64_t));
    check->clients = header->clients > 0;
    for (const char *at = header->faults; at; at = strchr(at, ',') ? strchr(at, ',') + 1 : NULL) {
        struct slice name = {at, strcspn(at, ",")};
        if (slice_equals(name, "all"))
            add_all(check);
        else
            add_request(check, name);
    }
}

/* By the kind's name, or the group that the event names, or, in a history that names none, the one
 * we know of. */
static bool asks_for(const struct request *request, const struct event *event)
{
    struct slice name = event_text(event, FIELD_KIND), group = event_text(event, FIELD_GROUP);
    const struct fault_kind *kind = fault_kind_find(name);
    if (group.length == 0 && kind)
        group = slice_of(kind->group);
    return slice_equals(name, request->name) || slice_equals(group, request->name);
}

/* Whether it is in place and what was read back says so. */
static bool on_fault(struct request *request, const struct event *event)
{
    struct slice proof = event_text(event, FIELD_PROOF), why = event_text(event, FIELD_REASON);
    bool skipped = slice_equals(event_text(event, FIELD_OUTCOME), "skipped");
    request->skipped += skipped;
    request->tried += !skipped;
    if (fault_installed(event) && proof.length) {
        request->proven++;
        return true;
    }
    if (fault_installed(event))
        why = slice_of("nothing was read back");
    (void)snprintf(request->trouble, sizeof request->trouble, "%s%.*s", why.length ? ": " : "",
                   (int)(why.length < 110 ? why.length : 110), why.at ? why.at : "");
    return false;
}

static void on_nemesis(struct faults_landed *check, const struct event *event)
{
    uint64_t id = event_number(event, FIELD_ID);
    uint64_t *wanted = event->f == F_FAULT ? table_put(&check->wanted, id, 0, NULL)
                                           : table_find(&check->wanted, id, 0);
    for (uint32_t i = 0; wanted && i < check->count; i++) {
        struct request *request = &check->requests[i];
        if (event->f == F_HEAL) {
            request->landed += (*wanted >> i & 1) && event_number(event, FIELD_VALUE) > 0;
        } else if (asks_for(request, event) && on_fault(request, event)) {
            *wanted |= UINT64_C(1) << i;
        }
    }
    if (event->f == F_HEAL)
        (void)table_remove(&check->wanted, id, 0);
}

static void step(void *state, const struct event *event, struct finding *finding)
{
    struct faults_landed *check = state;
    (void)finding;
    switch ((enum event_f)event->f) {
    case F_LEAD: check->leads++; break;
    case F_ACCEPT: check->accepted++; break;
    case F_READ:
    case F_WRITE:
    case F_CAS: check->client_ok += event->type == EVENT_OK; break;
    default: on_nemesis(check, event);
    }
}

static const char *times(uint64_t count, char buffer[COUNT_TEXT_MAX])
{
    return count == 1 ? "once" : count_of(count, "time", buffer);
}

static void judge(const struct request *request, struct finding *finding)
{
    char buffer[COUNT_TEXT_MAX];
    if (request->landed)
        return;
    if (request->proven)
        finding_unknown(finding, NULL, 0,
                        "%s was asked for and installed, but never touched anything",
                        request->name);
    else if (request->tried)
        finding_unknown(finding, NULL, 0,
                        "%s was asked for and tried %s, but never installed with proof%s",
                        request->name, times(request->tried, buffer), request->trouble);
    else if (request->skipped)
        finding_unknown(finding, NULL, 0, "%s was asked for but never began, skipped %s%s",
                        request->name, times(request->skipped, buffer), request->trouble);
    else
        finding_unknown(finding, NULL, 0, "%s was asked for but never tried", request->name);
}

static void end(void *state, uint64_t end_ns, struct finding *finding)
{
    struct faults_landed *check = state;
    struct words words = {0};
    uint64_t landed = 0;
    (void)end_ns;
    for (uint32_t i = 0; i < check->count; i++)
        landed += check->requests[i].landed;
    finding->judged = landed + check->leads + check->accepted + check->client_ok;
    finding_evidence(finding, "%s, %s, %s, %s", word_count(&words, landed, "fault"),
                     word_count(&words, check->leads, "claim"),
                     word_count(&words, check->accepted, "write"),
                     word_count(&words, check->client_ok, "client operation"));
    if (check->leads == 0)
        finding_unknown(finding, NULL, 0, "no leader was ever elected");
    if (check->accepted == 0)
        finding_unknown(finding, NULL, 0, "the resource never accepted a write");
    if (check->clients && check->client_ok == 0)
        finding_unknown(finding, NULL, 0, "no client operation ever succeeded");
    for (uint32_t i = 0; i < check->count; i++)
        judge(&check->requests[i], finding);
    table_release(&check->wanted);
}

const struct check check_faults_landed = {
    .name = "faults-landed",
    .summary = "what was asked for happened: faults with proof, a leader, accepted writes",
    .judges = "fault or event",
    .events = 1u << F_FAULT | 1u << F_HEAL | 1u << F_LEAD | 1u << F_ACCEPT | 1u << F_READ |
              1u << F_WRITE | 1u << F_CAS,
    .state_bytes = sizeof(struct faults_landed),
    .begin = begin,
    .step = step,
    .end = end,
};
