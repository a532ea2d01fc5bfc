/* What a process has to say about its own end. */
#ifndef COUP_NODES_LOG_TAIL_H
#define COUP_NODES_LOG_TAIL_H

#include "base/text.h"

/* Append the last line of a log, without its end; nothing where there is none. */
void log_tail(const char *path, struct text *out);

#endif
