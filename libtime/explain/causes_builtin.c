/* causes_builtin.c - causes.rules, compiled in as text (see the Makefile). */
#include "libtime/explain/causes.h"

const char causes_builtin[] =
#include "libtime/explain/causes.rules.inc"
	;
