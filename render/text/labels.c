#include "render/text/labels.h"
#include "libtime/sched/timeline_spans.h"
#include "render/text/escape.h"
#include "render/text/units.h"

#include <string.h>

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

void counters_words(struct buf *b, const struct timeline *tl, uint32_t span)
{
	size_t first, n = timeline_counters_of(tl, span, &first);
	for (size_t i = first; i < first + n; i++) {
		const struct tl_counter *c = &tl->counters.v[i];
		buf_str(b, i > first ? ", " : "");
		put(b, tl, c->event);
		buf_str(b, c->error || c->flags & COUNTER_AT_LEAST ? " \xe2\x89\xa5 " : " ");
		buf_str(b, c->flags & COUNTER_SCALED ? "~" : "");
		const char *event = strtab_get(&tl->stacks->strings, c->event);
		if (counter_is_time(event))
			units_duration(b, c->value);
		else
			units_count(b, c->value);
		if (!strcmp(event, PROBE_COST))
			buf_str(b, " (measured, not in the length)");
	}
}

void counters_json(struct json *j, const struct timeline *tl, uint32_t span)
{
	size_t first, n = timeline_counters_of(tl, span, &first);
	json_open(j, "counters", '[');
	for (size_t i = first; i < first + n; i++) {
		const struct tl_counter *c = &tl->counters.v[i];
		json_open(j, NULL, '{');
		text(j, tl, "event", c->event);
		json_u64(j, "value", c->value);
		if (c->flags & COUNTER_AT_LEAST)
			json_null(j, "error");
		else
			json_u64(j, "error", c->error);
		json_bool(j, "scaled", c->flags & COUNTER_SCALED);
		json_close(j, '}');
	}
	json_close(j, ']');
}
