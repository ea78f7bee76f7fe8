/* name_scan.c - finds matching brackets. */
#include "libsym/name/name_scan.h"

enum {
	NEST_LIMIT = 512,
	PAIR_LIMIT = 4096,
};

static char closer(char c)
{
	switch (c) {
	case '(':
		return ')';
	case '<':
		return '>';
	case '[':
		return ']';
	case '{':
		return '}';
	}
	return 0;
}

/* The depth after s[i] closes a bracket of its kind, dropping comparisons (<) above it;
 * NEST_LIMIT if there is none to close. */
static size_t close_to(const char *open, size_t depth, char c)
{
	if (c == '>')
		return depth && open[depth - 1] == '>' ? depth - 1 : depth;
	while (depth && open[depth - 1] == '>')
		depth--;
	return depth && open[depth - 1] == c ? depth - 1 : NEST_LIMIT;
}

size_t name_group(const char *s, size_t n, size_t i)
{
	char open[NEST_LIMIT]; /* the expected closing brackets */
	size_t depth = 0;
	while (i < n) {
		char c = s[i];
		size_t op = depth ? name_operator(s, n, i) : 0;
		if (op) {
			i += op;
			continue;
		}
		if (closer(c)) {
			if (depth == NEST_LIMIT)
				return 0;
			open[depth++] = closer(c);
		} else if (c == ')' || c == ']' || c == '}' ||
			   (c == '>' && s[i - 1] != '-' && s[i - 1] != '=')) {
			depth = close_to(open, depth, c);
			if (depth == NEST_LIMIT)
				return 0;
		}
		i++;
		if (!depth)
			return i;
	}
	return 0;
}

/* 1 when every > in s[i..n) is preceded by its <, within PAIR_LIMIT bytes. */
static int angles_pair(const char *s, size_t n, size_t i)
{
	size_t depth = 0;
	if (n - i > PAIR_LIMIT)
		n = i + PAIR_LIMIT;
	for (; i < n; i++) {
		if (s[i] == '<')
			depth++;
		else if (s[i] == '>' && s[i - 1] != '-' && !depth--)
			return 0;
	}
	return 1;
}

size_t name_operator(const char *s, size_t n, size_t i)
{
	static const char *const symbols[] = {
		"()", "[]", "<=>", "<<=", ">>=", "->*", "<<", ">>", "<=", ">=",
		"->", "==", "!=",  "&&",  "||",  "++",  "--", "+=", "-=", "*=",
		"/=", "%=", "^=",  "&=",  "|=",  "<",   ">",  "+",  "-",  "*",
		"/",  "%",  "^",   "&",   "|",   "~",   "!",  "=",  ",",
	};
	const size_t word = 8;
	if (s[i] != 'o' || !name_at(s, n, i, "operator") || (i && name_char(s[i - 1])) ||
	    (i + word < n && name_char(s[i + word])))
		return 0;
	for (size_t k = 0; k < sizeof(symbols) / sizeof(symbols[0]); k++) {
		if (!name_at(s, n, i + word, symbols[k]))
			continue;
		size_t len = strlen(symbols[k]);
		if (!strcmp(symbols[k], "<<") && n - i - word > 2 &&
		    name_char(s[i + word + 2]) && !angles_pair(s, n, i + word + 2))
			len = 1; /* operator< with template arguments */
		return word + len;
	}
	return word;
}
