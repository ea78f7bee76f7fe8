/* packscript.h - the sh script of `perfkit pack --script` (cmd/pack.sh), compiled in. */
#ifndef CMD_PACKSCRIPT_H
#define CMD_PACKSCRIPT_H

extern const char pack_script[];

#endif
