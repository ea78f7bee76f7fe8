#include "libparse/more_events.h"
#include "base/mem.h"
#include "base/text/buf.h"
#include "libparse/recording.h"

#include <string.h>

/* Offsets in the file's header, in struct perf_event_attr, and sizes of what perf writes. */
enum { HEAD = 104, HEAD_ATTR_SIZE = 16, HEAD_ATTRS = 24, HEAD_DATA = 40, HEAD_FEATURES = 72 };
enum {
	ATTR_CONFIG = 8,
	ATTR_PERIOD = 16,
	ATTR_SAMPLE_TYPE = 24,
	ATTR_FLAGS = 40,
	ATTR_REGS = 80,
	ATTR_STACK = 88,
	ATTR_STACK_END = 96,
	SECTION = 16,
	NAME_ALIGN = 64
};

/* Samples of the new events are told apart by ids that no perf hands out. */
static const uint64_t FIRST_ID = (uint64_t)1 << 62;

/* A record of perf's. */
struct placed {
	const uint8_t *p;
	uint64_t time; /* 0: not known */
	uint32_t size, cpu;
};

struct rewrite {
	FILE *out;
	struct recording *rec;
	const uint8_t *file; /* the old one */
	size_t size;
	const struct more_events *m;
	const uint8_t *like; /* attr of an event that is a tracepoint */
	uint64_t attr_size, data, data_size;
	size_t ids;               /* of each event: one for each CPU */
	uint64_t first, last;     /* times of samples that are taken */
	VEC(struct placed) round; /* perf's records since its last FINISHED_ROUND */
	struct buf b;
};

static uint64_t u64_at(const uint8_t *p)
{
	return load_u64(p, 0);
}

static void put_u64(struct buf *b, uint64_t x)
{
	buf_add(b, &x, sizeof(x));
}

static void put_u32(struct buf *b, uint32_t x)
{
	buf_add(b, &x, sizeof(x));
}

static void set_u64(struct buf *b, size_t at, uint64_t x)
{
	if (!buf_failed(b))
		memcpy(b->v + at, &x, sizeof(x));
}

/* A text as perf writes it: its length, and zeroes up to it. */
static void put_text(struct buf *b, const char *text)
{
	static const char zeroes[NAME_ALIGN];
	size_t n = strlen(text) + 1, all = (n + NAME_ALIGN - 1) / NAME_ALIGN * NAME_ALIGN;
	put_u32(b, (uint32_t)all);
	buf_add(b, text, n);
	buf_add(b, zeroes, all - n);
}

/* --- the head ---------------------------------------------------------------------------- */

static uint64_t sample_type(const struct rewrite *w, const struct more_event *ev)
{
	uint64_t bits = u64_at(w->like + ATTR_SAMPLE_TYPE);
	const uint64_t stacks =
		PERF_SAMPLE_CALLCHAIN | PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER;
	return (bits & ~stacks) | PERF_SAMPLE_RAW | (ev->stacks ? stacks : 0);
}

static void put_attr(struct buf *b, const struct rewrite *w, const struct more_event *ev)
{
	size_t at = b->n;
	buf_add(b, w->like, w->attr_size - SECTION);
	set_u64(b, at + ATTR_CONFIG, ev->id);
	set_u64(b, at + ATTR_PERIOD, 1);
	set_u64(b, at + ATTR_SAMPLE_TYPE, sample_type(w, ev));
	uint64_t flags = u64_at(w->like + ATTR_FLAGS) & ~((uint64_t)1 << ATTR_FREQ);
	if (ev->stacks)
		flags |= (uint64_t)1 << ATTR_EXCLUDE_CALLCHAIN_USER;
	set_u64(b, at + ATTR_FLAGS, flags);
	set_u64(b, at + ATTR_REGS, ev->stacks ? w->m->regs_mask : 0);
	uint32_t stack = ev->stacks ? w->m->copy_bytes : 0;
	if (!buf_failed(b))
		memcpy(b->v + at + ATTR_STACK, &stack, sizeof(stack));
}

/* Header, attrs, and the new events' ids. */
static void put_head(struct buf *b, const struct rewrite *w, uint64_t data_size)
{
	const uint8_t *head = w->file;
	uint64_t attrs = u64_at(head + HEAD_ATTRS), size = u64_at(head + HEAD_ATTRS + 8);
	buf_add(b, head, w->data); /* with ids where they are, and the old attrs */
	uint64_t ids = b->n;
	for (size_t i = 0; i < w->m->nevents * w->ids; i++)
		put_u64(b, FIRST_ID + i);
	set_u64(b, HEAD_ATTRS, b->n);
	set_u64(b, HEAD_ATTRS + 8, size + w->m->nevents * w->attr_size);
	buf_add(b, head + attrs, size);
	for (size_t i = 0; i < w->m->nevents; i++) {
		put_attr(b, w, &w->m->events[i]);
		put_u64(b, ids + i * w->ids * 8);
		put_u64(b, w->ids * 8);
	}
	set_u64(b, HEAD_DATA, b->n);
	set_u64(b, HEAD_DATA + 8, data_size);
}

/* --- features ---------------------------------------------------------------------------- */

/* Events with their ids and names. */
static void put_event_desc(struct buf *b, const struct rewrite *w, const uint8_t *p, uint64_t n)
{
	if (n < 8)
		return;
	put_u32(b, load_u32(p, 0) + (uint32_t)w->m->nevents);
	buf_add(b, p + 4, n - 4);
	for (size_t i = 0; i < w->m->nevents; i++) {
		put_attr(b, w, &w->m->events[i]);
		put_u32(b, (uint32_t)w->ids);
		put_text(b, w->m->events[i].name);
		for (size_t id = 0; id < w->ids; id++)
			put_u64(b, FIRST_ID + i * w->ids + id);
	}
}

static void put_cmdline(struct buf *b, const struct rewrite *w)
{
	put_u32(b, (uint32_t)w->m->nargv);
	for (size_t i = 0; i < w->m->nargv; i++)
		put_text(b, w->m->argv[i]);
}

/* Skip n entries of a 64-bit size and so many bytes. */
static void skip_sized(struct bytes *b, uint32_t n)
{
	for (uint32_t i = 0; i < n && bytes_ok(b); i++)
		bytes_skip(b, (size_t)bytes_u64(b));
}

static void skip_name(struct bytes *b)
{
	while (bytes_ok(b) && bytes_u8(b))
		;
}

/* Behind the formats of the systems that are there; *count is where their number stands. */
static void skip_systems(struct bytes *b, const uint8_t **count)
{
	enum { MAGIC = 10, ORDER_LONG_PAGE = 6 };
	bytes_skip(b, MAGIC);
	skip_name(b); /* the version */
	bytes_skip(b, ORDER_LONG_PAGE);
	for (int i = 0; i < 2; i++) { /* header_page, header_event */
		skip_name(b);
		skip_sized(b, 1);
	}
	skip_sized(b, bytes_u32(b)); /* ftrace's own events */
	*count = b->p;
	for (uint32_t n = bytes_u32(b); n && bytes_ok(b); n--) {
		skip_name(b);
		skip_sized(b, bytes_u32(b));
	}
}

/* Each new tracepoint's format, as a system of one event: a system may be there twice. */
static void put_formats(struct buf *b, const struct rewrite *w, const uint8_t *p, uint64_t n)
{
	struct bytes all = bytes_init(p, n, 0);
	const uint8_t *count;
	skip_systems(&all, &count);
	if (!bytes_ok(&all)) {
		buf_add(b, p, n);
		return;
	}
	buf_add(b, p, (size_t)(count - p));
	put_u32(b, load_u32(count, 0) + (uint32_t)w->m->nevents);
	buf_add(b, count + 4, (size_t)(all.p - count) - 4);
	for (size_t i = 0; i < w->m->nevents; i++) {
		const struct more_event *ev = &w->m->events[i];
		size_t system = strcspn(ev->name, ":"), length = strlen(ev->format);
		buf_add(b, ev->name, system);
		buf_char(b, '\0');
		put_u32(b, 1);
		put_u64(b, length);
		buf_add(b, ev->format, length);
	}
	buf_add(b, all.p, bytes_left(&all));
}

static void put_feature(struct buf *b, const struct rewrite *w, unsigned int bit,
			const uint8_t *p, uint64_t n)
{
	if (bit == HEADER_EVENT_DESC)
		put_event_desc(b, w, p, n);
	else if (bit == HEADER_CMDLINE && w->m->argv)
		put_cmdline(b, w);
	else if (bit == HEADER_TRACING_DATA)
		put_formats(b, w, p, n);
	else
		buf_add(b, p, n);
}

/* The table of sections and the sections, behind the data that ends at `end` of the new file. */
static int put_features(struct rewrite *w, uint64_t end, struct err *e)
{
	const uint8_t *bits = w->file + HEAD_FEATURES,
		      *table = w->file + w->data + w->data_size;
	unsigned int n = 0, i = 0;
	struct buf *b = &w->b;
	for (unsigned int bit = 0; bit < HEADER_FEAT_BITS; bit++)
		n += bits[bit / 8] >> bit % 8 & 1;
	buf_clear(b);
	for (unsigned int k = 0; k < n * SECTION / 8; k++)
		put_u64(b, 0);
	for (unsigned int bit = 0; bit < HEADER_FEAT_BITS; bit++) {
		if (!(bits[bit / 8] >> bit % 8 & 1))
			continue;
		uint64_t from = u64_at(table + (size_t)i * SECTION),
			 size = u64_at(table + (size_t)i * SECTION + 8);
		if (from > w->size || size > w->size - from)
			return err_set(e, ERR_FORMAT, "%s: feature section %u lies outside",
				       w->rec->name, bit);
		size_t at = b->n;
		put_feature(b, w, bit, w->file + from, size);
		set_u64(b, (size_t)i * SECTION, end + at);
		set_u64(b, (size_t)i * SECTION + 8, b->n - at);
		i++;
	}
	if (buf_failed(b))
		return err_nomem(e);
	fwrite(b->v, 1, b->n, w->out);
	return 0;
}

/* --- data -------------------------------------------------------------------------------- */

static void put_stack(struct buf *b, const struct rewrite *w, const struct more_sample *s)
{
	const uint64_t abi64 = 2; /* PERF_SAMPLE_REGS_ABI_64 */
	put_u64(b, s->regs ? abi64 : 0);
	if (s->regs)
		buf_add(b, s->regs, (size_t)__builtin_popcountll(w->m->regs_mask) * 8);
	put_u64(b, s->copy ? w->m->copy_bytes : 0);
	if (!s->copy)
		return;
	buf_add(b, s->copy, w->m->copy_bytes);
	put_u64(b, s->copied);
}

/* struct perf_event_header. */
static void set_header(struct buf *b, uint16_t misc, uint32_t type)
{
	set_u64(b, 0, (uint64_t)b->n << 48 | (uint64_t)misc << 32 | type);
}

/* PERF_RECORD_LOST, and its end as perf_event__output_id_sample() writes it. */
static void make_lost(struct rewrite *w, const struct more_sample *s, uint64_t id)
{
	struct buf *b = &w->b;
	uint64_t bits = sample_type(w, &w->m->events[s->event]);
	const struct {
		uint64_t bit, value;
	} end[] = {
		{PERF_SAMPLE_TID, (uint64_t)s->tid << 32 | s->pid},
		{PERF_SAMPLE_TIME, s->time},
		{PERF_SAMPLE_ID, id},
		{PERF_SAMPLE_STREAM_ID, id},
		{PERF_SAMPLE_CPU, s->cpu},
		{PERF_SAMPLE_IDENTIFIER, id},
	};
	put_u64(b, 0);
	put_u64(b, id);
	put_u64(b, s->lost);
	for (size_t i = 0; i < sizeof(end) / sizeof(*end); i++)
		if (bits & end[i].bit)
			put_u64(b, end[i].value);
	set_header(b, 0, PERF_RECORD_LOST);
}

/* In the order of perf_output_sample() in kernel/events/core.c. */
static void make_sample(struct rewrite *w, const struct more_sample *s)
{
	struct buf *b = &w->b;
	const struct more_event *ev = &w->m->events[s->event];
	uint64_t bits = sample_type(w, ev), id = FIRST_ID + s->event * w->ids + s->cpu % w->ids;
	const struct {
		uint64_t bit, value;
	} fixed[] = {
		{PERF_SAMPLE_IDENTIFIER, id},
		{PERF_SAMPLE_IP, 0},
		{PERF_SAMPLE_TID, (uint64_t)s->tid << 32 | s->pid},
		{PERF_SAMPLE_TIME, s->time},
		{PERF_SAMPLE_ADDR, 0},
		{PERF_SAMPLE_ID, id},
		{PERF_SAMPLE_STREAM_ID, id},
		{PERF_SAMPLE_CPU, s->cpu},
		{PERF_SAMPLE_PERIOD, 1},
	};
	buf_clear(b);
	if (s->lost) {
		make_lost(w, s, id);
		return;
	}
	put_u64(b, 0);
	for (size_t i = 0; i < sizeof(fixed) / sizeof(*fixed); i++)
		if (bits & fixed[i].bit)
			put_u64(b, fixed[i].value);
	if (bits & PERF_SAMPLE_CALLCHAIN) {
		put_u64(b, s->nchain);
		buf_add(b, s->chain, (size_t)s->nchain * 8);
	}
	/* its size, and zeroes up to a multiple of 8 */
	uint32_t nraw = (s->nraw + 4 + 7) / 8 * 8 - 4;
	static const char zeroes[8];
	put_u32(b, nraw);
	buf_add(b, s->raw, s->nraw);
	buf_add(b, zeroes, nraw - s->nraw);
	if (bits & PERF_SAMPLE_REGS_USER)
		put_stack(b, w, s);
	set_header(b, 1 /* PERF_RECORD_MISC_KERNEL */, PERF_RECORD_SAMPLE);
}

/* The next sample of a CPU that is taken, in w->b; 0: there is none until then. */
static int next_sample(struct rewrite *w, uint32_t cpu, uint64_t until)
{
	struct more_sample s;
	do
		if (!w->m->next(w->m->ctx, cpu, until, &s))
			return 0;
	while (s.time < w->first || s.time > w->last);
	make_sample(w, &s);
	return 1;
}

/* Bytes of all new samples. */
static uint64_t samples_size(struct rewrite *w)
{
	uint64_t n = 0;
	for (uint32_t cpu = 0; cpu < w->m->ncpus; cpu++)
		while (next_sample(w, cpu, UINT64_MAX))
			n += w->b.n;
	return n;
}

/* Time and CPU of a record, time 0: it does not say. Those that perf itself adds have none. */
static struct placed place_of(const struct rewrite *w, const struct record *r)
{
	struct placed x = {.p = r->p, .size = r->size};
	struct record_id id;
	if (r->type >= PERF_RECORD_HEADER_ATTR)
		return x;
	recording_id(w->rec, r, &id);
	x.time = id.has_time && id.cpu < w->m->ncpus ? id.time : 0;
	x.cpu = id.cpu;
	return x;
}

static int find_bounds(struct rewrite *w, struct err *e)
{
	struct record r;
	int got = 0;
	w->first = w->m->within ? UINT64_MAX : 0;
	w->last = w->m->within ? 0 : UINT64_MAX;
	while (w->m->within && (got = recording_next(w->rec, &r, e)) == 1) {
		uint64_t time = place_of(w, &r).time;
		if (!time)
			continue;
		w->first = time < w->first ? time : w->first;
		w->last = time > w->last ? time : w->last;
	}
	return got < 0 ? got : recording_rewind(w->rec, e);
}

static void put_until(struct rewrite *w, uint32_t cpu, uint64_t time)
{
	while (next_sample(w, cpu, time))
		if (!buf_failed(&w->b))
			fwrite(w->b.v, 1, w->b.n, w->out);
}

/* perf's records and the samples between them, of one CPU after the other, as perf reads its ring
 * buffers. */
static void put_round(struct rewrite *w, uint64_t until)
{
	for (size_t i = 0; i < w->round.n; i++)
		if (!w->round.v[i].time)
			fwrite(w->round.v[i].p, 1, w->round.v[i].size, w->out);
	for (uint32_t cpu = 0; cpu < w->m->ncpus; cpu++) {
		for (size_t i = 0; i < w->round.n; i++) {
			const struct placed *x = &w->round.v[i];
			if (!x->time || x->cpu != cpu)
				continue;
			put_until(w, cpu, x->time);
			fwrite(x->p, 1, x->size, w->out);
		}
		put_until(w, cpu, until);
	}
	w->round.n = 0;
}

/* A FINISHED_ROUND promises that what follows is not older than what preceded the one before. */
static int put_data(struct rewrite *w, struct err *e)
{
	struct record r;
	uint64_t newest = 0, before = 0;
	int got = 0, rc = 0;
	while (!rc && (got = recording_next(w->rec, &r, e)) == 1) {
		struct placed x = place_of(w, &r);
		newest = x.time > newest ? x.time : newest;
		if (r.type == PERF_RECORD_FINISHED_ROUND) {
			put_round(w, before);
			fwrite(r.p, 1, r.size, w->out);
			before = newest;
		} else {
			rc = vec_push(&w->round, x);
		}
	}
	put_round(w, UINT64_MAX);
	return rc || buf_failed(&w->b) ? err_nomem(e) : got < 0 ? got : 0;
}

/* --- all of it ---------------------------------------------------------------------------- */

static int look(struct rewrite *w, struct err *e)
{
	struct recording *rec = w->rec;
	w->file = recording_file(rec, &w->size);
	if (!w->file || !recording_is_plain(rec) || !recording_is_mapped(rec) || rec->swap ||
	    w->size < HEAD || rec->cut_off)
		return err_set(e, ERR_UNSUPPORTED, "%s: not a whole file of this machine",
			       rec->name);
	w->attr_size = u64_at(w->file + HEAD_ATTR_SIZE);
	w->data = u64_at(w->file + HEAD_DATA);
	w->data_size = u64_at(w->file + HEAD_DATA + 8);
	const uint8_t *attrs = w->file + u64_at(w->file + HEAD_ATTRS);
	for (size_t i = 0; i < rec->events.n && !w->like; i++) {
		if (!rec->events.v[i].is_tracepoint)
			continue;
		w->like = attrs + i * w->attr_size;
		w->ids = rec->events.v[i].ids.n;
	}
	if (!w->like || !w->ids || w->attr_size < ATTR_STACK_END + SECTION ||
	    !(u64_at(w->like + ATTR_SAMPLE_TYPE) & PERF_SAMPLE_IDENTIFIER))
		return err_set(e, ERR_UNSUPPORTED, "%s: has no tracepoint, or no ids",
			       rec->name);
	return 0;
}

int more_events_write(FILE *out, const char *recording, const struct more_events *m,
		      struct err *e)
{
	struct rewrite w = {.out = out, .m = m};
	struct buf head = {0};
	uint64_t size = 0;
	int rc = recording_open(&w.rec, recording, e);
	rc = rc ? rc : look(&w, e);
	rc = rc ? rc : find_bounds(&w, e);
	if (!rc) {
		size = w.data_size + samples_size(&w);
		put_head(&head, &w, size);
		rc = buf_failed(&head) ? err_nomem(e) : 0;
	}
	if (!rc) {
		fwrite(head.v, 1, head.n, out);
		rc = put_data(&w, e);
	}
	if (!rc)
		rc = put_features(&w, head.n + size, e);
	buf_release(&head);
	buf_release(&w.b);
	vec_release(&w.round);
	recording_close(w.rec);
	return rc;
}
