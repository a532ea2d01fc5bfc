/* What the nemesis did to the message that a process took last: named beside a violation that
 * followed at once. */
#ifndef COUP_CHECKER_MET_MESSAGES_H
#define COUP_CHECKER_MET_MESSAGES_H

#include "checker/check.h"
#include "checker/table.h"

struct met_messages {
    struct table last; /* process -> the last that was delivered otherwise than it was sent */
};

void met_init(struct met_messages *met);
void met_release(struct met_messages *met);
void met_step(struct met_messages *met, const struct event *event); /* of F_MESSAGE */

/* Append to a finding that this event brought about. */
void met_explain(const struct met_messages *met, const struct event *event,
                 struct finding *finding);

#endif
