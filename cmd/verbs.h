/* verbs.h - all verbs; each is defined in the file with its name. */
#ifndef CMD_VERBS_H
#define CMD_VERBS_H

#include "cmd/cli/opt.h"

extern const struct verb verb_collapse;
extern const struct verb verb_compare;
extern const struct verb verb_doctor;
extern const struct verb verb_export;
extern const struct verb verb_fleet;
extern const struct verb verb_html;
extern const struct verb verb_import;
extern const struct verb verb_mcp;
extern const struct verb verb_pack;
extern const struct verb verb_record;
extern const struct verb verb_report;
extern const struct verb verb_source;
extern const struct verb verb_svg;
extern const struct verb verb_symbols;
extern const struct verb verb_tail;
extern const struct verb verb_timeline;
extern const struct verb verb_unpack;
extern const struct verb verb_watch;

/* Run a command line, whose first word is the verb's name, to its end: options, sandbox, answer.
 * The exit status. */
int verb_main(const struct verb *v, int argc, char **argv);

/* The exit status: rc, or 1 if stdout failed, or if the answer is incomplete because memory or
 * descriptors ran out. */
int verb_finish(int rc);

#endif
