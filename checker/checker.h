/* One streaming pass of all owed checks, and what was measured on the way. */
#ifndef COUP_CHECKER_CHECKER_H
#define COUP_CHECKER_CHECKER_H

#include "checker/check.h"
#include "checker/measure.h"
#include "histories/file.h"

#define CHECKS_MAX 64

struct check_result {
    const struct check *check;
    bool owed;     /* false: not judged, and not part of the verdict */
    bool untested; /* owed, but it could not have failed: not part of the verdict either */
    struct finding finding;
};

struct report_data {
    /* Maximum over the checks that were owed and tested; unknown when there was none. */
    enum verdict verdict;
    struct check_result results[CHECKS_MAX];
    uint32_t result_count;
    struct measure measure;
    uint64_t events;
    char damage[300]; /* "" or what is wrong with the file; then the verdict is at least unknown */
};

/* Whether it counts for the verdict. */
bool check_result_counts(const struct check_result *result);
/* "valid", "unknown", "invalid", "untested" or "not owed". */
const char *check_result_word(const struct check_result *result);

struct checker;

/* `names` limits to these checks (comma-separated; NULL: all owed). Usage error for unknown names
 * and for a header that cannot be judged. Borrows `header` until checker_end(). */
int checker_new(const struct history_header *header, const char *names, struct checker **out,
                struct error *error);
void checker_step(struct checker *checker, const struct event *event);
/* True as soon as some check is invalid (for stopping a run early). */
bool checker_violated(const struct checker *checker);
/* Ends all checks, fills `out` (owned by the caller, report_data_release()), frees the checker. */
void checker_end(struct checker *checker, struct report_data *out);
void report_data_release(struct report_data *data);

/* All that `reader` has left; it stays the caller's, with the header the verdict speaks of. */
int check_history(struct history_reader *reader, const char *names, struct report_data *out,
                  struct error *error);

/* The whole of a file. */
int check_file(const char *path, const char *names, struct report_data *out, struct error *error);

#endif
