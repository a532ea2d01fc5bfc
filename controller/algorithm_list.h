/* Lists of algorithms as a user writes them, "raft,lease:lease=1s,margin=200ms,zab": an option
 * belongs to the algorithm before it. */
#ifndef COUP_CONTROLLER_ALGORITHM_LIST_H
#define COUP_CONTROLLER_ALGORITHM_LIST_H

#include "base/text.h"

/* Takes the first one, with its options, off `*list` into `name`; false when there is none left. */
bool algorithm_list_next(const char **list, struct text *name);

#endif
