/* What a suite leaves for people and for machines. Pure: all is appended to a text. */
#ifndef COUP_CONTROLLER_SUITE_REPORT_H
#define COUP_CONTROLLER_SUITE_REPORT_H

#include "controller/suite_run.h"

/* For a terminal: a row a cell, below it what went wrong, and one line about the whole. */
void suite_report_text(const struct suite_state *state, const char *folder, bool colour,
                       unsigned columns, struct text *out);

/* One object on one line; keys in docs/suites.md. */
void suite_report_json(const struct suite_state *state, const char *folder, struct text *out);

/* A line for a file that grows by one with every night: outcomes, counts and failovers of the
 * cells. `time` as ISO 8601 has it. */
void suite_report_trend(const struct suite_state *state, const char *time, struct text *out);

/* JUnit's XML: a test case a cell. */
void suite_report_junit(const struct suite_state *state, const char *folder, struct text *out);

/* Markdown for the summary page of a CI job. */
void suite_report_markdown(const struct suite_state *state, const char *folder, struct text *out);

/* "failed: 1 of 12 cells (...)": without newline. */
void suite_report_line(const struct suite_state *state, struct text *out);

#endif
