#include "libsym/name/match_text.h"
#include "base/text/path.h"

#include <ctype.h>
#include <string.h>

enum { HASH_DIGITS = 16 };

static size_t digits_before(const char *s, size_t n)
{
	size_t d = 0;
	while (d < n && isdigit((unsigned char)s[n - 1 - d]))
		d++;
	return d;
}

static size_t hex_at(const char *s, size_t n)
{
	size_t d = 0;
	while (d < n && isxdigit((unsigned char)s[d]))
		d++;
	return d;
}

/* --- symbols -------------------------------------------------------------------------- */

/* The length without one suffix like ".cold" or ".part.0"; n if there is none. */
static size_t without_dotted(const char *s, size_t n)
{
	static const char *const words[] = {
		"cold", "part", "constprop", "isra",       "llvm",     "lto_priv",
		"hot",  "warm", "unlikely",  "localalias", "__uniq",   "specialized",
		"cfi",  "kcfi", "startup",   "exit",       "lto_clone"};
	size_t d = digits_before(s, n), end = n;
	if (d && d < n && s[n - d - 1] == '.')
		end = n - d - 1;
	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++) {
		size_t len = strlen(words[i]);
		if (end > len + 1 && s[end - len - 1] == '.' &&
		    !memcmp(s + end - len, words[i], len))
			return end - len - 1;
	}
	return n;
}

/* The same for " [clone .cold]" and " (.llvm.123)", as demanglers print them. */
static size_t without_clone(const char *s, size_t n)
{
	static const char *const begin[] = {" [clone ", " (."};
	for (size_t i = n; (s[n - 1] == ']' || s[n - 1] == ')') && i-- > 1;) {
		if (s[i] != ' ')
			continue;
		for (size_t k = 0; k < 2; k++)
			if (!strncmp(s + i, begin[k], strlen(begin[k])))
				return i;
		if (s[i + 1] != '.')
			break;
	}
	return n;
}

/* The same for "::h0123456789abcdef" of Rust, and as it is mangled. */
static size_t without_hash(const char *s, size_t n)
{
	size_t mangled = n > 4 && !strncmp(s, "_ZN", 3) && s[n - 1] == 'E';
	size_t end = n - mangled, head = strlen("::h");
	if (end < HASH_DIGITS + head + 1 ||
	    hex_at(s + end - HASH_DIGITS, HASH_DIGITS) < HASH_DIGITS)
		return n;
	size_t at = end - HASH_DIGITS - head;
	return !memcmp(s + at, mangled ? "17h" : "::h", head) ? at : n;
}

/* The same for "@@GLIBC_2.2.5"; "@plt" stays. */
static size_t without_version(const char *s, size_t n)
{
	const char *at = memchr(s, '@', n);
	return !at || at == s || !strncmp(at, "@plt", 4) ? n : (size_t)(at - s);
}

static size_t stem_length(const char *s)
{
	size_t n = strlen(s), before = 0;
	while (n && n != before) {
		before = n;
		n = without_dotted(s, n);
		n = n ? without_clone(s, n) : n;
		n = n ? without_hash(s, n) : n;
		n = n ? without_version(s, n) : n;
	}
	return n;
}

/* The length of a crate's hash at s, "[0123abcdef456789]", as demanglers of Rust may print it. */
static size_t crate_hash(const char *s, size_t n)
{
	size_t d = n > 2 && *s == '[' ? hex_at(s + 1, n - 1) : 0;
	return d >= 8 && d + 1 < n && s[d + 1] == ']' ? d + 2 : 0;
}

void match_symbol(struct buf *out, const char *name)
{
	static const char bpf[] = "bpf_prog_";
	size_t n = stem_length(name), i = 0, len = sizeof(bpf) - 1;
	if (!strncmp(name, bpf, len) && n > len + HASH_DIGITS + 1 &&
	    hex_at(name + len, HASH_DIGITS) == HASH_DIGITS) {
		buf_str(out, bpf);
		i = len + HASH_DIGITS + 1;
	}
	for (size_t from = i; i < n;) {
		size_t skip = crate_hash(name + i, n - i);
		if (skip || i + 1 == n)
			buf_add(out, name + from, i + !skip - from);
		i += skip ? skip : 1;
		from = skip ? i : from;
	}
}

/* --- names of JIT compilers ------------------------------------------------------------ */

/* After "LazyCompile:*" and the like: V8's kinds of code and marks of its tiers. */
static const char *after_tier(const char *s)
{
	static const char *const kinds[] = {
		"LazyCompile:",     "JS:",     "Function:", "Script:", "Eval:",
		"BytecodeHandler:", "Builtin:"};
	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++)
		if (!strncmp(s, kinds[i], strlen(kinds[i]))) {
			s += strlen(kinds[i]);
			return s + strspn(s, "*~^+'");
		}
	return s;
}

/* The end of a token that is a path: up to a blank, or a bracket. */
static size_t path_length(const char *s)
{
	return strcspn(s, " \t)>]");
}

static void put_path(struct buf *out, const char *s, size_t n)
{
	size_t base = n;
	while (base && s[base - 1] != '/')
		base--;
	s += base;
	n -= base;
	for (int i = 0; i < 2; i++) { /* :LINE:COLUMN */
		size_t d = digits_before(s, n);
		n = d && d < n && s[n - d - 1] == ':' ? n - d - 1 : n;
	}
	buf_add(out, s, n);
}

void match_jit_symbol(struct buf *out, const char *name)
{
	const char *s = after_tier(name);
	for (const char *before = ""; *s; before = s - 1) {
		if (*s == '/' && (!*before || strchr(" :(", *before))) {
			size_t n = path_length(s);
			put_path(out, s, n);
			s += n;
		} else if (!strncmp(s, "/0x", 3)) { /* a hidden class of Java */
			s += 3 + hex_at(s + 3, strlen(s + 3));
		} else {
			buf_char(out, *s++);
		}
		if (!*s)
			break;
	}
}

/* --- files ------------------------------------------------------------------------------ */

static size_t base_of(const char *dso, const char **base)
{
	static const char deleted[] = " (deleted)";
	*base = path_base(dso);
	size_t n = strlen(*base), len = sizeof(deleted) - 1;
	return n > len && !memcmp(*base + n - len, deleted, len) ? n - len : n;
}

void match_file(struct buf *out, const char *dso)
{
	const char *base;
	size_t n = base_of(dso, &base);
	buf_add(out, base, n);
}

/* The length of s[0..n) without a version at its end: -1.2, _1.2.3, 3.11, -v2, or a hash of
 * eight and more hex digits after a - or a dot. */
static size_t without_file_version(const char *s, size_t n)
{
	size_t i = n, digits = 0, dots = 0;
	while (i && (isdigit((unsigned char)s[i - 1]) || (s[i - 1] == '.' && i < n))) {
		digits += s[i - 1] != '.';
		dots += s[i - 1] == '.';
		i--;
	}
	size_t mark = i && strchr("-_.", s[i - 1]) ? 1 : 0;
	if (!mark && i > 1 && s[i - 1] == 'v' && strchr("-_.", s[i - 2]))
		mark = 2;
	if (digits && i > mark && (dots || mark))
		return i - mark;
	size_t hex = 0;
	while (hex < n && isxdigit((unsigned char)s[n - 1 - hex]))
		hex++;
	return hex >= 8 && hex + 1 < n && strchr("-.", s[n - hex - 1]) ? n - hex - 1 : n;
}

void match_file_stem(struct buf *out, const char *dso)
{
	const char *base;
	size_t n = base_of(dso, &base), stem = n, tail = n;
	for (size_t i = 0; i + 3 <= n; i++)
		if (!memcmp(base + i, ".so", 3) && (i + 3 == n || base[i + 3] == '.'))
			stem = tail = i;
	stem = without_file_version(base, stem);
	buf_add(out, base, stem);
	buf_add(out, base + tail, tail < n ? 3 : 0);
}
