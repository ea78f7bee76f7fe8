/* frame_name.c - function names as in rules: see frame_plain_name. */
#include "libsym/name/frame_table.h"

#include <string.h>

struct plain {
	const char *s; /* the rest of the symbol */
	char *out;
	size_t n, size;
	unsigned qualified; /* Rust: how many <T as Trait> it is inside, at T */
};

static void put(struct plain *p, const char *text, size_t n)
{
	size_t room = p->size - 1 - p->n;
	n = n < room ? n : room;
	memcpy(p->out + p->n, text, n);
	p->n += n;
}

static int begins(const char *s, const char *with)
{
	return !strncmp(s, with, strlen(with));
}

/* After the bracket that closes the one at s; the end if there is none. */
static const char *after_bracket(const char *s, char open, char close)
{
	int depth = 0;
	for (; *s; s++) {
		if (*s == '-' && s[1] == '>') {
			s++;
			continue;
		}
		depth += *s == open;
		if (*s == close && !--depth)
			return s + 1;
	}
	return s;
}

/* 1 at a suffix of compilers or the linker, where the name ends. */
static int is_suffix(const char *s)
{
	static const char *const tails[] = {".constprop.", ".part.", ".isra.",     ".cold",
					    ".llvm.",      ".abi0",  ".lto_priv.", "@"};
	for (size_t i = 0; i < sizeof(tails) / sizeof(*tails); i++)
		if (begins(s, tails[i]))
			return 1;
	return 0;
}

/* 1 after the word of "operator<" or "operator new", else 0. */
static int is_operator(const struct plain *p)
{
	static const char word[] = "operator";
	size_t len = sizeof(word) - 1;
	return p->n >= len && !memcmp(p->out + p->n - len, word, len) &&
	       (p->n == len || p->out[p->n - len - 1] == ':');
}

static void parse_operator(struct plain *p)
{
	size_t n = begins(p->s, "()") ? 2 : strspn(p->s, "<>=-+*/%^&|~!,[]");
	put(p, p->s, n);
	p->s += n;
}

/* An argument list ends the name; (anonymous namespace):: is left out; Go's receivers,
 * runtime.(*mcache).refill, stay. 0 at the end of the name. */
static int parse_parenthesis(struct plain *p)
{
	static const char anonymous[] = "(anonymous namespace)";
	if (begins(p->s, anonymous)) {
		p->s += sizeof(anonymous) - 1;
		p->s += begins(p->s, "::") ? 2 : 0;
		return 1;
	}
	if (!p->n || p->out[p->n - 1] != '.')
		return 0;
	const char *end = after_bracket(p->s, '(', ')');
	put(p, p->s, (size_t)(end - p->s));
	p->s = end;
	return 1;
}

/* Drop what precedes a space: a return type, or "non-virtual thunk to". 0 at the end. */
static int parse_space(struct plain *p)
{
	if (p->qualified && begins(p->s, " as ")) {
		int depth = 1;
		for (; *p->s && depth; p->s++)
			depth += *p->s == '<' ? 1 : *p->s == '>' ? -1 : 0;
		p->qualified--;
		return 1;
	}
	p->s += strspn(p->s, " ");
	if (*p->s == '<' && p->n && p->out[p->n - 1] == '<')
		return 1; /* operator< <int> */
	if (!*p->s || *p->s == '[' || *p->s == '(')
		return begins(p->s, "(anonymous");
	p->n = 0;
	return 1;
}

static int parse_angle(struct plain *p)
{
	if (p->n) {
		p->s = after_bracket(p->s, '<', '>');
	} else {
		p->qualified++;
		p->s++;
	}
	return 1;
}

/* Letters, digits, _ and :, of which nearly all names consist. */
static size_t ordinary(const char *s)
{
	size_t n = 0;
	while ((s[n] >= 'a' && s[n] <= 'z') || (s[n] >= 'A' && s[n] <= 'Z') ||
	       (s[n] >= '0' && s[n] <= ':') || s[n] == '_')
		n++;
	return n;
}

/* One piece of the name; 0 at its end. */
static int parse_piece(struct plain *p)
{
	size_t n = ordinary(p->s);
	if (n) {
		put(p, p->s, n);
		p->s += n;
		return 1;
	}
	if (is_operator(p) && strchr("<>=-+*/%^&|~!,[](", *p->s) &&
	    (*p->s != '(' || begins(p->s, "()("))) {
		parse_operator(p);
		return 1;
	}
	switch (*p->s) {
	case '<':
		return parse_angle(p);
	case '(':
		return parse_parenthesis(p);
	case '{':
		put(p, "{}", 2);
		p->s = after_bracket(p->s, '{', '}');
		return 1;
	case ' ':
		if (!is_operator(p))
			return parse_space(p);
		break;
	case '>':
		if (p->qualified) {
			p->qualified--;
			p->s++;
			return 1;
		}
		break;
	case '[':
		if (p->n && begins(p->s, "[abi:")) {
			p->s = after_bracket(p->s, '[', ']');
			return 1;
		}
		break;
	}
	put(p, p->s++, 1);
	return 1;
}

/* Ljava/lang/Object;::wait, as some JVM agents print it, becomes java.lang.Object.wait. */
static void parse_java(struct plain *p)
{
	const char *end = *p->s == 'L' ? strchr(p->s, ';') : NULL;
	if (!end || memchr(p->s, ' ', (size_t)(end - p->s)) ||
	    !memchr(p->s, '/', (size_t)(end - p->s)))
		return;
	for (p->s++; p->s < end; p->s++)
		put(p, *p->s == '/' ? "." : p->s, 1);
	put(p, ".", 1);
	p->s = end + 1;
	p->s += begins(p->s, "::") ? 2 : 0;
}

/* Cut the hash at the end of demangled Rust names. */
static void cut_hash(struct plain *p)
{
	enum { HASH = 19 }; /* ::h and 16 digits */
	const char *at = p->out + p->n - HASH;
	if (p->n > HASH && begins(at, "::h") && strspn(at + 3, "0123456789abcdef") == 16)
		p->n -= HASH;
}

void frame_plain_name(const char *symbol, char *out, size_t size)
{
	struct plain p = {.s = symbol, .out = out, .size = size};
	if (!size)
		return;
	p.s += begins(symbol, "__GI_") ? 5 : 0;
	parse_java(&p);
	while (*p.s && !(p.n && is_suffix(p.s)) && parse_piece(&p))
		;
	out[p.n] = '\0';
	cut_hash(&p);
	out[p.n] = '\0';
}
