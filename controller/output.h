/* Standard output. Written at once, so that the reason of a failure is known where it happens: a
 * full disk is exit 3 with a line, a reader that went away (`coup show FILE | head`) ends coup
 * quietly. Colour is for terminals only and never when NO_COLOR is set (no-color.org). */
#ifndef COUP_CONTROLLER_OUTPUT_H
#define COUP_CONTROLLER_OUTPUT_H

#include <stdbool.h>

#include "base/error.h"
#include "base/text.h"

/* Write all of it. 0; 1: nobody reads any more, producing more is pointless but no error; -errno
 * with `error` filled. Callers collect what belongs together: every call is a system call. */
int output_text(const struct text *text, struct error *error);

/* The error as one line on standard error, whatever bytes the user's names in it hold. */
void output_error(const struct error *error);

/* How the user calls coup, for commands that are printed to be used: argv[0] of main(), or "coup"
 * as long as nobody told. */
void output_called(const char *program);
const char *output_program(void);

bool output_colour(void);      /* standard output is a terminal and colour is wanted */
unsigned output_columns(void); /* width of the terminal on standard output; 0: no terminal */

#endif
