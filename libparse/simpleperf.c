#include "libparse/simpleperf.h"
#include "libparse/reader.h"

#include <stdlib.h>
#include <string.h>

int recording_by_simpleperf(const struct recording *rec)
{
	const uint64_t own = 0xff; /* FILE … FILE2 and those after it */
	return (rec->features.bits[SIMPLEPERF_FILE / 64] & own) != 0;
}

/* --- names of events ------------------------------------------------------------------- */

/* "sched:sched_switch,2,91": name, type and config; the text goes on after n bytes. */
static int name_event(struct recording *rec, const char *line, size_t n)
{
	char *end;
	const char *comma = memchr(line, ',', n);
	if (!comma)
		return 0;
	unsigned long type = strtoul(comma + 1, &end, 10);
	uint64_t config = *end == ',' ? strtoull(end + 1, &end, 10) : 0;
	if (end != line + n)
		return 0;
	for (size_t i = 0; i < rec->events.n; i++) {
		struct event *ev = &rec->events.v[i];
		if (ev->is_tracepoint && ev->attr.type == type && ev->attr.config == config &&
		    header_name_event(ev, line, (size_t)(comma - line)))
			return ERR_NOMEM;
	}
	return 0;
}

int simpleperf_name_events(struct recording *rec, const uint8_t *p, uint64_t n)
{
	static const char key[] = "event_type_info";
	struct bytes b = bytes_init(p, (size_t)n, rec->swap);
	int r = 0;
	while (bytes_left(&b)) { /* keys and values in turn */
		const char *name = bytes_string(&b), *value = bytes_string(&b);
		if (!bytes_ok(&b))
			break;
		if (strcmp(name, key))
			continue;
		for (size_t len; *value && !r; value += len + (value[len] == '\n')) {
			len = strcspn(value, "\n");
			r = name_event(rec, value, len);
		}
	}
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

static int is_path(struct bytes b, const char *path)
{
	size_t n = strlen(path);
	for (struct field f; next_field(&b, &f);)
		if (f.no == 1)
			return bytes_left(&f.inner) == n && !memcmp(f.inner.p, path, n);
	return 0;
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

int simpleperf_symbols(const struct recording *rec, const char *path, struct carried_file *out,
		       take_fn *take, void *ctx)
{
	*out = (struct carried_file){0};
	for (int is_proto = 0; is_proto < 2; is_proto++) {
		const struct feature_bytes *s = &rec->features.carried[is_proto];
		struct bytes all = bytes_init(s->p, (size_t)s->n, rec->swap);
		while (bytes_left(&all)) {
			uint32_t n = bytes_u32(&all);
			const uint8_t *p = bytes_take(&all, n);
			struct bytes b = bytes_init(p, p ? n : 0, is_proto ? 0 : rec->swap);
			if (!p)
				break;
			if (is_proto && is_path(b, path))
				return read_message(b, out, take, ctx);
			if (!is_proto) {
				const char *name = bytes_string(&b);
				if (bytes_ok(&b) && !strcmp(name, path))
					return read_file(&b, out, take, ctx);
			}
		}
	}
	return 0;
}
