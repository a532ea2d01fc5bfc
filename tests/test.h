/* tests: may use everything, nothing may use tests. unit/ one cmocka program a file; fuzz/ one
 * libFuzzer target a file; scripts/ election data scripts; live/ whole programs.
 * cmocka.h is not self-contained: this is the only file that includes it. */
#ifndef COUP_TESTS_TEST_H
#define COUP_TESTS_TEST_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#endif
