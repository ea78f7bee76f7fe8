#include "libsym/name/demangle.h"

#include "base/text/hex.h"
#include "base/mem.h"

#include <ctype.h>
#include <demangle.h>
#include <setjmp.h>
#include <string.h>

/* --- C++ and Rust: libiberty ------------------------------------------------------------ */

/*
 * The output of libiberty's callback. A name that explodes is left by longjmp, because the
 * printers cannot be stopped otherwise. They own no heap memory during callbacks, except for
 * the single characters of a punycode identifier: there output is dropped first.
 */
struct sink {
	struct buf *out;
	size_t start;
	volatile size_t dropped;
	jmp_buf stop;
};

enum { DROP_MAX = 16 << 20 };

/* 1 when it may be a character of a punycode identifier, which is never punctuation. */
static int may_be_punycode(const char *s, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if ((unsigned char)s[i] < 0x80 && !isalnum((unsigned char)s[i]) && s[i] != '_')
			return 0;
	return n <= 4;
}

static void sink_add(const char *s, size_t n, void *opaque)
{
	struct sink *k = opaque;
	if (n <= DEMANGLE_OUTPUT_MAX && k->out->n - k->start <= DEMANGLE_OUTPUT_MAX - n) {
		buf_add(k->out, s, n);
		return;
	}
	k->dropped += n;
	if (!may_be_punycode(s, n) || k->dropped > DROP_MAX)
		longjmp(k->stop, 1);
}

typedef int (*demangler)(const char *, int, demangle_callbackref, void *);

static int run(demangler f, const char *name, int options, struct buf *out)
{
	struct sink k = {.out = out, .start = out->n};
	volatile int ok = 0;
	if (!setjmp(k.stop))
		ok = f(name, options, sink_add, &k);
	if (!ok || out->n == k.start || k.dropped) {
		out->n = k.start;
		return 0;
	}
	return 1;
}

static int demangle_abi(const char *name, int flags, struct buf *out)
{
	int options = flags & DEMANGLE_PARAMS ? DMGL_PARAMS | DMGL_ANSI : 0;
	/* Besides "_Z" and "_R", libiberty knows "__Z", "R" and "_GLOBAL__I_" spellings. */
	if (name[0] != '_' && name[0] != 'R' && name[0] != 'Z')
		return 0;
	if (run(rust_demangle_callback, name, options, out))
		return 1;
	return run(cplus_demangle_v3_callback, name, options, out);
}

/* --- OCaml ------------------------------------------------------------------------------ */

/* camlModule__name_123: "__" is a dot, $xx a character. The stamp stays, as in perf 6.1. */
static int demangle_ocaml(const char *name, struct buf *out)
{
	if (strncmp(name, "caml", 4) != 0 || !isupper((unsigned char)name[4]))
		return 0;
	for (const char *p = name + 4; *p;) {
		if (p[0] == '_' && p[1] == '_') {
			buf_char(out, '.');
			p += 2;
		} else if (p[0] == '$' && hex_digit(p[1]) >= 0 && hex_digit(p[2]) >= 0) {
			buf_char(out, (char)(hex_digit(p[1]) << 4 | hex_digit(p[2])));
			p += 3;
		} else {
			buf_char(out, *p++);
		}
	}
	return !buf_failed(out);
}

/* --- Java ------------------------------------------------------------------------------- */

static const char *java_type(char c)
{
	switch (c) {
	case 'B':
		return "byte";
	case 'C':
		return "char";
	case 'D':
		return "double";
	case 'F':
		return "float";
	case 'I':
		return "int";
	case 'J':
		return "long";
	case 'S':
		return "short";
	case 'Z':
		return "boolean";
	case 'V':
		return "void";
	default:
		return NULL;
	}
}

/* One class name up to its ';', slashes as dots. The position after it, or NULL. */
static const char *java_class(const char *p, struct buf *out)
{
	for (; *p && *p != ';'; p++) {
		if (strchr("()[", *p))
			return NULL;
		buf_char(out, *p == '/' ? '.' : *p);
	}
	return *p == ';' ? p + 1 : NULL;
}

/* The argument list between '(' and `end`. */
static int java_args(const char *p, const char *end, struct buf *out)
{
	for (int n = 0; p < end; n++) {
		int dims = 0;
		while (*p == '[') {
			dims++;
			p++;
		}
		if (n)
			buf_str(out, ", ");
		if (*p == 'L') {
			p = java_class(p + 1, out);
			if (!p || p > end)
				return 0;
		} else {
			const char *type = java_type(*p++);
			if (!type)
				return 0;
			buf_str(out, type);
		}
		while (dims--)
			buf_str(out, "[]");
	}
	return 1;
}

/* Lpkg/Class;method(args)ret → pkg.Class.method(args), as the JVM agents of perf name code. */
static int demangle_java(const char *name, struct buf *out)
{
	const char *close = strrchr(name, ')');
	if (name[0] != 'L' || !close)
		return 0;
	size_t start = out->n;
	const char *method = java_class(name + 1, out);
	const char *open = method ? strchr(method, '(') : NULL;
	if (!open || open > close) {
		out->n = start;
		return 0;
	}
	if (isalpha((unsigned char)*method))
		buf_char(out, '.');
	buf_add(out, method, (size_t)(open - method) + 1);
	if (!java_args(open + 1, close, out)) {
		out->n = start;
		return 0;
	}
	buf_char(out, ')');
	return 1;
}

/* ---------------------------------------------------------------------------------------- */

static int demangle_any(const char *name, int flags, struct buf *out)
{
	return demangle_abi(name, flags, out) || demangle_ocaml(name, out) ||
	       demangle_java(name, out);
}

int demangle(const char *name, int flags, struct buf *out)
{
	static const char plt[] = "@plt";
	size_t n = strnlen(name, DEMANGLE_INPUT_MAX + 1), k = sizeof(plt) - 1;
	if (n > DEMANGLE_INPUT_MAX || buf_failed(out))
		return buf_failed(out);
	int found;
	if (n > k && !strcmp(name + n - k, plt)) {
		char *base = mem_strndup(name, n - k);
		if (!base)
			return ERR_NOMEM;
		found = demangle_any(base, flags, out);
		mem_free(base);
		if (found)
			buf_str(out, plt);
	} else {
		found = demangle_any(name, flags, out);
	}
	return buf_failed(out) ? buf_failed(out) : found;
}
