#include "checker/calm.h"

#include "checker/cluster.h"
#include "checker/words.h"

void calm_begin(struct calm *calm, uint64_t begin_ns)
{
    if (calm->open)
        return;
    calm->open = true;
    calm->now = (struct calm_span){.begin_ns = begin_ns};
}

static uint64_t length_ns(const struct calm_span *span)
{
    return span->end_ns > span->begin_ns ? span->end_ns - span->begin_ns : 0;
}

/* A stall is added to what is allowed, so it is no time in which one could be late. */
static uint64_t counted_ns(const struct calm_span *span)
{
    uint64_t length = length_ns(span);
    return length > span->stalled_ns ? length - span->stalled_ns : 0;
}

void calm_end(struct calm *calm, uint64_t end_ns)
{
    if (!calm->open)
        return;
    calm->open = false;
    calm->now.end_ns = end_ns;
    if (counted_ns(&calm->now) > counted_ns(&calm->longest))
        calm->longest = calm->now;
}

/* The note comes when the stall is over: it may speak of a span that has ended. */
void calm_stall(struct calm *calm, const struct event *event)
{
    if (calm->open)
        calm->now.stalled_ns += stall_within(event, calm->now.begin_ns, UINT64_MAX);
    calm->longest.stalled_ns += stall_within(event, calm->longest.begin_ns, calm->longest.end_ns);
}

void calm_evidence(const struct calm *calm, uint64_t bound_ns, struct finding *finding)
{
    struct words words = {0};
    finding->judged = counted_ns(&calm->longest) >= bound_ns;
    if (length_ns(&calm->longest) == 0)
        finding_evidence(finding, "no calm span at all, %s may pass", word_span(&words, bound_ns));
    else
        finding_evidence(finding, "longest calm span %s, %s may pass",
                         word_span(&words, length_ns(&calm->longest)),
                         word_allowed(&words, bound_ns, calm->longest.stalled_ns));
}
