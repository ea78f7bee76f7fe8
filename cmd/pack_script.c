#include "cmd/pack_script.h"

const char pack_script[] =
#include "cmd/pack.sh.inc"
	;
