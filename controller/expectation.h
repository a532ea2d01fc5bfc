/* What the user says must come out of a run, and the exit code that follows. Pure. */
#ifndef COUP_CONTROLLER_EXPECTATION_H
#define COUP_CONTROLLER_EXPECTATION_H

#include "checker/checker.h"

struct expectation {
    bool given;
    enum verdict verdict;      /* valid or invalid */
    const struct check *check; /* invalid: this check must be; NULL: any */
};

/* "valid", "invalid" or "invalid:CHECK". */
int expectation_parse(const char *text, struct expectation *out, struct error *error);

/* As it is read. */
void expectation_format(const struct expectation *expectation, struct text *out);

/* What a verdict recorded in a history (its JSON) would have met; NULL: it says neither valid nor
 * invalid, or nothing was recorded. The caller frees. */
char *expectation_recorded(struct slice verdict);

/* Unknown is neither as expected nor against it: it stays 2. */
enum exit_code expectation_judge(const struct expectation *expectation,
                                 const struct report_data *data);

/* "as expected: valid\n", "not as expected: invalid:CHECK was expected\n"; nothing when none was
 * given. */
void expectation_line(const struct expectation *expectation, bool met, struct text *out);

#endif
