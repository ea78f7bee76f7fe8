/* unit.h - cmocka with the headers it wants in front. */
#ifndef TESTS_LIB_UNIT_H
#define TESTS_LIB_UNIT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

/* Leave the test, saying why; tests/run.sh shows it. */
#define skip_because(why)                  \
	do {                               \
		printf("skip: %s\n", why); \
		skip();                    \
	} while (0)

#endif
