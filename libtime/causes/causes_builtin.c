/* causes_builtin.c - causes.rules, compiled in as text (see the Makefile). */
#include "libtime/causes/causes.h"

const char causes_builtin[] =
#include "libtime/causes/causes.rules.inc"
	;
