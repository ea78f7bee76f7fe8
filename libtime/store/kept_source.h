/*
 * kept_source.h - what a store keeps of binaries and source files for `perfkit source` and
 * pages: the code of functions, and texts.
 */
#ifndef LIBTIME_STORE_KEPT_SOURCE_H
#define LIBTIME_STORE_KEPT_SOURCE_H

#include "base/arena.h"
#include "libsym/process/function_code.h"
#include "libtime/store/store.h"
#include "libtime/store/store_read.h"
#include "libtime/store/store_write.h"

/* A function's code, or why there is none. Texts are ids of kept_source.stacks->strings. */
struct kept_code {
	uint64_t address, start; /* of the symbol, as its frames have it; of the bytes */
	uint32_t dso, name;
	uint32_t lines; /* "0:17 4:18 …": from each offset on, which line of the function */
	uint32_t machine;
	uint8_t status, reason; /* enum code_status, dso_reason */
	uint8_t narrow, swapped;
	struct store_bytes bytes;
};

/* What is known of a source file. */
struct kept_text {
	uint32_t dso, file, path, md5; /* path 0: embedded; md5: hex, 0: not known */
	uint8_t verdict;               /* enum source_verdict; absent: only the MD5 is known */
	struct store_bytes text;
};

/* Zero-initialised is empty. */
struct kept_source {
	struct stacks stacks;
	struct arena bytes;
	VEC(struct kept_code) code;
	VEC(struct kept_text) texts;
};

enum {
	KEPT_CODE_MAX = 1 << 20, /* bytes of code of a recording, … */
	KEPT_FUNCTIONS = 4096,   /* … in so many functions */
	KEPT_TEXT_MAX = 16 << 20 /* bytes of texts; a single one is not longer, either */
};

/* Compress n bytes for a row; *out lives as long as `k`. ERR_NOMEM. */
int kept_pack(struct kept_source *k, const void *v, size_t n, struct store_bytes *out);

/* The bytes of a row: heap, with a NUL behind them; at most `max`. ERR_FORMAT, ERR_NOMEM. */
int kept_unpack(const struct store_bytes *b, size_t max, char **out, size_t *n);

/* Free everything; it is then empty. */
void kept_source_release(struct kept_source *k);

/* Write it for the recording that was added last. Errors as for store_writer_add. */
int store_write_source(struct store_writer *w, const struct kept_source *k, struct err *e);

/* Append what the store keeps of a recording. The caller releases *out, after a failure, too.
 * ERR_IO, ERR_FORMAT, ERR_NOMEM. */
int store_read_source(struct store *s, int64_t recording, struct kept_source *out,
		      struct err *e);

#endif
