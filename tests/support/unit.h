/* cmocka, for the unit tests, with the headers that it needs before itself.  Most tests have no use for the state
 * that cmocka hands to each of them, so the compiler does not warn of parameters without a use. */
#ifndef TESTS_UNIT_H
#define TESTS_UNIT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#pragma GCC diagnostic ignored "-Wunused-parameter"

#endif
