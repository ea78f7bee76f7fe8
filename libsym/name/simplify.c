/* simplify.c - shortens names. */
#include "libsym/name/simplify.h"

#include "libsym/name/match_text.h"
#include "libsym/name/name_scan.h"

enum {
	NEST_LIMIT = 64,   /* deeper template arguments are copied unchanged */
	ANONYMOUS_MAX = 4, /* closures in closures that a function's own name begins with */
};

static void names(struct buf *out, const char *s, size_t n, unsigned flags, int nest);

/* --- inline namespaces and abi tags ----------------------------------------------------- */

/*
 * The inline namespaces that libraries use for their versions. `#` is for digits and `_`. A
 * plain v1 is recognized by its enclosing namespace: elsewhere users wrote it.
 */
static const struct {
	const char *in, *name;
} INLINE_NAMESPACES[] = {
	{"", "__cxx11"},     {"", "__1"},
	{"", "__2"},         {"", "__ndk1"},
	{"", "__8"},         {"", "_V2"},
	{"", "__fs"},        {"", "__n4861"}, /* libstdc++ */
	{"absl::", "lts_#"}, {"fmt::", "v#"},
	{"ranges::", "v#"},  {"nlohmann::", "json_abi_v#"},
};

static size_t inline_name(const char *s, size_t n, const char *name)
{
	size_t i = 0;
	for (; *name; name++) {
		size_t from = i;
		if (*name == '#')
			while (i < n && ((s[i] >= '0' && s[i] <= '9') || s[i] == '_'))
				i++;
		else if (i < n && s[i] == *name)
			i++;
		if (i == from)
			return 0;
	}
	return name_at(s, n, i, "::") ? i + 2 : 0;
}

/* The length of an inline namespace component ("__cxx11::") at s[i], after a "::", or 0. */
static size_t inline_namespace(const char *s, size_t n, size_t i)
{
	if (i < 2 || s[i - 1] != ':' || s[i - 2] != ':')
		return 0;
	for (size_t k = 0; k < sizeof(INLINE_NAMESPACES) / sizeof(*INLINE_NAMESPACES); k++) {
		const char *in = INLINE_NAMESPACES[k].in;
		size_t before = strlen(in);
		size_t len = before <= i && name_at(s, i, i - before, in)
				     ? inline_name(s + i, n - i, INLINE_NAMESPACES[k].name)
				     : 0;
		if (len)
			return len;
	}
	return 0;
}

/* --- default arguments ------------------------------------------------------------------ */

static int is_default(const char *s, size_t n)
{
	static const char *const defaults[] = {
		"std::allocator<", "std::char_traits<",    "std::less<",         "std::hash<",
		"std::equal_to<",  "std::default_delete<", "std::regex_traits<",
	};
	for (size_t k = 0; k < sizeof(defaults) / sizeof(defaults[0]); k++)
		if (name_at(s, n, 0, defaults[k]))
			return 1;
	return 0;
}

/* The end of the template argument that begins at s[i]: at its comma, or n. */
static size_t argument_end(const char *s, size_t n, size_t i)
{
	while (i < n && s[i] != ',') {
		size_t end = strchr("(<[{", s[i]) && s[i] ? name_group(s, n, i) : 0;
		i = end ? end : i + 1;
	}
	return i;
}

/* The arguments s[0..n) without defaults; the first always stays. */
static void arguments(struct buf *out, const char *s, size_t n, unsigned flags, int nest)
{
	struct buf arg = {0};
	for (size_t i = 0; i < n;) {
		size_t end = argument_end(s, n, i), from = i;
		while (from < end && s[from] == ' ')
			from++;
		size_t len = end - from;
		while (len && s[from + len - 1] == ' ')
			len--;
		buf_clear(&arg);
		names(&arg, s + from, len, flags, nest);
		if (buf_failed(&arg))
			out->failed = arg.failed;
		else if (!i || !is_default(arg.v ? arg.v : "", arg.n)) {
			if (i)
				buf_str(out, ", ");
			buf_add(out, arg.v, arg.n);
		}
		i = end + 1;
	}
	buf_release(&arg);
}

/* "std::basic_string<char>" at the end of *out from `from` on becomes "std::string". */
static void alias(struct buf *out, size_t from)
{
	static const char *const aliases[][2] = {
		{"std::basic_string<char>", "std::string"},
		{"std::basic_string<wchar_t>", "std::wstring"},
		{"std::basic_string_view<char>", "std::string_view"},
		{"std::basic_ostream<char>", "std::ostream"},
		{"std::basic_istream<char>", "std::istream"},
		{"std::basic_regex<char>", "std::regex"},
	};
	if (buf_failed(out))
		return;
	for (size_t k = 0; k < sizeof(aliases) / sizeof(aliases[0]); k++) {
		size_t len = strlen(aliases[k][0]);
		if (out->n - from < len ||
		    memcmp(out->v + out->n - len, aliases[k][0], len) != 0)
			continue;
		out->n -= len;
		buf_str(out, aliases[k][1]);
		return;
	}
}

/* --- brackets --------------------------------------------------------------------------- */

/*
 * 1 when the "<" at s[i] starts template arguments, not Rust's "<T as Trait>" or "::<impl T>"?
 * `op` is the end of the operator's name before it, if there was one.
 */
static int is_arguments(const char *s, size_t n, size_t i, size_t op)
{
	if (op && (i == op || (i == op + 1 && s[op] == ' '))) /* operator< <int> */
		return 1;
	if (i >= 2 && s[i - 1] == ':' && s[i - 2] == ':')
		return !name_at(s, n, i + 1, "impl ");
	return i && (name_char(s[i - 1]) || strchr("})]", s[i - 1]));
}

/* The group s[i..end) with its content simplified. */
static void inside(struct buf *out, const char *s, size_t i, size_t end, unsigned flags,
		   int nest)
{
	buf_char(out, s[i]);
	names(out, s + i + 1, end - i - 2, flags, nest);
	buf_char(out, s[end - 1]);
}

/* Template arguments s[i..end); the name before them began at out->n == from. */
static void angle(struct buf *out, const char *s, size_t i, size_t end, size_t from,
		  unsigned flags, int nest)
{
	size_t last = end - 1, open = out->n;
	buf_char(out, '<');
	if (flags & SIMPLIFY_DEFAULTS)
		arguments(out, s + i + 1, last - i - 1, flags & ~SIMPLIFY_TEMPLATES, nest);
	else if (!(flags & SIMPLIFY_TEMPLATES))
		names(out, s + i + 1, last - i - 1, flags, nest);
	buf_char(out, '>');
	if (flags & SIMPLIFY_DEFAULTS)
		alias(out, from);
	if (flags & SIMPLIFY_TEMPLATES && !buf_failed(out) && out->n > open) {
		out->n = open; /* no alias replaced it */
		buf_str(out, "<…>");
	}
}

/* "{lambda(int)#1}" → "{lambda#1}". */
static void brace(struct buf *out, const char *s, size_t i, size_t end, unsigned flags,
		  int nest)
{
	size_t open = i + 7;
	size_t close = name_at(s, end, i, "{lambda(") ? name_group(s, end, open) : 0;
	if (!(flags & SIMPLIFY_TEMPLATES) || !close) {
		inside(out, s, i, end, flags, nest);
		return;
	}
	buf_add(out, s + i, open - i);
	buf_add(out, s + close, end - close);
}

/* The "[...]" s[i..end): an abi tag, Go's shape arguments, or something to keep. */
static void square(struct buf *out, const char *s, size_t i, size_t end, unsigned flags,
		   int nest)
{
	if (flags & SIMPLIFY_NAMESPACES && name_at(s, end, i, "[abi:"))
		return;
	if (flags & SIMPLIFY_TEMPLATES && name_at(s, end, i, "[go.shape."))
		buf_str(out, "[…]");
	else
		inside(out, s, i, end, flags, nest);
}

/* Append s[0..n), a name or a list of types, simplified. */
static void names(struct buf *out, const char *s, size_t n, unsigned flags, int nest)
{
	size_t from = out->n; /* where the current name began */
	size_t after_op = 0;
	if (nest > NEST_LIMIT) {
		buf_add(out, s, n);
		return;
	}
	for (size_t i = 0; i < n;) {
		size_t op = name_operator(s, n, i);
		size_t drop = flags & SIMPLIFY_NAMESPACES ? inline_namespace(s, n, i) : 0;
		size_t end = strchr("(<[{", s[i]) && s[i] && !op ? name_group(s, n, i) : 0;
		if (op) {
			buf_add(out, s + i, op);
			after_op = i += op;
		} else if (drop) {
			i += drop;
		} else if (!end) {
			buf_char(out, s[i++]);
			if (s[i - 1] == ' ' || s[i - 1] == ',')
				from = out->n;
		} else {
			if (s[i] == '<' && is_arguments(s, n, i, after_op))
				angle(out, s, i, end, from, flags, nest + 1);
			else if (s[i] == '{')
				brace(out, s, i, end, flags, nest + 1);
			else if (s[i] == '[')
				square(out, s, i, end, flags, nest + 1);
			else
				inside(out, s, i, end, flags, nest + 1);
			i = end;
		}
	}
}

/* --- components ------------------------------------------------------------------------- */

/* The length of the separator at s[i], or 0. A "." before a digit is a compiler's. */
static size_t separator(const char *s, size_t n, size_t i, int dots)
{
	if (name_at(s, n, i, "::"))
		return 2;
	if (!dots || s[i] != '.' || i + 1 >= n || !i)
		return 0;
	return (name_char(s[i + 1]) && !(s[i + 1] >= '0' && s[i + 1] <= '9')) ||
	       s[i + 1] == '(';
}

/* The start of the last component of s[0..n). */
static size_t component(const char *s, size_t n, int dots)
{
	size_t at = 0;
	for (size_t i = 0; i < n;) {
		size_t op = name_operator(s, n, i);
		size_t end = strchr("(<[{", s[i]) && s[i] && !op ? name_group(s, n, i) : 0;
		size_t sep = op || end ? 0 : separator(s, n, i, dots);
		i = op ? i + op : end ? end : sep ? i + sep : i + 1;
		at = sep || (dots && i && s[i - 1] == '/') ? i : at;
	}
	return at;
}

/* --- constructors ----------------------------------------------------------------------- */

/*
 * If s[0..n) is "CLASS::NAME(CLASS const&)" or "CLASS::NAME(CLASS&&)", and NAME is that of
 * CLASS: the length of "CLASS::", with *verb set; else 0.
 */
static size_t special_constructor(const char *s, size_t n, const char **verb)
{
	static const char copy[] = " const&", move[] = "&&";
	if (!n || s[n - 1] != ')')
		return 0;
	size_t open = n;
	for (size_t i = 0; i < n; i++)
		if (s[i] == '(' && name_group(s, n, i) == n) {
			open = i;
			break;
		}
	size_t name = component(s, open, 0);
	if (open == n || name < 3)
		return 0;
	size_t class = name - 2, base = component(s, class, 0);
	size_t len = open - name; /* the constructor's name is the class's without arguments */
	if (len > class - base || memcmp(s + base, s + name, len) != 0 ||
	    (len < class - base && s[base + len] != '<'))
		return 0;
	const char *param = s + open + 1;
	size_t nparam = n - open - 2;
	if (nparam <= class || memcmp(param, s, class) != 0)
		return 0;
	if (nparam - class == sizeof(copy) - 1 && name_at(param, nparam, class, copy))
		*verb = "copy_construct";
	else if (nparam - class == sizeof(move) - 1 && name_at(param, nparam, class, move))
		*verb = "move_construct";
	else
		return 0;
	return name;
}

/* 1 when all brackets of the name match. */
static int pairs(const char *s, size_t n)
{
	for (size_t i = 0; i < n;) {
		size_t op = name_operator(s, n, i);
		if (op) {
			i += op;
			continue;
		}
		if (!s[i] || !strchr("(<[{", s[i])) {
			i++;
			continue;
		}
		i = name_group(s, n, i);
		if (!i)
			return 0;
	}
	return 1;
}

void simplify(struct buf *out, const char *name, size_t n, unsigned flags)
{
	const char *verb = "";
	size_t class = 0;
	if (!pairs(name, n)) {
		buf_add(out, name, n);
		return;
	}
	if (flags & SIMPLIFY_CONSTRUCTORS)
		class = special_constructor(name, n, &verb);
	names(out, name, class ? class : n, flags, 0);
	buf_str(out, verb);
}

/* --- narrow places ---------------------------------------------------------------------- */

/* 1 when s[0..n) does not name a function by itself. */
static int is_anonymous(const char *s, size_t n)
{
	return s[0] == '{' || name_at(s, n, 0, "operator()");
}

/* How much of the name is before a compiler's suffix. */
static size_t without_suffix(const char *name, size_t n)
{
	struct buf all = {0}, plain = {0};
	buf_add(&all, name, n);
	match_symbol(&plain, buf_cstr(&all));
	if (!buf_failed(&plain) && plain.n && plain.n < n && !memcmp(plain.v, name, plain.n))
		n = plain.n;
	buf_release(&all);
	buf_release(&plain);
	return n;
}

size_t name_own(const char *name, size_t n)
{
	size_t end = without_suffix(name, n), at = end, sep = 0;
	int dots = !memmem(name, n, "::", 2) && !memchr(name, ' ', n);
	for (int i = 0; i < ANONYMOUS_MAX; i++) {
		at = component(name, at - sep, dots);
		sep = at ? (dots ? 1 : 2) : 0;
		if (!at || !is_anonymous(name + at, end - at))
			break;
	}
	return at;
}

static size_t characters(const char *s, size_t n)
{
	size_t chars = 0;
	for (size_t i = 0; i < n; i++)
		chars += ((unsigned char)s[i] & 0xc0) != 0x80;
	return chars;
}

/* The bytes of the first `chars` characters. */
static size_t prefix(const char *s, size_t n, size_t chars)
{
	size_t i = 0;
	for (; i < n; i++)
		if (((unsigned char)s[i] & 0xc0) != 0x80 && !chars--)
			break;
	return i;
}

void name_short(struct buf *out, const char *name, size_t n)
{
	size_t from = pairs(name, n) ? 0 : component(name, n, 0);
	simplify(out, name + from, n - from, SIMPLIFY_ALL);
}

/* The short name s[0..n), of more than `room` characters, cut. */
static void cut(struct buf *out, const char *s, size_t n, size_t room)
{
	enum { SCOPE_LEAST = 3 }; /* characters, for which the separator is worth its place */
	size_t at = name_own(s, n), own = characters(s + at, n - at);
	if (!at || own >= room) {
		buf_add(out, s + at, prefix(s + at, n - at, room - 1));
		buf_str(out, "…");
		return;
	}
	if (s[at - 1] == ':' && room > own + 2 + SCOPE_LEAST) {
		at -= 2;
		own += 2;
	}
	buf_add(out, s, prefix(s, at, room - own - 1));
	buf_str(out, "…");
	buf_add(out, s + at, n - at);
}

void name_fit(struct buf *out, const char *name, size_t n, size_t room)
{
	struct buf text = {0};
	if (characters(name, n) <= room) {
		buf_add(out, name, n);
		return;
	}
	name_short(&text, name, n);
	if (buf_failed(&text))
		out->failed = text.failed;
	else if (characters(text.v, text.n) <= room)
		buf_add(out, text.v, text.n);
	else if (room)
		cut(out, text.v, text.n, room);
	buf_release(&text);
}
