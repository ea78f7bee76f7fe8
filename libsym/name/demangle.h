/*
 * demangle.h - readable names from mangled ones.
 *
 * What perf 6.1 prints without -v: C++ (Itanium ABI) without parameters and return type, Rust
 * legacy (hash removed) and v0, OCaml, and the JVM agents' `Lpkg/Class;method(I)V`. perf does
 * not demangle kernel names: do not call it for them. libiberty does C++ and Rust, whose limits
 * (recursion 2048, so C++ names beyond 1024 characters stay mangled) are perf's.
 */
#ifndef LIBSYM_NAME_DEMANGLE_H
#define LIBSYM_NAME_DEMANGLE_H

#include "base/text/buf.h"
#include "base/err.h"

enum {
	DEMANGLE_INPUT_MAX = 32768,  /* longer names stay mangled */
	DEMANGLE_OUTPUT_MAX = 65536, /* back references can multiply: longer results, too */
};

enum demangle_flag {
	DEMANGLE_PARAMS = 1, /* C++, D: with parameter types and [clone .cold], as perf -v */
	DEMANGLE_NIM = 2,    /* a Nim program's: fib__main_2 is main.fib */
};

/*
 * Append the demangled form of `name` to `out`. A trailing "@plt" is set aside and put back. 1
 * when it was mangled, 0 when not (nothing appended), ERR_NOMEM or ERR_LIMIT of `out`. `flags`:
 * enum demangle_flag. Thread-safe.
 */
int demangle(const char *name, int flags, struct buf *out);

#endif
