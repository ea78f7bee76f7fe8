#include "libparse/tracepoint.h"
#include "base/mem.h"
#include "libparse/print_fmt.h"

#include <event-parse.h>
#include <stdlib.h>
#include <string.h>
#include <trace-seq.h>

enum {
	MAX_FORMATS = 1 << 16,
	MAX_FORMAT = 1 << 17, /* bytes; the kernel's longest has a few thousand */
	MAX_TEXT = 4096,
	MAX_FIELDS = 256, /* read per format; the kernel's have a few dozen */
	MAX_PLAIN_FIELDS = 64,
};

/* Whether libtraceevent can read a format. */
enum tried { NOT_YET, CAN, CANNOT };

struct tracepoints {
	const struct recording *rec;
	struct tep_handle *tep; /* made when the first text is needed */
	struct arena text;
	VEC(struct tracepoint) v;
	VEC(uint8_t) tried; /* by index of v: enum tried */
	struct u64map by_id;
	int swap, long_size;
	char damage[160];
};

/* --- the blob ------------------------------------------------------------------------- */

static const void *parse_sized(struct bytes *b, uint64_t *size)
{
	*size = bytes_u64(b);
	return bytes_ok(b) && *size <= bytes_left(b) ? bytes_take(b, (size_t)*size)
						     : (b->bad = 1, NULL);
}

/* The value of a line "KEY: value" of a format: its start and length; NULL if not there. */
static const char *line_value(const char *text, const char *key, size_t *len)
{
	size_t n = strlen(key);
	for (const char *p = text; p; p = strchr(p, '\n') ? strchr(p, '\n') + 1 : NULL) {
		if (strncmp(p, key, n))
			continue;
		p += n + strspn(p + n, " ");
		*len = strcspn(p, "\n");
		return p;
	}
	return NULL;
}

static int add_format(struct tracepoints *t, const char *system, const char *text,
		      uint64_t size)
{
	struct tracepoint tp = {.system = system, .format_size = (size_t)size};
	size_t n;
	if (!size || size > MAX_FORMAT || memchr(text, 0, (size_t)size) ||
	    t->v.n >= MAX_FORMATS)
		return 0; /* one bad format must not lose the others */
	char *copy = arena_strndup(&t->text, text, (size_t)size);
	if (!copy)
		return ERR_NOMEM;
	tp.format = copy;
	const char *name = line_value(copy, "name:", &n);
	if (!name)
		return 0;
	tp.name = arena_strndup(&t->text, name, n);
	const char *id = line_value(copy, "ID:", &n);
	if (!tp.name || !id)
		return tp.name ? 0 : ERR_NOMEM;
	tp.id = strtoull(id, NULL, 10);
	if (u64map_put(&t->by_id, tp.id, (uint32_t)t->v.n))
		return ERR_NOMEM;
	return vec_push(&t->tried, (uint8_t)NOT_YET) || vec_push(&t->v, tp) ? ERR_NOMEM : 0;
}

static int read_systems(struct tracepoints *t, struct bytes *b)
{
	uint32_t systems = bytes_u32(b);
	for (uint32_t i = 0; i < systems && bytes_ok(b); i++) {
		const char *system = bytes_string(b);
		uint32_t events = bytes_u32(b);
		for (uint32_t k = 0; k < events && bytes_ok(b); k++) {
			uint64_t size;
			const char *text = parse_sized(b, &size);
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
	bytes_string(&b); /* version */
	b.swap = (bytes_u8(&b) != 0) != (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__);
	t->swap = b.swap;
	t->long_size = bytes_u8(&b);
	bytes_u32(&b); /* page size */
	for (int i = 0; i < 2;
	     i++) { /* header_page, header_event: of ring buffers, not needed */
		bytes_string(&b);
		parse_sized(&b, &size);
	}
	uint32_t ftrace = bytes_u32(&b);
	for (uint32_t i = 0; i < ftrace && bytes_ok(&b); i++)
		parse_sized(&b, &size);
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
	if (rec->features.tracing_data_size && read_blob(t)) {
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
	if (t->tep)
		tep_free(t->tep);
	arena_release(&t->text);
	vec_release(&t->v);
	vec_release(&t->tried);
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

/* --- fields --------------------------------------------------------------------------- */

/* The end of the name in a declaration: the bracket of "char prev_comm[16]", the end of
 * "__data_loc char[] name". */
static size_t name_end(const char *decl, size_t n)
{
	const char *bracket = n && decl[n - 1] == ']' ? memrchr(decl, '[', n) : NULL;
	return bracket ? (size_t)(bracket - decl) : n;
}

static int declares(const char *decl, size_t n, const char *name)
{
	size_t want = strlen(name);
	n = name_end(decl, n);
	return n > want && !memcmp(decl + n - want, name, want) &&
	       strchr(" *\t]", decl[n - want - 1]);
}

/* The number after "KEY:" in the rest of a field's line. */
static uint32_t attribute(const char *line, size_t n, const char *key)
{
	const char *at = memmem(line, n, key, strlen(key));
	return at ? (uint32_t)strtoul(at + strlen(key), NULL, 10) : 0;
}

/* After "\tfield:": "char prev_comm[16];\toffset:8;\tsize:16;\tsigned:0;"; n bytes up to the
 * first semicolon. */
static void parse_field(const char *decl, size_t n, struct tp_field *f)
{
	size_t line = strcspn(decl, "\n");
	f->offset = attribute(decl + n, line - n, "offset:");
	f->size = attribute(decl + n, line - n, "size:");
	f->is_signed = attribute(decl + n, line - n, "signed:") != 0;
	f->is_relative = !strncmp(decl, "__rel_loc", 9);
	f->is_dynamic = f->is_relative || !strncmp(decl, "__data_loc", 10);
	f->is_string = memmem(decl, n, "char", 4) && memchr(decl, '[', n);
}

int tracepoint_field(const struct tracepoint *tp, const char *name, struct tp_field *f)
{
	static const char mark[] = "\tfield:";
	const char *p = tp->format;
	*f = (struct tp_field){0};
	for (int i = 0; i < MAX_FIELDS && (p = strstr(p, mark)); i++, p++) {
		const char *decl = p + sizeof(mark) - 1;
		size_t n = strcspn(decl, ";\n");
		if (!declares(decl, n, name))
			continue;
		parse_field(decl, n, f);
		return f->size != 0;
	}
	return 0;
}

const char *tp_text(const struct tp_field *f, const uint8_t *raw, uint32_t raw_size, int swap)
{
	uint32_t at = f->offset, size = f->size;
	if (!size || at > raw_size || size > raw_size - at)
		return "";
	if (f->is_dynamic) {
		uint32_t where = size >= 4 ? load_u32(raw + at, swap) : 0;
		at = (where & 0xffff) + (f->is_relative ? at + size : 0);
		size = where >> 16;
		if (!size || at > raw_size || size > raw_size - at)
			return "";
	}
	return memchr(raw + at, 0, size) ? (const char *)raw + at : "";
}

/* --- text ----------------------------------------------------------------------------- */

static struct tep_handle *evaluator(struct tracepoints *t)
{
	if (t->tep)
		return t->tep;
	t->tep = tep_alloc();
	if (!t->tep)
		return NULL;
	tep_set_loglevel(TEP_LOG_NONE);
	tep_set_local_bigendian(t->tep, tep_is_bigendian());
	tep_set_file_bigendian(t->tep, t->swap ? !tep_is_bigendian() : tep_is_bigendian());
	tep_set_long_size(t->tep, t->long_size);
	return t->tep;
}

/* A format with "ll" for the "L" of its integers, which kernels write and only glibc's printf
 * reads. */
static void put_portably(struct buf *out, const char *s, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		size_t back = i;
		while (s[i] == 'L' && back && strchr("0123456789.-+ #", s[back - 1]))
			back--;
		if (s[i] == 'L' && back && s[back - 1] == '%')
			buf_str(out, "ll");
		else
			buf_char(out, s[i]);
	}
}

static struct tep_event *parse_format(struct tep_handle *tep, const struct tracepoint *tp)
{
	struct buf plain = {0};
	struct tep_event *ev = NULL;
	put_portably(&plain, tp->format, tp->format_size);
	size_t n = plain.n;
	const char *text = buf_cstr(&plain);
	if (!plain.failed && !tep_find_event(tep, (int)tp->id) &&
	    !tep_parse_event(tep, text, (unsigned long)n, tp->system))
		ev = tep_find_event(tep, (int)tp->id);
	buf_release(&plain);
	return ev;
}

/* libtraceevent's view of a tracepoint; NULL where it cannot read the format, or must not. */
static struct tep_event *evaluate(struct tracepoints *t, const struct tracepoint *tp)
{
	uint8_t *tried = &t->tried.v[tp - t->v.v];
	if (*tried == CANNOT || !evaluator(t))
		return NULL;
	struct tep_event *ev = *tried == CAN ? tep_find_event(t->tep, (int)tp->id) : NULL;
	*tried = CANNOT;
	if (!ev && print_fmt_is_safe(tp->format))
		ev = parse_format(t->tep, tp);
	if (ev)
		*tried = CAN;
	return ev;
}

/* libtraceevent does not check that a record has the format's fixed part and that a dynamic
 * text is terminated. */
static int holds_fields(const struct tracepoints *t, const struct tep_event *ev,
			const uint8_t *raw, uint32_t raw_size)
{
	for (const struct tep_format_field *f = ev->format.fields; f; f = f->next) {
		if (f->offset < 0 || f->size < 0 || (uint32_t)f->offset > raw_size ||
		    (uint32_t)f->size > raw_size - (uint32_t)f->offset)
			return 0;
		if (!(f->flags & TEP_FIELD_IS_DYNAMIC))
			continue;
		uint32_t at = f->size == 4 ? load_u32(raw + f->offset, t->swap) & 0xffff : 0;
		if (f->size != 4 || at >= raw_size || !memchr(raw + at, 0, raw_size - at))
			return 0;
	}
	return 1;
}

/* " name=value" of one line "\tfield:...". */
static void plain_field(const struct tracepoints *t, const char *line, const uint8_t *raw,
			uint32_t raw_size, struct buf *out)
{
	char name[64];
	struct tp_field f = {0};
	size_t n = strcspn(line, ";\n"), end = name_end(line, n), at;
	for (at = end; at && !strchr(" *", line[at - 1]); at--)
		;
	if (!at || end - at >= sizeof(name) || !strncmp(line + at, "common_", 7))
		return;
	memcpy(name, line + at, end - at);
	name[end - at] = '\0';
	parse_field(line, n, &f);
	if (!*name || !f.size)
		return;
	buf_fmt(out, "%s%s=", out->n ? " " : "", name);
	if (f.is_string)
		buf_str(out, tp_text(&f, raw, raw_size, t->swap));
	else
		buf_fmt(out, "%lld", (long long)tp_int(&f, raw, raw_size, t->swap));
}

/* The fields by name, if the format's own text is not available. */
static void plain_text(const struct tracepoints *t, const struct tracepoint *tp,
		       const uint8_t *raw, uint32_t raw_size, struct buf *out)
{
	static const char mark[] = "\tfield:";
	struct buf text = {0};
	int n = 0;
	for (const char *p = tp->format; n < MAX_PLAIN_FIELDS && (p = strstr(p, mark)); n++) {
		p += sizeof(mark) - 1;
		plain_field(t, p, raw, raw_size, &text);
	}
	buf_add(out, buf_cstr(&text), text.n < MAX_TEXT ? text.n : MAX_TEXT);
	buf_release(&text);
}

void tracepoint_text(struct tracepoints *t, const struct tracepoint *tp, const uint8_t *raw,
		     uint32_t raw_size, struct buf *out)
{
	struct tep_event *ev = evaluate(t, tp);
	struct trace_seq s;
	if (!ev || !holds_fields(t, ev, raw, raw_size)) {
		plain_text(t, tp, raw, raw_size, out);
		return;
	}
	struct tep_record record = {.data = (void *)(uintptr_t)raw, .size = (int)raw_size};
	trace_seq_init(&s);
	tep_print_event(t->tep, &s, &record, "%s", TEP_PRINT_INFO);
	if (s.state == TRACE_SEQ__GOOD)
		buf_add(out, s.buffer, s.len < MAX_TEXT ? s.len : MAX_TEXT);
	trace_seq_destroy(&s);
}
