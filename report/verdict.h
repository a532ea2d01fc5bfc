/* report: what people and programs read after a run. Depends on checker, histories and base. Pure:
 * everything is appended to a text; who prints it is the caller's business.
 *
 * A verdict for people and for programs. */
#ifndef COUP_REPORT_VERDICT_H
#define COUP_REPORT_VERDICT_H

#include "checker/checker.h"
#include "report/witness.h"

/* All borrowed. */
struct report {
    const struct report_data *data;
    const struct history_header *header;
    const char *path;                    /* of the history, as the user would write it */
    const struct witness_lines *witness; /* NULL: only their numbers are shown */
    const char *program;                 /* as coup is called here; NULL: "coup" */
    const char *title;                   /* text only: which of several this is; or NULL */
    const struct check *expected;        /* the check that should fail is told first; or NULL */
    const char *broken_by;               /* what the algorithm is known not to stand; or NULL */
    bool colour;                         /* text only */
};

/* What a command that judged ends with. */
enum exit_code verdict_exit_code(enum verdict verdict);

/* How a verdict looks: in front of and behind its words, and its word in capitals. */
struct report_style {
    const char *on, *off;
};
struct report_style report_style(bool colour, enum verdict verdict);
const char *report_headline(enum verdict verdict);

/* Verdict and why, checks with their witnesses, summary, faults, failovers, and the commands that
 * show and repeat the run. Ends with a newline. */
void report_text(const struct report *report, struct text *out);

/* The same, with the events read from the history at `path` in a second pass. Where that cannot be
 * had (a pipe) their numbers must do: showing never changes a verdict. */
void report_text_with_events(const struct report *report, struct text *out);

/* One JSON object on one line, without newline; keys in docs/user-guide.md. `path` may be NULL. */
void report_json(const struct report *report, struct text *out);

/* The run's own command, without the folder that now exists, with the seed it drew if the user
 * named none. */
void report_repeat(const struct history_header *header, struct text *out);

/* One sentence, no newline: what decided the verdict, and what else was invalid. */
void report_why(const struct report *report, struct text *out);

/* Why a check was not judged: which promise the algorithm does not make. */
void report_not_owed(const struct report *report, const struct check_result *result,
                     struct text *out);

#endif
