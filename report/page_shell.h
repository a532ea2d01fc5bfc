/* The page round the data, made from page/ at build time: markup, style and script in one. */
#ifndef COUP_REPORT_PAGE_SHELL_H
#define COUP_REPORT_PAGE_SHELL_H

#include <stddef.h>

extern const char page_shell_before[], page_shell_after[];
extern const size_t page_shell_before_bytes, page_shell_after_bytes;

#endif
