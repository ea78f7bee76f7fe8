/*
 * demangle.h - from a linker's name to a person's name.
 *
 * What perf 6.1 prints without -v: C++ (Itanium ABI) without parameters and return type, Rust
 * legacy (hash removed) and v0, OCaml, and the JVM agents' `Lpkg/Class;method(I)V`. Names of
 * the kernel are not demangled by perf: do not ask. C++ and Rust are done by libiberty, whose
 * limits (recursion 2048, so C++ names beyond 1024 characters stay as they are) are perf's.
 */
#ifndef LIBSYM_NAME_DEMANGLE_H
#define LIBSYM_NAME_DEMANGLE_H

#include "base/text/buf.h"
#include "base/err.h"

enum {
	DEMANGLE_INPUT_MAX = 32768,  /* longer names are left alone */
	DEMANGLE_OUTPUT_MAX = 65536, /* back references can multiply: so are these */
};

enum demangle_flag {
	DEMANGLE_PARAMS = 1, /* C++: with parameter types and [clone .cold], as perf -v */
};

/*
 * Append the demangled form of `name` to `out`. A trailing "@plt" is set aside and put back.
 * 1 when it was mangled, 0 when not (nothing appended), ERR_NOMEM or ERR_LIMIT when `out`
 * cannot take it. `flags`: enum demangle_flag. Thread-safe.
 */
int demangle(const char *name, int flags, struct buf *out);

#endif
