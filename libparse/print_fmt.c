#include "libparse/print_fmt.h"

#include <ctype.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum {
	FIELDS_MAX = 128,
	NUMBER_MAX = 1 << 16, /* of an offset, a size, an array's length */
	DEPTH_MAX = 64,
	WORD_MAX = 128,
	OPERATORS_MAX = 4096, /* libtraceevent recurses for each */
};

struct field {
	const char *name;
	size_t len;
	unsigned long elements; /* of an array of known length; else 0 */
	int dynamic;            /* __data_loc */
};

struct scan {
	const char *p;
	struct field field[FIELDS_MAX];
	size_t nfields;
	int depth, operators;
};

static int is_word(char c)
{
	return isalnum((unsigned char)c) || c == '_';
}

/* --- pieces: 1 and moved past it, or 0
 * ------------------------------------------------------ */

static int accept(struct scan *s, const char *text)
{
	size_t n = strlen(text);
	if (strncmp(s->p, text, n))
		return 0;
	s->p += n;
	return 1;
}

static void blanks(struct scan *s)
{
	s->p += strspn(s->p, " \t");
}

/* A piece of an expression, with the blanks around it. */
static int token(struct scan *s, const char *text)
{
	blanks(s);
	if (!accept(s, text))
		return 0;
	blanks(s);
	return 1;
}

static int word(struct scan *s, const char **at, size_t *len)
{
	*at = s->p;
	while (is_word(*s->p))
		s->p++;
	*len = (size_t)(s->p - *at);
	return *len && *len < WORD_MAX && !isdigit((unsigned char)**at);
}

static int number(struct scan *s, unsigned long *x)
{
	char *end;
	if (!isdigit((unsigned char)*s->p))
		return 0;
	*x = strtoul(s->p, &end, 0);
	s->p = end + strspn(end, "uUlL");
	return !is_word(*s->p);
}

static int string(struct scan *s)
{
	if (!token(s, "\""))
		return 0;
	for (; *s->p != '"'; s->p++) {
		if (*s->p == '\\' && s->p[1])
			s->p++;
		if (iscntrl((unsigned char)*s->p) && *s->p != '\t')
			return 0;
	}
	return token(s, "\"");
}

/* --- the fields ------------------------------------------------------------------------- */

/* "[16]", "[TASK_COMM_LEN]"; "[]" only follows the type of a __data_loc. */
static int brackets(struct scan *s, unsigned long *elements)
{
	const char *at;
	size_t len;
	*elements = 0;
	if (!accept(s, "["))
		return 0;
	if (isdigit((unsigned char)*s->p))
		return number(s, elements) && *elements <= NUMBER_MAX && accept(s, "]");
	return word(s, &at, &len) && accept(s, "]");
}

/* "unsigned long args[6]", "const char * name", "__data_loc char[] text" */
static int declaration(struct scan *s, struct field *f)
{
	const char *at;
	size_t len;
	int words = 0;
	*f = (struct field){0};
	while (is_word(*s->p) || *s->p == '*') {
		if (*s->p == '*') {
			s->p++;
		} else {
			if (!word(s, &at, &len))
				return 0;
			words++;
			f->dynamic |= words == 1 && len == 10 && !strncmp(at, "__data_loc", 10);
			f->name = at;
			f->len = len;
		}
		if (f->dynamic && words == 2)
			accept(s, "[]");
		s->p += strspn(s->p, " ");
	}
	if (words < 2 || (f->dynamic && words < 3) || s->p[-1] == '*')
		return 0;
	return *s->p != '[' || (!f->dynamic && brackets(s, &f->elements));
}

static int attribute(struct scan *s, const char *key)
{
	unsigned long x;
	return accept(s, key) && number(s, &x) && x <= NUMBER_MAX && accept(s, ";");
}

static int field_line(struct scan *s)
{
	struct field *f = &s->field[s->nfields];
	if (s->nfields >= FIELDS_MAX || !declaration(s, f) || !accept(s, ";"))
		return 0;
	if (!attribute(s, "\toffset:") || !attribute(s, "\tsize:"))
		return 0;
	if (*s->p == '\t' && !attribute(s, "\tsigned:"))
		return 0;
	s->nfields++;
	return accept(s, "\n");
}

static int head(struct scan *s)
{
	const char *at;
	size_t len;
	unsigned long id;
	if (!accept(s, "name: ") || !word(s, &at, &len) || !accept(s, "\nID: ") ||
	    !number(s, &id) || !accept(s, "\nformat:\n"))
		return 0;
	while (*s->p == '\n' || *s->p == '\t')
		if (!accept(s, "\n") && !(accept(s, "\tfield:") && field_line(s)))
			return 0;
	return s->nfields > 0;
}

/* --- expressions -------------------------------------------------------------------------- */

static int expression(struct scan *s);

static const struct field *field_named(struct scan *s)
{
	const char *at;
	size_t len;
	if (!word(s, &at, &len))
		return NULL;
	for (size_t i = 0; i < s->nfields; i++)
		if (s->field[i].len == len && !memcmp(s->field[i].name, at, len))
			return &s->field[i];
	return NULL;
}

/* After "REC->". */
static int record_field(struct scan *s)
{
	unsigned long index;
	const struct field *f = field_named(s);
	if (!f || f->dynamic)
		return 0;
	if (!token(s, "["))
		return 1;
	return number(s, &index) && index < f->elements && token(s, "]");
}

/* A value in a table: a number, or a name that the kernel did not resolve. */
static int constant(struct scan *s)
{
	const char *at;
	size_t len;
	if (isalpha((unsigned char)*s->p))
		return word(s, &at, &len);
	return expression(s);
}

/* After "__print_flags(" or "__print_symbolic(". */
static int print_names(struct scan *s, int delimiter)
{
	if (!expression(s) || (delimiter && !(token(s, ",") && string(s))))
		return 0;
	while (token(s, ",")) {
		if (!token(s, "{") || !constant(s) || !token(s, ",") || !string(s) ||
		    !token(s, "}"))
			return 0;
	}
	return token(s, ")");
}

/* After "__get_str(". */
static int text_field(struct scan *s)
{
	const struct field *f = field_named(s);
	return f && f->dynamic && token(s, ")");
}

static int type_word(struct scan *s, const char **at, size_t *len)
{
	*at = s->p;
	*len = 1;
	return accept(s, "*") || word(s, at, len);
}

/* "(unsigned long)", "(void *)", or nothing. */
static int cast(struct scan *s)
{
	static const char *const types[] = {
		"unsigned", "long",     "int",   "u64",     "u32",    "u16",   "u8",
		"s64",      "s32",      "short", "char",    "bool",   "__u64", "__u32",
		"size_t",   "ssize_t",  "pid_t", "void",    "loff_t", "ino_t", "dev_t",
		"__u16",    "__u8",     "__s32", "__s64",   "s16",    "s8",    "const",
		"uint32_t", "uint64_t", "gfp_t", "__force", "uint",   "*"};
	const char *start = s->p, *at;
	size_t len, words = 0, i = 0;
	if (!token(s, "("))
		return 0;
	while (i < sizeof(types) / sizeof(*types) && type_word(s, &at, &len)) {
		for (i = 0; i < sizeof(types) / sizeof(*types); i++)
			if (strlen(types[i]) == len && !memcmp(types[i], at, len))
				break;
		words++;
		blanks(s);
	}
	if (words && i < sizeof(types) / sizeof(*types) && token(s, ")"))
		return 1;
	s->p = start;
	return 0;
}

static int operand(struct scan *s)
{
	unsigned long x;
	while (cast(s) || token(s, "-") || token(s, "~") || token(s, "!"))
		s->operators++;
	blanks(s);
	if (*s->p == '"')
		return string(s);
	if (number(s, &x))
		return 1;
	if (token(s, "("))
		return expression(s) && token(s, ")");
	if (token(s, "REC->"))
		return record_field(s);
	if (token(s, "__print_flags("))
		return print_names(s, 1);
	if (token(s, "__print_symbolic("))
		return print_names(s, 0);
	return token(s, "__get_str(") && text_field(s);
}

static int operator(struct scan *s)
{
	static const char *const operators[] = {"<<", ">>", "<=", ">=", "==", "!=", "&&", "||",
						"+",  "-",  "*",  "&",  "|",  "^",  "<",  ">"};
	for (size_t i = 0; i < sizeof(operators) / sizeof(*operators); i++)
		if (token(s, operators[i]))
			return ++s->operators;
	return 0;
}

/* Divisions after an operand, if any; only by a number, because any other divisor may be 0 in a
 * record. */
static int divisions(struct scan *s)
{
	unsigned long by;
	while (token(s, "/") || token(s, "%")) {
		s->operators++;
		if (!number(s, &by) || by == 0 || by > INT32_MAX)
			return 0;
		blanks(s);
	}
	return 1;
}

/* Operators between operands, without precedence; "a ? b : c" last. */
static int expression(struct scan *s)
{
	if (++s->depth > DEPTH_MAX)
		return 0;
	do {
		if (!operand(s) || !divisions(s) || s->operators > OPERATORS_MAX)
			return 0;
	} while (operator(s));
	if (token(s, "?") && !(expression(s) && token(s, ":") && expression(s)))
		return 0;
	s->depth--;
	return 1;
}

/* The conversions of a text: plain ones of numbers and texts, and %p followed by letters. The
 * width is a number or an argument. Returns how many arguments they take, or -1.
 */
static int conversions(const char *p, const char *end)
{
	int n = 0;
	for (; p < end; p++) {
		if (*p != '%')
			continue;
		p += 1 + strspn(p + 1, "-+ #0");
		size_t width = strspn(p, "0123456789.");
		if (width > 5 || p[width] == '*')
			return -1;
		p += width;
		p += strspn(p, "hlLqjzt");
		if (p >= end || !strchr("diouxXcsp%", *p))
			return -1;
		n += *p != '%';
	}
	return n;
}

static int print_fmt(struct scan *s)
{
	const char *text = s->p;
	int asked = 0, given = 0;
	if (!string(s))
		return 0;
	asked = conversions(text, s->p);
	while (token(s, ",") && given < FIELDS_MAX) {
		if (!expression(s))
			return 0;
		given++;
	}
	return asked == given && (!*s->p || (*s->p == '\n' && !s->p[1]));
}

int print_fmt_is_safe(const char *format)
{
	struct scan s = {.p = format};
	return head(&s) && accept(&s, "print fmt: ") && print_fmt(&s);
}
