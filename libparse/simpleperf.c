#include "libparse/simpleperf.h"

#include "base/hash.h"
#include "base/search.h"
#include "libparse/reader.h"

#include <stdlib.h>
#include <string.h>

int recording_by_simpleperf(const struct recording *rec)
{
	const uint64_t own = 0xff; /* FILE … FILE2 and those after it */
	return (rec->features.bits[SIMPLEPERF_FILE / 64] & own) != 0;
}

/* --- names of events ------------------------------------------------------------------- */

/* "sched:sched_switch,2,91": name, type and config; the text goes on after n bytes. The length of
 * a tracepoint's name, or 0. */
static size_t read_type(const char *line, size_t n, uint64_t *config)
{
	char *end;
	const char *comma = memchr(line, ',', n);
	if (!comma)
		return 0;
	unsigned long type = strtoul(comma + 1, &end, 10);
	*config = *end == ',' ? strtoull(end + 1, &end, 10) : 0;
	return end == line + n && type == PERF_TYPE_TRACEPOINT ? (size_t)(comma - line) : 0;
}

struct type_names {
	struct u64map by_config; /* the number in v */
	VEC(struct type_name {
		const char *name;
		size_t n;
	})
	v;
};

static int read_types(struct type_names *t, const char *value)
{
	int r = 0;
	for (size_t len; *value && !r; value += len + (value[len] == '\n')) {
		len = strcspn(value, "\n");
		uint64_t config;
		struct type_name name = {value, read_type(value, len, &config)};
		if (name.n && t->v.n < UINT32_MAX - 1)
			r = vec_push(&t->v, name) || u64map_put(&t->by_config, config,
								(uint32_t)t->v.n - 1)
				    ? ERR_NOMEM
				    : 0;
	}
	return r;
}

static int name_events(struct recording *rec, const struct type_names *t)
{
	int r = 0;
	uint32_t i;
	for (size_t k = 0; k < rec->events.n && t->v.n && !r; k++) {
		struct event *ev = &rec->events.v[k];
		if (ev->is_tracepoint && u64map_get(&t->by_config, ev->attr.config, &i))
			r = header_name_event(ev, t->v.v[i].name, t->v.v[i].n);
	}
	return r;
}

int simpleperf_name_events(struct recording *rec, const uint8_t *p, uint64_t n)
{
	static const char key[] = "event_type_info";
	struct bytes b = bytes_init(p, (size_t)n, rec->swap);
	struct type_names t = {0};
	int r = 0;
	while (bytes_left(&b) && !r) { /* keys and values in turn */
		const char *name = bytes_string(&b), *value = bytes_string(&b);
		if (!bytes_ok(&b))
			break;
		if (!strcmp(name, key))
			r = read_types(&t, value);
	}
	r = r ? r : name_events(rec, &t);
	u64map_release(&t.by_config);
	vec_release(&t.v);
	return r;
}

/* --- FILE -------------------------------------------------------------------------------- */

enum dso_type { TYPE_KERNEL = 0, TYPE_ELF = 2, TYPE_DEX = 3 };

typedef int take_fn(void *ctx, const struct carried_symbol *s);

static int read_file(struct bytes *b, struct carried_file *out, take_fn *take, void *ctx)
{
	uint32_t type = bytes_u32(b);
	out->is_kernel = type == TYPE_KERNEL;
	out->min_vaddr = bytes_u64(b);
	out->has_offset = type == TYPE_DEX;
	for (uint32_t left = bytes_u32(b); left && bytes_ok(b); left--) {
		struct carried_symbol s = {.start = bytes_u64(b), .size = bytes_u32(b)};
		s.name = bytes_string(b);
		if (!bytes_ok(b))
			return 1;
		s.n = strlen(s.name);
		int r = take(ctx, &s);
		if (r)
			return r;
	}
	if (type == TYPE_ELF && bytes_left(b) >= 8) {
		out->min_offset = bytes_u64(b);
		out->has_offset = 1;
	}
	return 1;
}

/* --- FILE2: protocol buffers -------------------------------------------------------------- */

struct field {
	uint32_t no;
	uint64_t value;
	struct bytes inner; /* of a text or message */
};

/* The next field of a message: 1, or 0 at its end or where it breaks. */
static int next_field(struct bytes *b, struct field *f)
{
	enum { VARINT, FIXED64, LENGTH, FIXED32 = 5 };
	if (!bytes_left(b))
		return 0;
	uint64_t tag = bytes_uleb(b);
	*f = (struct field){.no = (uint32_t)(tag >> 3)};
	switch (tag & 7) {
	case VARINT:
		f->value = bytes_uleb(b);
		break;
	case FIXED64:
		bytes_skip(b, 8);
		break;
	case LENGTH:
		f->value = bytes_uleb(b);
		if (f->value > bytes_left(b))
			b->bad = 1;
		else
			f->inner = bytes_init(bytes_take(b, (size_t)f->value), (size_t)f->value,
					      0);
		break;
	case FIXED32:
		bytes_skip(b, 4);
		break;
	default:
		b->bad = 1;
	}
	return bytes_ok(b);
}

static struct carried_symbol read_symbol(struct bytes b)
{
	struct carried_symbol s = {.name = ""};
	for (struct field f; next_field(&b, &f);) {
		if (f.no == 1)
			s.start = f.value;
		else if (f.no == 2)
			s.size = f.value;
		else if (f.no == 3) {
			s.name = (const char *)f.inner.p;
			s.n = bytes_left(&f.inner);
		}
	}
	return s;
}

/* The path of a message; its text is NULL where it has none. */
static struct bytes path_of(struct bytes b)
{
	for (struct field f; next_field(&b, &f);)
		if (f.no == 1)
			return f.inner;
	return bytes_init(NULL, 0, 0);
}

static int read_message(struct bytes b, struct carried_file *out, take_fn *take, void *ctx)
{
	struct field f, inner;
	while (next_field(&b, &f)) {
		if (f.no == 2) {
			out->is_kernel = f.value == TYPE_KERNEL;
			out->has_offset |= f.value == TYPE_DEX;
		} else if (f.no == 3) {
			out->min_vaddr = f.value;
		} else if (f.no == 4) {
			struct carried_symbol s = read_symbol(f.inner);
			int r = s.n ? take(ctx, &s) : 0;
			if (r)
				return r;
		} else if (f.no == 6) {
			out->has_offset = 1; /* fields that are 0 are left out */
			while (next_field(&f.inner, &inner))
				if (inner.no == 1)
					out->min_offset = inner.value;
		}
	}
	return 1;
}

/* --- files by path ----------------------------------------------------------------------- */

static int compare_paths(const char *a, size_t n, const char *b, size_t m)
{
	int c = memcmp(a, b, n < m ? n : m);
	return c ? c : (n > m) - (n < m);
}

/* FILE before FILE2, and the first of several first. */
static int by_path(const void *a, const void *b)
{
	const struct carried_entry *x = a, *y = b;
	int c = compare_paths(x->path, x->n, y->path, y->n);
	if (c || x->is_proto != y->is_proto)
		return c ? c : x->is_proto - y->is_proto;
	return (x->path > y->path) - (x->path < y->path);
}

int simpleperf_index(struct recording *rec, const uint8_t *p, uint64_t n, int is_proto)
{
	struct bytes all = bytes_init(p, (size_t)n, rec->swap);
	while (bytes_left(&all)) {
		uint32_t size = bytes_u32(&all);
		const uint8_t *at = bytes_take(&all, size);
		struct carried_entry f = {.is_proto = is_proto};
		if (!at)
			break;
		f.rest = bytes_init(at, size, is_proto ? 0 : rec->swap);
		if (is_proto) {
			struct bytes path = path_of(f.rest);
			f.path = (const char *)path.p;
			f.n = bytes_left(&path);
		} else if ((f.path = bytes_string(&f.rest)))
			f.n = strlen(f.path);
		if (f.n && vec_push(&rec->features.carried, f))
			return ERR_NOMEM;
	}
	if (rec->features.carried.n)
		qsort(rec->features.carried.v, rec->features.carried.n,
		      sizeof(*rec->features.carried.v), by_path);
	return 0;
}

int simpleperf_symbols(const struct recording *rec, const char *path, struct carried_file *out,
		       take_fn *take, void *ctx)
{
	const struct carried_entry *v = rec->features.carried.v;
	size_t n = strlen(path), have = rec->features.carried.n,
	       k = PARTITION_POINT(i, 0, have, compare_paths(v[i].path, v[i].n, path, n) < 0);
	*out = (struct carried_file){0};
	if (k == have || compare_paths(v[k].path, v[k].n, path, n) != 0)
		return 0;
	struct bytes b = v[k].rest;
	return v[k].is_proto ? read_message(b, out, take, ctx) : read_file(&b, out, take, ctx);
}
