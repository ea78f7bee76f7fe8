/*
 * fuzz_tracepoint - event formats and the fields they describe.
 *
 * Input: one byte (bit 0: the file's byte order is the other one), two of length, that many
 * bytes of raw data; the rest is the tracing data of a recording (a blob in trace-cmd's form).
 */
#include "tests/fuzz/fuzz.h"

#include "base/mem.h"
#include "libparse/tracepoint.h"
#include "libtime/sched/prev_state.h"

#include <stdlib.h>
#include <string.h>

enum { EVENTS_MAX = 16, FIELDS_MAX = 64 };

struct raw {
	const uint8_t *p;
	uint32_t n;
	int swap;
};

static void read_field(const struct tracepoint *tp, const char *name, const struct raw *raw)
{
	struct tp_field f;
	if (!tracepoint_field(tp, name, &f))
		return;
	tp_int(&f, raw->p, raw->n, raw->swap);
	fuzz_text(tp_text(&f, raw->p, raw->n, raw->swap));
}

/* Every field by the last word of its declaration. */
static void read_fields(const struct tracepoint *tp, const struct raw *raw)
{
	const char *p = tp->format;
	for (int i = 0; i < FIELDS_MAX && (p = strstr(p, "field:")); i++) {
		char name[64];
		p += strlen("field:");
		size_t n = strcspn(p, ";[\n"), at = n;
		while (at && p[at - 1] != ' ' && p[at - 1] != '*')
			at--;
		if (n - at >= sizeof(name))
			continue;
		memcpy(name, p + at, n - at);
		name[n - at] = '\0';
		read_field(tp, name, raw);
	}
	read_field(tp, "prev_state", raw);
}

static void read_states(const struct tracepoint *tp)
{
	static const uint64_t values[] = {0, 1, 2, 3, 64, 0x81, 256, 0x402, UINT64_MAX};
	struct prevstate ps;
	struct err e = {0};
	char text[PREVSTATE_TEXT];
	int rc = prevstate_parse(&ps, tp->format, tp->format_size, &e);
	if (rc) {
		fuzz_failed(rc, &e);
		return;
	}
	for (size_t i = 0; i < sizeof(values) / sizeof(*values); i++) {
		fuzz_text(prevstate_text(&ps, values[i], text));
		prevstate_class(&ps, values[i]);
	}
}

static void read_event(struct tracepoints *t, uint64_t id, const struct raw *raw)
{
	struct event ev = {.attr.config = id, .is_tracepoint = 1};
	const struct tracepoint *tp = tracepoint_of(t, &ev);
	struct buf text = {0};
	if (!tp)
		return;
	fuzz_text(tp->name);
	fuzz_text(tp->system);
	read_fields(tp, raw);
	read_states(tp);
	tracepoint_text(t, tp, raw->p, raw->n, &text);
	fuzz_must(text.n <= 4096, "a tracepoint's text is cut");
	buf_release(&text);
}

int LLVMFuzzerTestOneInput(const uint8_t *p, size_t n)
{
	struct recording rec = {.name = "fuzz"};
	struct tracepoints *t;
	if (n < 3 || load_u16(p + 1, 0) > n - 3)
		return 0;
	struct raw raw = {.n = load_u16(p + 1, 0), .swap = p[0] & 1};
	const uint8_t *blob = p + 3 + raw.n, *at = blob, *end = p + n;
	raw.p = p + 3;
	rec.swap = raw.swap;
	rec.features.tracing_data = blob;
	rec.features.tracing_data_size = (uint64_t)(end - blob);
	if (tracepoints_new(&t, &rec, NULL))
		return 0;
	fuzz_text(tracepoints_damage(t));
	for (int i = 0; i < EVENTS_MAX && (at = memmem(at, (size_t)(end - at), "ID: ", 4));
	     i++) {
		char number[24] = {0};
		at += 4;
		memcpy(number, at, end - at < 20 ? (size_t)(end - at) : 20);
		read_event(t, strtoull(number, NULL, 10), &raw);
	}
	tracepoints_free(t);
	return 0;
}
