#include "render/text/labels.h"
#include "render/text/escape.h"

static void put(struct buf *b, const struct timeline *tl, uint32_t id)
{
	const struct strtab *s = &tl->stacks->strings;
	escape_visible(b, strtab_get(s, id), strtab_len(s, id));
}

void labels_words(struct buf *b, const struct timeline *tl, uint32_t span)
{
	size_t first, n = timeline_labels_of(tl, span, &first);
	uint32_t key = tl->spans.v[span].key_text;
	put(b, tl, key);
	if (!n)
		return;
	buf_str(b, key ? " (" : "");
	for (size_t i = first; i < first + n; i++) {
		buf_str(b, i > first ? ", " : "");
		put(b, tl, tl->labels.v[i].key);
		buf_char(b, '=');
		put(b, tl, tl->labels.v[i].value);
	}
	buf_str(b, key ? ")" : "");
}

static void text(struct json *j, const struct timeline *tl, const char *key, uint32_t id)
{
	const struct strtab *s = &tl->stacks->strings;
	json_text(j, key, strtab_get(s, id), strtab_len(s, id));
}

void labels_json(struct json *j, const struct timeline *tl, uint32_t span)
{
	size_t first, n = timeline_labels_of(tl, span, &first);
	json_open(j, "labels", '[');
	for (size_t i = first; i < first + n; i++) {
		json_open(j, NULL, '{');
		text(j, tl, "key", tl->labels.v[i].key);
		text(j, tl, "value", tl->labels.v[i].value);
		json_close(j, '}');
	}
	json_close(j, ']');
}
