/*
 * source_input.h - the code of functions and the texts of source files: of a recording, from its
 * binaries; of a store, as import kept them (kept_source.h).
 */
#ifndef CMD_QUERY_SOURCE_INPUT_H
#define CMD_QUERY_SOURCE_INPUT_H

#include "cmd/query/timeline_input.h"
#include "libsym/process/function_code.h"
#include "libsym/source/source_text.h"
#include "libtime/store/kept_source.h"
#include "libtime/tables/source_sums.h"

/* What import keeps of a recording: the code of the functions that most samples and waits pass
 * through, and what is known of source files, up to the limits of kept_source.h; of a store, what
 * that has. The caller releases *out, after a failure, too. ERR_NOMEM, ERR_IO, ERR_FORMAT. */
int tlinput_kept_source(struct tlinput *ti, struct kept_source *out, struct err *e);

/* The code of a place (its symbol's), and which lines it is of. */
struct input_code {
	struct function_code code;
	char *own;         /* a store's bytes */
	const char *lines; /* as in kept_code; NULL: ask the modules */
};

/* Find it; the caller releases *out, after a failure, too. ERR_NOMEM, ERR_IO, ERR_FORMAT. */
int tlinput_code(struct tlinput *ti, const struct source_sums *s,
		 const struct source_place *place, struct input_code *out, struct err *e);
void input_code_release(struct input_code *c);

/*
 * Load the text of a file (strings id) that the debug information of `dso` names: below `roots`,
 * --symfs, in the bundle, or in the store. Errors as above.
 */
int tlinput_text(struct tlinput *ti, const struct source_options *roots,
		 const struct strtab *strings, uint32_t file, uint32_t dso,
		 struct source_text *out, struct err *e);

#endif
