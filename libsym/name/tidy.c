/* tidy.c - symbols as folded frames. */
#include "libsym/name/tidy.h"

#include "libsym/name/name_scan.h"

/* Append one byte of a frame, without separators and quotes. */
static void add_clean(struct buf *out, char c)
{
	if (c != '"' && c != '\'')
		buf_char(out, c == ';' ? ':' : c);
}

static void add_clean_n(struct buf *out, const char *s, size_t n)
{
	for (size_t i = 0; i < n; i++)
		add_clean(out, s[i]);
}

static int contains(const char *s, size_t n, const char *text)
{
	return n && memmem(s, n, text, strlen(text)) != NULL;
}

/*
 * Finish the frame that began at out->n == from: Java's leading L, then the mark. `slash`: the
 * cleaned text contains a "/".
 */
static void finish(struct buf *out, size_t from, unsigned flags, size_t index, const char *mark)
{
	if (buf_failed(out))
		return;
	if (flags & TIDY_JAVA && out->n > from && out->v[from] == 'L' &&
	    memchr(out->v + from, '/', out->n - from)) {
		memmove(out->v + from, out->v + from + 1, out->n - from - 1);
		out->n--;
	}
	if (index)
		mark = "_[i]";
	if (!mark)
		return;
	if (strcmp(mark, "_[k]") != 0 && contains(out->v + from, out->n - from, mark))
		return;
	buf_str(out, mark);
}

/* The next arrow outside brackets that is neither an operator nor the " -> " of a return
 * type. */
static size_t next_arrow(const char *s, size_t n, size_t from)
{
	for (size_t i = from; i < n;) {
		size_t op = name_operator(s, n, i);
		if (op) {
			i += op;
			continue;
		}
		if (name_at(s, n, i, "->")) {
			if (!i || s[i - 1] != ' ')
				return i;
			i += 2;
			continue;
		}
		size_t end = strchr("(<[{", s[i]) && s[i] ? name_group(s, n, i) : 0;
		i = end ? end : i + 1;
	}
	return n;
}

/* 1 when the "(" at s[i] opens an argument list and is not part of a name. `conversion`: it
 * follows an "operator T*". */
static int opens_arguments(const char *s, size_t i, int conversion)
{
	static const char word[] = "decltype";
	size_t len = sizeof(word) - 1;
	if (!i)
		return 0;
	if (i >= len && !memcmp(s + i - len, word, len))
		return 0;
	const char *before = conversion ? ">}])'\"*&" : ">}])'\"";
	return name_char(s[i - 1]) || (strchr(before, s[i - 1]) && s[i - 1]);
}

/* Step over " const", " volatile", " &", " &&", " noexcept" after an argument list. */
static size_t skip_qualifiers(const char *s, size_t n, size_t i)
{
	static const char *const words[] = {" const", " volatile", " noexcept",
					    " &&",    " &",        "[abi:cxx11]"};
	for (size_t k = 0; k < sizeof(words) / sizeof(words[0]);)
		if (name_at(s, n, i, words[k])) {
			i += strlen(words[k]);
			k = 0;
		} else {
			k++;
		}
	return i;
}

/*
 * The "(" at s[i]: append it if it is part of the name, leave it out if it lists arguments.
 * Returns where to continue; n if nothing of the name follows.
 */
static size_t parenthesis(struct buf *out, const char *s, size_t n, size_t i, int conversion)
{
	size_t end = name_group(s, n, i);
	if (!opens_arguments(s, i, conversion)) {
		if (!end)
			end = i + 1;
		add_clean_n(out, s + i, end - i);
		return end;
	}
	if (!end)
		return n;
	end = skip_qualifiers(s, n, end);
	return name_at(s, n, end, "::") || name_at(s, n, end, "#") ? end : n;
}

static void add_frame(struct buf *out, const char *s, size_t n)
{
	int conversion = 0;
	for (size_t i = 0; i < n;) {
		size_t op = name_operator(s, n, i);
		if (op) { /* and the operator's argument list */
			add_clean_n(out, s + i, op);
			i += op;
			conversion = i < n && s[i] == ' ';
			if (i < n && s[i] == '(') {
				size_t end = name_group(s, n, i);
				end = end ? skip_qualifiers(s, n, end) : n;
				i = name_at(s, n, end, "::") ? end : n;
			}
			continue;
		}
		if (s[i] == '(') {
			i = parenthesis(out, s, n, i, conversion);
			continue;
		}
		size_t end = strchr("<[{", s[i]) && s[i] ? name_group(s, n, i) : 0;
		if (!end)
			end = i + 1;
		add_clean_n(out, s + i, end - i);
		i = end;
	}
}

/*
 * Append the pieces of `name` between arrows as frames. As Perl's split does, leading and
 * inner empty pieces count, trailing ones do not.
 */
static size_t frames(struct buf *out, const char *s, size_t n, unsigned flags, const char *mark)
{
	size_t count = 0, empty = 0;
	for (size_t from = 0, end; from < n; from = end + 2) {
		end = flags & TIDY_NOSPLIT ? n : next_arrow(s, n, from);
		empty++;
		if (end == from)
			continue;
		for (; empty; empty--) { /* the empty ones held back, then this one */
			if (count)
				buf_char(out, ';');
			size_t start = out->n;
			if (empty == 1)
				add_frame(out, s + from, end - from);
			finish(out, start, flags, count++, mark);
		}
	}
	return count;
}

size_t tidy_name(struct buf *out, const char *name, size_t n, unsigned flags, const char *mark)
{
	if (n && name[0] == '(') {
		size_t end = name_group(name, n, 0);
		if (!end || !name_at(name, n, end, "::"))
			return 0;
	}
	return frames(out, name, n, flags, mark);
}
