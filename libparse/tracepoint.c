#include "libparse/tracepoint.h"
#include "base/mem.h"

#include <event-parse.h>
#include <string.h>
#include <trace-seq.h>

enum {
	MAX_FORMATS = 1 << 16,
	MAX_FORMAT = 1 << 20,
	MAX_TEXT = 4096,
};

struct tracepoints {
	const struct recording *rec;
	struct tep_handle *tep;
	struct arena text;
	VEC(struct tracepoint) v;
	struct u64map by_id;
	char damage[160];
};

/* --- the blob ------------------------------------------------------------------------------
 */

/* The text up to a NUL, which is taken too; NULL past the end. */
static const char *take_string(struct bytes *b)
{
	const uint8_t *nul = memchr(b->p, 0, bytes_left(b));
	return nul ? bytes_take(b, (size_t)(nul + 1 - b->p)) : (b->bad = 1, NULL);
}

static const void *take_sized(struct bytes *b, uint64_t *size)
{
	*size = bytes_u64(b);
	return bytes_ok(b) && *size <= bytes_left(b) ? bytes_take(b, (size_t)*size)
						     : (b->bad = 1, NULL);
}

/* Only what the parser can digest: one text without NUL of a sane size. */
static int sane_format(const char *text, uint64_t size)
{
	return size && size <= MAX_FORMAT && !memchr(text, 0, (size_t)size);
}

static int add_format(struct tracepoints *t, const char *system, const char *text,
		      uint64_t size)
{
	struct tracepoint tp = {.format_size = (size_t)size};
	if (!sane_format(text, size) || t->v.n >= MAX_FORMATS)
		return 0;
	/* libtraceevent reads a NUL behind the text */
	char *copy = arena_strndup(&t->text, text, (size_t)size);
	if (!copy)
		return ERR_NOMEM;
	if (tep_parse_format(t->tep, &tp.tep, copy, (unsigned long)size, system) || !tp.tep)
		return 0; /* one odd format is no reason to lose the others */
	tp.system = tp.tep->system;
	tp.name = tp.tep->name;
	tp.id = (uint64_t)tp.tep->id;
	tp.format = copy;
	if (u64map_put(&t->by_id, tp.id, (uint32_t)t->v.n))
		return ERR_NOMEM;
	return vec_push(&t->v, tp);
}

static int read_systems(struct tracepoints *t, struct bytes *b)
{
	uint32_t systems = bytes_u32(b);
	for (uint32_t i = 0; i < systems && bytes_ok(b); i++) {
		const char *system = take_string(b);
		uint32_t events = bytes_u32(b);
		for (uint32_t k = 0; k < events && bytes_ok(b); k++) {
			uint64_t size;
			const char *text = take_sized(b, &size);
			int r = text ? add_format(t, system, text, size) : 0;
			if (r)
				return r;
		}
	}
	return 0;
}

static int read_blob(struct tracepoints *t)
{
	static const char magic[] = "\x17\x08\x44tracing";
	const struct features *f = &t->rec->features;
	struct bytes b =
		bytes_init(f->tracing_data, (size_t)f->tracing_data_size, t->rec->swap);
	uint64_t size;
	const void *head = bytes_take(&b, sizeof(magic) - 1);
	if (!head || memcmp(head, magic, sizeof(magic) - 1)) {
		snprintf(t->damage, sizeof(t->damage),
			 "tracing data: not in trace-cmd's format");
		return 0;
	}
	take_string(&b); /* version */
	b.swap = (bytes_u8(&b) != 0) != (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__);
	tep_set_file_bigendian(t->tep, b.swap ? !tep_is_bigendian() : tep_is_bigendian());
	tep_set_local_bigendian(t->tep, tep_is_bigendian());
	tep_set_long_size(t->tep, bytes_u8(&b));
	bytes_u32(&b);                /* page size */
	for (int i = 0; i < 2; i++) { /* header_page, header_event: of ring buffers, not ours */
		take_string(&b);
		take_sized(&b, &size);
	}
	uint32_t ftrace = bytes_u32(&b);
	for (uint32_t i = 0; i < ftrace && bytes_ok(&b); i++)
		take_sized(&b, &size);
	int r = read_systems(t, &b);
	if (!bytes_ok(&b))
		snprintf(t->damage, sizeof(t->damage),
			 "tracing data: ends inside its event formats");
	return r;
}

int tracepoints_new(struct tracepoints **out, const struct recording *rec, struct err *e)
{
	struct tracepoints *t = mem_zalloc(1, sizeof(*t));
	*out = NULL;
	if (!t)
		return err_nomem(e);
	t->rec = rec;
	t->tep = tep_alloc();
	int r = t->tep ? 0 : ERR_NOMEM;
	if (!r && rec->features.tracing_data_size) {
		tep_set_loglevel(TEP_LOG_NONE);
		r = read_blob(t);
	}
	if (r) {
		tracepoints_free(t);
		return err_nomem(e);
	}
	*out = t;
	return 0;
}

void tracepoints_free(struct tracepoints *t)
{
	if (!t)
		return;
	tep_free(t->tep);
	arena_release(&t->text);
	vec_release(&t->v);
	u64map_release(&t->by_id);
	mem_free(t);
}

const char *tracepoints_damage(const struct tracepoints *t)
{
	return t->damage;
}

const struct tracepoint *tracepoint_of(const struct tracepoints *t, const struct event *ev)
{
	uint32_t i;
	if (!ev->is_tracepoint || !u64map_get(&t->by_id, ev->attr.config, &i))
		return NULL;
	return &t->v.v[i];
}

/* --- fields --------------------------------------------------------------------------------
 */

int tracepoint_field(const struct tracepoint *tp, const char *name, struct tp_field *f)
{
	const struct tep_format_field *x = tep_find_any_field(tp->tep, name);
	*f = (struct tp_field){0};
	if (!x || x->offset < 0 || x->size <= 0)
		return 0;
	f->offset = (uint32_t)x->offset;
	f->size = (uint32_t)x->size;
	f->is_signed = (x->flags & TEP_FIELD_IS_SIGNED) != 0;
	f->is_string = (x->flags & TEP_FIELD_IS_STRING) != 0;
	f->is_dynamic = (x->flags & TEP_FIELD_IS_DYNAMIC) != 0;
	return 1;
}

int64_t tp_int(const struct tp_field *f, const uint8_t *raw, uint32_t raw_size, int swap)
{
	if (!f->size || f->offset > raw_size || f->size > raw_size - f->offset)
		return 0;
	const uint8_t *p = raw + f->offset;
	switch (f->size) {
	case 1:
		return f->is_signed ? (int8_t)*p : *p;
	case 2: {
		uint16_t x = load_u16(p, swap);
		return f->is_signed ? (int16_t)x : x;
	}
	case 4: {
		uint32_t x = load_u32(p, swap);
		return f->is_signed ? (int64_t)(int32_t)x : (int64_t)x;
	}
	case 8:
		return (int64_t)load_u64(p, swap);
	default:
		return 0;
	}
}

const char *tp_text(const struct tp_field *f, const uint8_t *raw, uint32_t raw_size, int swap)
{
	uint32_t at = f->offset, size = f->size;
	if (!size || at > raw_size || size > raw_size - at)
		return "";
	if (f->is_dynamic) {
		uint32_t where = size >= 4 ? load_u32(raw + at, swap) : 0;
		at = where & 0xffff;
		size = where >> 16;
		if (!size || at > raw_size || size > raw_size - at)
			return "";
	}
	return memchr(raw + at, 0, size) ? (const char *)raw + at : "";
}

void tracepoint_text(struct tracepoints *t, const struct tracepoint *tp, const uint8_t *raw,
		     uint32_t raw_size, struct buf *out)
{
	struct trace_seq s;
	/* libtraceevent trusts offsets up to record.size, and the format's fixed part to be
	 * there */
	for (struct tep_format_field *f = tp->tep->format.fields; f; f = f->next)
		if (f->offset < 0 || f->size < 0 || (uint32_t)f->offset > raw_size ||
		    (uint32_t)f->size > raw_size - (uint32_t)f->offset)
			return;
	struct tep_record record = {.data = (void *)(uintptr_t)raw, .size = (int)raw_size};
	trace_seq_init(&s);
	tep_print_event(t->tep, &s, &record, "%s", TEP_PRINT_INFO);
	if (s.state == TRACE_SEQ__GOOD)
		buf_add(out, s.buffer, s.len < MAX_TEXT ? s.len : MAX_TEXT);
	trace_seq_destroy(&s);
}
