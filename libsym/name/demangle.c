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

/* --- legacy Rust with letters beyond ASCII ------------------------------------------------- */

/* libiberty takes these for C++ and shows escapes and hash. `_ZN`, length-prefixed parts, the
 * last of which is a hash, `E`; perhaps a suffix. */
static const char *rust_hash(const char *name)
{
	enum { HASH = 16 };
	const char *end = strrchr(name, 'E'), *llvm = strstr(name, ".llvm.");
	if (llvm)
		for (end = llvm - 1; end > name && *end != 'E';)
			end--;
	if (!end || end - name < HASH + 3 || (end[1] && end[1] != '.'))
		return NULL;
	const char *hash = end - HASH - 3;
	for (int i = 3; i < HASH + 3; i++)
		if (hex_digit(hash[i]) < 0)
			return NULL;
	return strncmp(hash, "17h", 3) ? NULL : hash;
}

static void add_utf8(struct buf *out, unsigned c)
{
	static const unsigned char lead[] = {0, 0xc0, 0xe0, 0xf0};
	int more = c < 0x80 ? 0 : c < 0x800 ? 1 : c < 0x10000 ? 2 : 3;
	buf_char(out, (char)(lead[more] | c >> 6 * more));
	while (more--)
		buf_char(out, (char)(0x80 | (c >> 6 * more & 0x3f)));
}

/* An escape like $LT$ or $u7e$ at p: the position after it, or NULL. */
static const char *rust_escape(const char *p, const char *end, struct buf *out)
{
	static const struct {
		const char *escape, *text;
	} map[] = {{"$SP$", "@"}, {"$BP$", "*"}, {"$RF$", "&"}, {"$LT$", "<"},
		   {"$GT$", ">"}, {"$LP$", "("}, {"$RP$", ")"}, {"$C$", ","}};
	for (size_t i = 0; i < sizeof(map) / sizeof(*map); i++)
		if (!strncmp(p, map[i].escape, strlen(map[i].escape))) {
			buf_str(out, map[i].text);
			return p + strlen(map[i].escape);
		}
	unsigned c = 0;
	const char *q = p + 2;
	if (p[1] != 'u')
		return NULL;
	for (; q < end && hex_digit(*q) >= 0 && c < 0x110000; q++)
		c = c << 4 | (unsigned)hex_digit(*q);
	if (*q != '$' || c < 0x20 || (c >= 0x7f && c < 0xa0) || (c >= 0xd800 && c < 0xe000) ||
	    c >= 0x110000)
		return NULL;
	add_utf8(out, c);
	return q + 1;
}

static int rust_part(const char *p, const char *end, struct buf *out)
{
	if (p + 1 < end && p[0] == '_' && p[1] == '$')
		p++;
	while (p < end) {
		if (*p == '$') {
			p = rust_escape(p, end, out);
			if (!p)
				return 0;
		} else if (*p == '.' && p + 1 < end && p[1] == '.') {
			buf_str(out, "::");
			p += 2;
		} else {
			buf_char(out, *p++);
		}
	}
	return 1;
}

/* A letter, or an escape of one ($uc4$; $u7e$ is ASCII). */
static int is_beyond_ascii(const char *p)
{
	size_t digits = strncmp(p, "$u", 2) ? 0 : strspn(p + 2, "0123456789abcdef");
	return (unsigned char)*p >= 0x80 ||
	       (digits && p[2 + digits] == '$' && (digits > 2 || (digits == 2 && p[2] >= '8')));
}

static int demangle_rust_letters(const char *name, struct buf *out)
{
	const char *p = name, *hash;
	size_t start = out->n;
	while (*p && !is_beyond_ascii(p))
		p++;
	if (!*p || strncmp(name, "_ZN", 3) != 0 || !(hash = rust_hash(name)))
		return 0;
	for (p = name + 3; p < hash;) {
		size_t n = 0;
		for (; isdigit((unsigned char)*p) && n <= DEMANGLE_INPUT_MAX; p++)
			n = n * 10 + (size_t)(*p - '0');
		if (out->n > start)
			buf_str(out, "::");
		if (!n || n > (size_t)(hash - p) || !rust_part(p, p + n, out)) {
			out->n = start;
			return 0;
		}
		p += n;
	}
	return out->n > start && p == hash;
}

/* --- D ------------------------------------------------------------------------------------- */

/* Backward references may repeat each other: so many double the text at most so often. */
enum { D_REFERENCES = 16 };

/* Where the parameters begin, if the name ends with them. */
static size_t before_parameters(const char *s, size_t n)
{
	size_t i = n, depth = 0;
	if (!n || s[n - 1] != ')')
		return n;
	while (i--) {
		depth += s[i] == ')';
		depth -= s[i] == '(';
		if (!depth)
			return i && s[i - 1] != '!' ? i : n;
	}
	return n;
}

static int demangle_d(const char *name, int flags, struct buf *out)
{
	size_t references = 0;
	if (strncmp(name, "_D", 2) != 0 ||
	    (!isdigit((unsigned char)name[2]) && strcmp(name, "_Dmain") != 0))
		return 0;
	for (const char *p = name; *p; p++)
		references += *p == 'Q';
	char *text = references <= D_REFERENCES ? dlang_demangle(name, DMGL_PARAMS) : NULL;
	size_t n = text ? strlen(text) : 0;
	int ok = n && n <= DEMANGLE_OUTPUT_MAX;
	if (ok)
		buf_add(out, text, flags & DEMANGLE_PARAMS ? n : before_parameters(text, n));
	mem_free(text);
	return ok;
}

/* --- Nim ----------------------------------------------------------------------------------- */

/* The character that begins p, as compiler/ccgutils.nim writes it: its length, or 0. */
static size_t nim_special(const char *p, const char *end, char *c)
{
	static const struct {
		const char *word;
		char c;
	} map[] = {{"dollar", '$'}, {"percent", '%'}, {"amp", '&'},        {"roof", '^'},
		   {"emark", '!'},  {"qmark", '?'},   {"star", '*'},       {"plus", '+'},
		   {"minus", '-'},  {"slash", '/'},   {"backslash", '\\'}, {"eq", '='},
		   {"lt", '<'},     {"gt", '>'},      {"tilde", '~'},      {"colon", ':'},
		   {"dot", '.'},    {"at", '@'},      {"bar", '|'}};
	for (size_t i = 0; i < sizeof(map) / sizeof(*map); i++) {
		size_t n = strlen(map[i].word);
		*c = map[i].c;
		if (n <= (size_t)(end - p) && !strncmp(p, map[i].word, n))
			return n;
	}
	if (end - p < 3 || *p != 'X' || hex_digit(p[1]) < 0 || hex_digit(p[2]) < 0)
		return 0;
	*c = (char)(hex_digit(p[1]) << 4 | hex_digit(p[2]));
	return *c > ' ' && *c < 0x7f ? 3 : 0;
}

/* An operator, plusstar_ for `+*`; a name stays as it is. */
static void nim_name(const char *p, const char *end, struct buf *out)
{
	size_t start = out->n, n = 0;
	char c;
	for (const char *q = p; end[-1] == '_' && q < end - 1; q += n) {
		n = nim_special(q, end - 1, &c);
		if (!n)
			break;
		buf_char(out, c);
	}
	if (n)
		return;
	out->n = start;
	buf_add(out, p, (size_t)(end - p));
}

/* name__module_123, since Nim 2 name__module_u123, as module.name. */
static int demangle_nim(const char *name, struct buf *out)
{
	const char *module = NULL, *end = strrchr(name, '_');
	for (const char *p = name; (p = strstr(p, "__")); p++)
		module = p + 2;
	if (!module || module - 2 == name || !end || end <= module)
		return 0;
	const char *number = end + 1 + (end[1] == 'u');
	if (!*number || number[strspn(number, "0123456789")] ||
	    !islower((unsigned char)*module))
		return 0;
	buf_add(out, module, (size_t)(end - module));
	buf_char(out, '.');
	nim_name(name, module - 2, out);
	return 1;
}

/* --- C++ and Rust -------------------------------------------------------------------------- */

static int demangle_abi(const char *name, int flags, struct buf *out)
{
	int options = flags & DEMANGLE_PARAMS ? DMGL_PARAMS | DMGL_ANSI : 0;
	/* Besides "_Z" and "_R", libiberty knows "__Z", "R" and "_GLOBAL__I_" spellings. */
	if (name[0] != '_' && name[0] != 'R' && name[0] != 'Z')
		return 0;
	if (demangle_rust_letters(name, out) || run(rust_demangle_callback, name, options, out))
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
	return (flags & DEMANGLE_NIM && demangle_nim(name, out)) ||
	       demangle_abi(name, flags, out) || demangle_d(name, flags, out) ||
	       demangle_ocaml(name, out) || demangle_java(name, out);
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
