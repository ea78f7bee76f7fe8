/*
 * match_text.h - the part of a name that two builds of a program share.
 *
 *	parse.constprop.0, parse.cold, parse.llvm.123          parse
 *	app::checksum::h0123456789abcdef                       app::checksum
 *	LazyCompile:*handler /srv/a/app.js:12:3                handler app.js
 *	/build/a/lib/libfoo-1.2.so.3.4                        libfoo.so
 *	/opt/app-1.3, app-1.3 (deleted)                        app
 *
 * Pure functions; the result is appended to *out, whose failure state is the only error.
 */
#ifndef LIBSYM_NAME_MATCH_TEXT_H
#define LIBSYM_NAME_MATCH_TEXT_H

#include "base/text/buf.h"

/* A symbol without what compilers and linkers append: suffixes of split and cloned functions,
 * hashes, symbol versions. Template arguments and argument lists stay. */
void match_symbol(struct buf *out, const char *name);

/* The same for a JIT compiler's name, without marks of its tiers, directories and lines. */
void match_jit_symbol(struct buf *out, const char *name);

/* The file's name, without directories and " (deleted)". */
void match_file(struct buf *out, const char *dso);

/* The same without a version. */
void match_file_stem(struct buf *out, const char *dso);

#endif
