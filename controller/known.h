/* What the registry knows of the algorithm in a history. */
#ifndef COUP_CONTROLLER_KNOWN_H
#define COUP_CONTROLLER_KNOWN_H

#include "histories/header.h"

/* What it is known not to stand. NULL: nothing is known, or a planted bug was switched on, which is
 * what is seen then. */
const char *known_to_break(const struct history_header *header);

#endif
