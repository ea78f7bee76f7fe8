#include "libtime/side/side.h"
#include "base/check.h"

#include <string.h>

const char *side_clock_name(enum side_clock clock)
{
	static const char *const names[] = {"unknown clock",
					    "CLOCK_MONOTONIC",
					    "CLOCK_MONOTONIC_RAW",
					    "CLOCK_REALTIME",
					    "TSC",
					    "the recording's own clock"};
	ENTRIES(names, SIDE_CLOCK_SAME + 1);
	return names[clock];
}

enum side_clock side_clock_of(const char *word, size_t n)
{
	static const char *const words[] = {"", "mono", "raw", "real", "tsc"};
	ENTRIES(words, SIDE_CLOCK_SAME);
	for (int i = 1; i < 5; i++)
		if (strlen(words[i]) == n && !memcmp(words[i], word, n))
			return (enum side_clock)i;
	return SIDE_CLOCK_UNKNOWN;
}

void side_release(struct side *s)
{
	vec_release(&s->spans);
	vec_release(&s->links);
	vec_release(&s->labels);
	vec_release(&s->trampolines);
	vec_release(&s->bindings);
	vec_release(&s->maps);
	vec_release(&s->gaps);
	vec_release(&s->spinners);
	vec_release(&s->anchors);
}

const char *side_bad_unit(const struct side_bad *bad)
{
	return bad->records ? "record" : "line";
}

void side_bad_row(struct side *s, uint64_t line, const char *why)
{
	if (s->bad.n < SIDE_BAD_SHOWN) {
		s->bad.first[s->bad.n].line = line;
		s->bad.first[s->bad.n].why = why;
	}
	s->bad.n++;
}

int side_intern(struct side *s, const char *text, size_t n, uint32_t *id)
{
	const char *nul = n ? memchr(text, '\0', n) : NULL;
	*id = 0;
	if (!n) /* then text may be NULL */
		return 0;
	return strtab_intern_n(s->strings, text, nul ? (size_t)(nul - text) : n, id);
}

/* Labels from this one on belong to no span yet. */
static size_t labels_taken(const struct side *s)
{
	const struct side_span *last = s->spans.n ? &s->spans.v[s->spans.n - 1] : NULL;
	return last ? (size_t)last->label + last->nlabels : 0;
}

int side_add_label(struct side *s, uint32_t key, const char *value, size_t n)
{
	struct side_label l = {.key = key};
	return side_intern(s, value, n, &l.value) || vec_push(&s->labels, l) ? ERR_NOMEM : 0;
}

int side_add_span(struct side *s, struct side_span *span)
{
	size_t from = labels_taken(s);
	if (s->spans.n >= UINT32_MAX - 1 || s->labels.n >= UINT32_MAX - 1)
		return ERR_LIMIT;
	span->label = (uint32_t)from;
	span->nlabels = (uint32_t)(s->labels.n - from);
	return vec_push(&s->spans, *span);
}

void side_drop_labels(struct side *s)
{
	s->labels.n = labels_taken(s);
}

int side_set_link(struct side *s, struct side_span *span, const struct side_link *link)
{
	if (vec_push(&s->links, *link))
		return ERR_NOMEM;
	span->link = (uint32_t)s->links.n;
	return 0;
}

const struct side_link *side_link_of(const struct side *s, const struct side_span *span)
{
	static const struct side_link none;
	return span->link ? &s->links.v[span->link - 1] : &none;
}
