/* pack_script.h - the sh script of `perfkit pack --script` (cmd/pack.sh), compiled in. */
#ifndef CMD_PACK_SCRIPT_H
#define CMD_PACK_SCRIPT_H

extern const char pack_script[];

#endif
