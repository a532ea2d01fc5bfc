/* The journal of a suite: what its folder holds of work done, so that a suite that was killed goes
 * on where it was and shards can be put together. JSON lines, written whole: the first says which
 * suite it is, every other one is a suite_record. */
#ifndef COUP_CONTROLLER_SUITE_JOURNAL_H
#define COUP_CONTROLLER_SUITE_JOURNAL_H

#include "controller/suite_record.h"

#define SUITE_JOURNAL "journal.jsonl"
#define SUITE_COPY "suite.yaml"

struct suite_journal_head {
    char name[200];
    char digest[20]; /* of everything that decides the cells, and the version of coup */
    char shard[20], only[200];
};

/* Make a new one in the folder. */
int suite_journal_create(const char *folder, const struct suite_journal_head *head, int *ret_fd,
                         struct error *error);

/* Read it, and show each record to `take`; then go on writing behind the last whole line, unless
 * `ret_fd` is NULL. A line that was cut off is no error: the run it tells of is done again. Usage
 * errors: there is none, or it is another version's. */
int suite_journal_read(const char *folder, struct suite_journal_head *head,
                       void (*take)(void *context, const struct suite_record *record),
                       void *context, int *ret_fd, struct error *error);

int suite_journal_append(int fd, const struct suite_record *record, struct error *error);

#endif
