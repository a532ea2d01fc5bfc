/* One self-contained HTML page about one history: the verdict and why, a timeline with a lane for
 * each node, faults, guarded writes, failovers. Opens from disk, asks nobody for anything.
 *
 * What the page draws is made here, at a level of detail that does not grow with the history: roles
 * and faults are segments, writes are counted into bins when there are very many, and of the events
 * themselves only those that change something, a share of the common ones, and those around a
 * violation are told. */
#ifndef COUP_REPORT_PAGE_H
#define COUP_REPORT_PAGE_H

#include "histories/file.h"
#include "report/verdict.h"

/* Append the whole page. `report` is the verdict on the history, which `reader` has again from its
 * first event. */
void page_html(const struct report *report, struct history_reader *reader, struct text *out);

#endif
