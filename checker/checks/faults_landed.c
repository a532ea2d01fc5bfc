/* Did anything happen that could be judged? Every fault asked for landed with proof, somebody led,
 * and work was done. Else every other verdict is vacuous: unknown, never valid.
 *
 * A kind is asked for by its name or by its group, of which one member is enough. A fault landed
 * when one of its kind was installed and what was read back is in the event; on links the heal
 * event must also say that frames were touched. */
#include "checker/check.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "checker/fault_kinds.h"

#define REQUESTS_MAX 64
#define REQUEST_NAME_MAX 40

struct request {
    char name[REQUEST_NAME_MAX];
    uint64_t tried, proven, landed; /* events; installed with proof; and links: touched */
    char trouble[120];              /* the last skip's or failure's reason */
};

struct faults_landed {
    struct request requests[REQUESTS_MAX];
    uint32_t count;
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
    check->clients = header->clients > 0;
    for (const char *at = header->faults; at; at = strchr(at, ',') ? strchr(at, ',') + 1 : NULL) {
        struct slice name = {at, strcspn(at, ",")};
        if (slice_equals(name, "all"))
            add_all(check);
        else
            add_request(check, name);
    }
}

static bool asks_for(const struct request *request, struct slice name)
{
    const struct fault_kind *kind = fault_kind_find(name);
    return slice_equals(name, request->name) ||
           (kind && slice_equals(slice_of(kind->group), request->name));
}

static bool on_process(struct slice name)
{
    const struct fault_kind *kind = fault_kind_find(name);
    return kind && (kind->effect == EFFECT_KILL || kind->effect == EFFECT_PAUSE);
}

static void on_fault(struct request *request, const struct event *event)
{
    struct slice proof = event_text(event, FIELD_PROOF);
    struct slice outcome = event_text(event, FIELD_OUTCOME);
    request->tried++;
    if (fault_installed(event) && proof.length) {
        request->proven++;
        if (on_process(event_text(event, FIELD_KIND)))
            request->landed++;
    } else {
        (void)snprintf(request->trouble, sizeof request->trouble, "%.*s: %.*s",
                       (int)(outcome.length < 20 ? outcome.length : 20), outcome.at,
                       (int)(proof.length < 80 ? proof.length : 80), proof.at);
    }
}

static void on_nemesis(struct faults_landed *check, const struct event *event)
{
    struct slice kind = event_text(event, FIELD_KIND);
    for (uint32_t i = 0; i < check->count; i++) {
        struct request *request = &check->requests[i];
        if (!asks_for(request, kind))
            continue;
        if (event->f == F_FAULT)
            on_fault(request, event);
        else if (!on_process(kind) && event_number(event, FIELD_VALUE) > 0)
            request->landed++;
    }
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

static void judge(const struct request *request, struct finding *finding)
{
    if (request->landed)
        return;
    if (request->proven)
        finding_unknown(finding, NULL, 0, "%s was asked for and installed, but touched no frame",
                        request->name);
    else if (request->tried)
        finding_unknown(finding, NULL, 0,
                        "%s was asked for and tried %" PRIu64
                        " times but never installed with proof (%s)",
                        request->name, request->tried, request->trouble);
    else
        finding_unknown(finding, NULL, 0, "%s was asked for but never tried", request->name);
}

static void end(void *state, uint64_t end_ns, struct finding *finding)
{
    const struct faults_landed *check = state;
    (void)end_ns;
    if (check->leads == 0)
        finding_unknown(finding, NULL, 0, "no leader was ever elected");
    if (check->accepted == 0)
        finding_unknown(finding, NULL, 0, "the resource never accepted a write");
    if (check->clients && check->client_ok == 0)
        finding_unknown(finding, NULL, 0, "no client operation ever succeeded");
    for (uint32_t i = 0; i < check->count; i++)
        judge(&check->requests[i], finding);
}

const struct check check_faults_landed = {
    .name = "faults-landed",
    .summary = "what was asked for happened: faults with proof, a leader, accepted writes",
    .events = 1u << F_FAULT | 1u << F_HEAL | 1u << F_LEAD | 1u << F_ACCEPT | 1u << F_READ |
              1u << F_WRITE | 1u << F_CAS,
    .state_bytes = sizeof(struct faults_landed),
    .begin = begin,
    .step = step,
    .end = end,
};
