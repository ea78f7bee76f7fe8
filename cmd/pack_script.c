#include "cmd/packscript.h"

const char pack_script[] =
#include "cmd/pack.sh.inc"
	;
