/* perfwriter.c - the image, the events, samples and compression; see perfwriter.h. */
#include "tests/lib/perfwriter_priv.h"

#include "base/err.h"
#include "base/mem.h"

#include <string.h>
#include <zstd.h>

enum {
	FILE_HEADER_SIZE = 104,
	PIPE_HEADER_SIZE = 16,
	SECTION_SIZE = 16,
	V1_NAME_SIZE = 64,
	HEADER_STRING_ALIGN = 64,
	COMPRESSED_MMAP_LEN = 1 << 19, /* more than any record inflates to */
};

static void fail(struct pw *w, int code)
{
	if (!w->failed)
		w->failed = code;
}

/* --- fields in the file's byte order --------------------------------------------------- */

void pw_put(struct pw *w, struct buf *b, uint64_t x, size_t n)
{
	char v[8];
	for (size_t i = 0; i < n; i++)
		v[w->cfg.big_endian ? n - 1 - i : i] = (char)(x >> 8 * i);
	buf_add(b, v, n);
}

void pw_put_zeroes(struct buf *b, size_t n)
{
	for (; n; n--)
		buf_char(b, 0);
}

/* struct perf_header_string: u32 length, then the text padded with zeroes to a multiple of 64
 * (NAME_ALIGN in perf's header.c). */
void pw_put_header_string(struct pw *w, struct buf *b, const char *s)
{
	size_t n = strlen(s) + 1;
	size_t padded =
		(n + HEADER_STRING_ALIGN - 1) / HEADER_STRING_ALIGN * HEADER_STRING_ALIGN;
	pw_put(w, b, padded, 4);
	buf_add(b, s, n);
	pw_put_zeroes(b, padded - n);
}

void pw_u8(struct pw *w, uint8_t x)
{
	buf_char(w->to, (char)x);
}

void pw_u16(struct pw *w, uint16_t x)
{
	pw_put(w, w->to, x, 2);
}

void pw_u32(struct pw *w, uint32_t x)
{
	pw_put(w, w->to, x, 4);
}

void pw_u64(struct pw *w, uint64_t x)
{
	pw_put(w, w->to, x, 8);
}

void pw_bytes(struct pw *w, const void *p, size_t n)
{
	buf_add(w->to, p, n);
}

void pw_string8(struct pw *w, const char *s)
{
	pw_bytes(w, s, strlen(s) + 1);
	pw_put_zeroes(w->to, -(w->to->n - w->start) & 7);
}

/* --- events ---------------------------------------------------------------------------- */

void pw_begin(struct pw *w, const struct pw_config *cfg)
{
	memset(w, 0, sizeof(*w));
	w->cfg = *cfg;
	if (!w->cfg.attr_size)
		w->cfg.attr_size = 128;
	if (!w->cfg.zstd_level)
		w->cfg.zstd_level = 1;
	if (!w->cfg.zstd_chunk)
		w->cfg.zstd_chunk = 4096;
	w->to = &w->data;
}

void pw_attr(struct pw *w, const struct pw_attr *a)
{
	struct pw_attr own = *a;
	uint64_t *ids = mem_zalloc(a->nids, sizeof(*ids));
	own.name = a->name ? mem_strdup(a->name) : NULL;
	own.ids = ids;
	if (!ids || (a->name && !own.name) || vec_push(&w->attrs, own)) {
		mem_free(ids);
		mem_free((char *)own.name);
		fail(w, ERR_NOMEM);
		return;
	}
	if (a->nids)
		memcpy(ids, a->ids, a->nids * sizeof(*ids));
}

/* A big-endian machine numbers bit fields from the top, so that in memory each byte of the
 * flags word is the mirror image of the little-endian one. */
static uint64_t mirror_bits(uint64_t x)
{
	uint64_t y = 0;
	for (int i = 0; i < 64; i++)
		y |= (x >> i & 1) << (63 - i);
	return y;
}

/* struct perf_event_attr, cut or padded to the configured size. */
void pw_put_attr(struct pw *w, struct buf *b, const struct pw_attr *a)
{
	const struct {
		uint64_t value;
		size_t size;
	} fields[] = {
		{a->type, 4},
		{w->cfg.attr_size, 4},
		{a->config, 8},
		{a->period, 8},
		{a->sample_type, 8},
		{a->read_format, 8},
		{w->cfg.big_endian ? mirror_bits(a->flags) : a->flags, 8},
		{a->wakeup, 4},
		{a->bp_type, 4},
		{a->config1, 8}, /* 64: VER0 ends here */
		{a->config2, 8},
		{a->branch_sample_type, 8}, /* 80 */
		{a->regs_user, 8},
		{a->stack_user, 4},
		{(uint32_t)a->clockid, 4}, /* 96 */
		{a->regs_intr, 8},         /* 104 */
		{a->aux_watermark, 4},
		{a->max_stack, 2},
		{0, 2}, /* 112 */
		{a->aux_sample_size, 4},
		{0, 4},           /* 120 */
		{a->sig_data, 8}, /* 128 */
		{a->config3, 8},  /* 136 */
		{a->config4, 8},  /* 144 */
		{a->config5, 8},  /* 152: not invented yet */
	};
	size_t end = b->n + w->cfg.attr_size;
	for (size_t i = 0; i < sizeof(fields) / sizeof(*fields); i++)
		if (b->n + fields[i].size <= end)
			pw_put(w, b, fields[i].value, fields[i].size);
	if (b->n < end)
		pw_put_zeroes(b, end - b->n);
}

/* --- records --------------------------------------------------------------------------- */

void pw_rec_begin(struct pw *w, uint32_t type, uint16_t misc)
{
	w->start = w->to->n;
	pw_u32(w, type);
	pw_u16(w, misc);
	pw_u16(w, 0);
}

/* struct sample_id, as described above PERF_RECORD_MMAP in perf_event.h. */
static void put_sample_id(struct pw *w, const struct pw_id *id)
{
	uint64_t type = w->attrs.v[id->attr].sample_type;
	if (type & PW_S_TID) {
		pw_u32(w, id->pid);
		pw_u32(w, id->tid);
	}
	if (type & PW_S_TIME)
		pw_u64(w, id->time);
	if (type & PW_S_ID)
		pw_u64(w, id->id);
	if (type & PW_S_STREAM_ID)
		pw_u64(w, id->stream_id);
	if (type & PW_S_CPU) {
		pw_u32(w, id->cpu);
		pw_u32(w, 0);
	}
	if (type & PW_S_IDENTIFIER)
		pw_u64(w, id->id);
}

/* Patch header.size, which is the u16 at offset 6. */
static void close_record(struct pw *w)
{
	size_t n = w->to->n - w->start;
	if (n > UINT16_MAX) {
		fail(w, ERR_LIMIT);
		return;
	}
	if (buf_failed(w->to))
		return;
	uint8_t *size = (uint8_t *)w->to->v + w->start + 6;
	size[!!w->cfg.big_endian] = (uint8_t)n;
	size[!w->cfg.big_endian] = (uint8_t)(n >> 8);
}

void pw_rec_end(struct pw *w, const struct pw_id *id)
{
	static const struct pw_id nobody;
	if (!id)
		id = &nobody;
	if (id->attr < w->attrs.n && w->attrs.v[id->attr].flags & PW_SAMPLE_ID_ALL)
		put_sample_id(w, id);
	close_record(w);
}

void pw_rec_end_bare(struct pw *w)
{
	close_record(w);
}

void pw_raw(struct pw *w, const void *p, size_t n)
{
	buf_add(w->to, p, n);
}

/* --- samples --------------------------------------------------------------------------- */

void pw_put_read(struct pw *w, uint64_t format, const struct pw_sample *s)
{
	if (format & PW_R_GROUP)
		pw_u64(w, s->nvalues);
	else
		pw_u64(w, s->nvalues ? s->values[0].value : 0);
	if (format & PW_R_TIME_ENABLED)
		pw_u64(w, s->time_enabled);
	if (format & PW_R_TIME_RUNNING)
		pw_u64(w, s->time_running);
	size_t n = format & PW_R_GROUP ? s->nvalues : 1;
	for (size_t i = 0; i < n; i++) {
		struct pw_read_value v =
			i < s->nvalues ? s->values[i] : (struct pw_read_value){0};
		if (format & PW_R_GROUP)
			pw_u64(w, v.value);
		if (format & PW_R_ID)
			pw_u64(w, v.id);
		if (format & PW_R_LOST)
			pw_u64(w, v.lost);
	}
}

/* The flags word of perf_branch_entry is a bit field: mispred:1 predicted:1 in_tx:1 abort:1
 * cycles:16 type:4 …, from the bottom on little endian, from the top on big. */
static uint64_t branch_flags(const struct pw *w, const struct pw_branch *b)
{
	const struct {
		uint64_t value;
		int width;
	} fields[] = {{b->mispred, 1}, {b->predicted, 1}, {b->in_tx, 1},
		      {b->abort, 1},   {b->cycles, 16},   {b->type, 4}};
	uint64_t x = 0;
	int at = 0;
	for (size_t i = 0; i < sizeof(fields) / sizeof(*fields); i++) {
		x |= fields[i].value << (w->cfg.big_endian ? 64 - at - fields[i].width : at);
		at += fields[i].width;
	}
	return x;
}

static void put_branch_stack(struct pw *w, const struct pw_attr *a, const struct pw_sample *s)
{
	pw_u64(w, s->nbranches);
	if (a->branch_sample_type & PW_BRANCH_HW_INDEX)
		pw_u64(w, s->hw_idx);
	for (size_t i = 0; i < s->nbranches; i++) {
		pw_u64(w, s->branches[i].from);
		pw_u64(w, s->branches[i].to);
		pw_u64(w, branch_flags(w, &s->branches[i]));
	}
	if (a->branch_sample_type & PW_BRANCH_COUNTERS)
		for (size_t i = 0; i < s->nbranches; i++)
			pw_u64(w, s->branches[i].counters);
}

static void put_regs(struct pw *w, uint64_t abi, const uint64_t *regs, uint64_t mask)
{
	pw_u64(w, abi);
	for (size_t i = 0; abi && mask; mask &= mask - 1)
		pw_u64(w, regs[i++]);
}

static void put_raw(struct pw *w, const struct pw_sample *s)
{
	size_t padded = ((size_t)s->raw_size + 4 + 7) / 8 * 8 - 4;
	pw_u32(w, (uint32_t)padded);
	pw_bytes(w, s->raw, s->raw_size);
	pw_put_zeroes(w->to, padded - s->raw_size);
}

static void put_stack(struct pw *w, const struct pw_sample *s)
{
	pw_u64(w, s->stack_size);
	if (!s->stack_size)
		return;
	pw_bytes(w, s->stack, s->stack_size);
	pw_u64(w, s->stack_dyn);
}

/* What stands before the variable parts, in the order of PERF_RECORD_SAMPLE. */
static void put_sample_head(struct pw *w, uint64_t type, const struct pw_sample *s)
{
	if (type & PW_S_IDENTIFIER)
		pw_u64(w, s->id);
	if (type & PW_S_IP)
		pw_u64(w, s->ip);
	if (type & PW_S_TID) {
		pw_u32(w, s->pid);
		pw_u32(w, s->tid);
	}
	if (type & PW_S_TIME)
		pw_u64(w, s->time);
	if (type & PW_S_ADDR)
		pw_u64(w, s->addr);
	if (type & PW_S_ID)
		pw_u64(w, s->id);
	if (type & PW_S_STREAM_ID)
		pw_u64(w, s->stream_id);
	if (type & PW_S_CPU) {
		pw_u32(w, s->cpu);
		pw_u32(w, 0);
	}
	if (type & PW_S_PERIOD)
		pw_u64(w, s->period);
}

static void put_sample_tail(struct pw *w, const struct pw_attr *a, const struct pw_sample *s)
{
	uint64_t type = a->sample_type;
	if (type & (PW_S_WEIGHT | PW_S_WEIGHT_STRUCT))
		pw_u64(w, s->weight);
	if (type & PW_S_DATA_SRC)
		pw_u64(w, s->data_src);
	if (type & PW_S_TRANSACTION)
		pw_u64(w, s->txn);
	if (type & PW_S_REGS_INTR)
		put_regs(w, s->intr_abi, s->intr_regs, a->regs_intr);
	if (type & PW_S_PHYS_ADDR)
		pw_u64(w, s->phys_addr);
	if (type & PW_S_CGROUP)
		pw_u64(w, s->cgroup);
	if (type & PW_S_DATA_PAGE_SIZE)
		pw_u64(w, s->data_page_size);
	if (type & PW_S_CODE_PAGE_SIZE)
		pw_u64(w, s->code_page_size);
	if (type & PW_S_AUX) {
		pw_u64(w, s->aux_size);
		pw_bytes(w, s->aux, s->aux_size);
	}
}

void pw_sample(struct pw *w, size_t attr, const struct pw_sample *s)
{
	if (attr >= w->attrs.n) {
		fail(w, ERR_USAGE);
		return;
	}
	const struct pw_attr *a = &w->attrs.v[attr];
	uint64_t type = a->sample_type;
	pw_rec_begin(w, PW_SAMPLE, s->misc);
	put_sample_head(w, type, s);
	if (type & PW_S_READ)
		pw_put_read(w, a->read_format, s);
	if (type & PW_S_CALLCHAIN) {
		pw_u64(w, s->nips);
		for (size_t i = 0; i < s->nips; i++)
			pw_u64(w, s->ips[i]);
	}
	if (type & PW_S_RAW)
		put_raw(w, s);
	if (type & PW_S_BRANCH_STACK)
		put_branch_stack(w, a, s);
	if (type & PW_S_REGS_USER)
		put_regs(w, s->user_abi, s->user_regs, a->regs_user);
	if (type & PW_S_STACK_USER)
		put_stack(w, s);
	put_sample_tail(w, a, s);
	pw_rec_end_bare(w);
}

/* --- compression ----------------------------------------------------------------------- */

void pw_compress_begin(struct pw *w, int type)
{
	w->compress_as = type;
	w->to = &w->plain;
}

/* One record around one flushed piece of the zstd stream. */
static void put_compressed(struct pw *w, const void *p, size_t n)
{
	pw_rec_begin(w, (uint32_t)w->compress_as, 0);
	if (w->compress_as == PW_COMPRESSED2)
		pw_u64(w, n);
	pw_bytes(w, p, n);
	if (w->compress_as == PW_COMPRESSED2)
		pw_put_zeroes(w->to, -n & 7);
	pw_rec_end_bare(w);
}

static void compress_chunk(struct pw *w, const char *p, size_t n, char *room, size_t size)
{
	ZSTD_inBuffer in = {p, n, 0};
	ZSTD_outBuffer out = {room, size, 0};
	size_t left = ZSTD_compressStream2(w->zstd, &out, &in,
					   w->cfg.zstd_end_frames ? ZSTD_e_end : ZSTD_e_flush);
	if (left) /* an error code or an output that did not fit */
		fail(w, ERR_LIMIT);
	else
		put_compressed(w, room, out.pos);
}

void pw_compress_end(struct pw *w)
{
	size_t chunk = (size_t)w->cfg.zstd_chunk;
	size_t size = ZSTD_compressBound(chunk) + 64;
	char *room = mem_alloc(size);
	if (!w->zstd) {
		w->zstd = ZSTD_createCStream();
		if (w->zstd)
			ZSTD_initCStream(w->zstd, w->cfg.zstd_level);
		const uint32_t feature[] = {1, 1, (uint32_t)w->cfg.zstd_level, 2,
					    COMPRESSED_MMAP_LEN};
		struct buf b = {0};
		for (size_t i = 0; i < 5; i++)
			pw_put(w, &b, feature[i], 4);
		pw_feature(w, PW_FEAT_COMPRESSED, b.v, b.n);
		buf_release(&b);
	}
	w->to = &w->data;
	if (!room || !w->zstd)
		fail(w, ERR_NOMEM);
	for (size_t at = 0; at < w->plain.n && !w->failed; at += chunk) {
		size_t n = w->plain.n - at < chunk ? w->plain.n - at : chunk;
		compress_chunk(w, w->plain.v + at, n, room, size);
	}
	if (buf_failed(&w->plain))
		fail(w, ERR_NOMEM);
	buf_clear(&w->plain);
	mem_free(room);
	w->compress_as = 0;
}

/* --- the image ------------------------------------------------------------------------- */

static void put_section(struct pw *w, struct buf *b, uint64_t offset, uint64_t size)
{
	pw_put(w, b, offset, 8);
	pw_put(w, b, size, 8);
}

/* "PERFILE2" as a number in the file's order; version 1 wrote eight characters. */
static void put_magic(struct pw *w, struct buf *b)
{
	if (w->cfg.mode == PW_FILE_V1)
		buf_add(b, "PERFFILE", 8);
	else
		pw_put(w, b, 0x32454c4946524550ull, 8);
}

static size_t count_ids(const struct pw *w)
{
	size_t n = 0;
	for (size_t i = 0; i < w->attrs.n; i++)
		n += w->attrs.v[i].nids;
	return n;
}

static void put_event_types(struct pw *w, struct buf *b)
{
	for (size_t i = 0; i < w->attrs.n; i++) {
		char name[V1_NAME_SIZE] = {0};
		if (w->attrs.v[i].name)
			strncpy(name, w->attrs.v[i].name, sizeof(name) - 1);
		pw_put(w, b, w->attrs.v[i].config, 8);
		buf_add(b, name, sizeof(name));
	}
}

/* Sections in order of feature number, whatever order they were added in. */
static void put_features(struct pw *w, struct buf *b, size_t base)
{
	size_t at = b->n - base + w->features.n * SECTION_SIZE;
	for (int id = 0; id < 256; id++)
		for (size_t i = 0; i < w->features.n; i++)
			if (w->features.v[i].id == id) {
				put_section(w, b, at, w->features.v[i].data.n);
				at += w->features.v[i].data.n;
			}
	for (int id = 0; id < 256; id++)
		for (size_t i = 0; i < w->features.n; i++)
			if (w->features.v[i].id == id)
				buf_add(b, w->features.v[i].data.v, w->features.v[i].data.n);
}

/* header | ids | attrs | event types (v1) | data | feature table | features */
static void compose_file(struct pw *w, struct buf *b)
{
	size_t base = b->n, entry = w->cfg.attr_size + SECTION_SIZE;
	size_t ids_at = FILE_HEADER_SIZE, attrs_at = ids_at + 8 * count_ids(w);
	size_t types_at = attrs_at + entry * w->attrs.n;
	size_t types_size = w->cfg.mode == PW_FILE_V1 ? w->attrs.n * (8 + V1_NAME_SIZE) : 0;
	uint64_t bits[4] = {0};
	for (size_t i = 0; !w->cfg.cut && i < w->features.n; i++)
		bits[w->features.v[i].id / 64] |= 1ull << w->features.v[i].id % 64;

	put_magic(w, b);
	pw_put(w, b, FILE_HEADER_SIZE, 8);
	pw_put(w, b, entry, 8);
	put_section(w, b, attrs_at, entry * w->attrs.n);
	put_section(w, b, types_at + types_size, w->cfg.cut ? 0 : w->data.n);
	put_section(w, b, types_size ? types_at : 0, types_size);
	for (size_t i = 0; i < 4; i++)
		pw_put(w, b, bits[i], 8);
	for (size_t i = 0; i < w->attrs.n; i++)
		for (size_t k = 0; k < w->attrs.v[i].nids; k++)
			pw_put(w, b, w->attrs.v[i].ids[k], 8);
	for (size_t i = 0; i < w->attrs.n; i++) {
		pw_put_attr(w, b, &w->attrs.v[i]);
		put_section(w, b, ids_at, 8 * w->attrs.v[i].nids);
		ids_at += 8 * w->attrs.v[i].nids;
	}
	if (types_size)
		put_event_types(w, b);
	buf_add(b, w->data.v, w->data.n);
	if (!w->cfg.cut)
		put_features(w, b, base);
}

static void put_pipe_feature(struct pw *w, const struct pw_feature *f)
{
	size_t padded = (f->data.n + 7) / 8 * 8;
	if (f->id == PW_FEAT_TRACING_DATA) { /* header.size counts the u32 size, not the data */
		pw_rec_begin(w, PW_HEADER_TRACING_DATA, 0);
		pw_u32(w, (uint32_t)padded);
		pw_rec_end_bare(w);
	} else {
		pw_rec_begin(w, PW_HEADER_FEATURE, 0);
		pw_u64(w, (uint64_t)f->id);
	}
	pw_bytes(w, f->data.v, f->data.n);
	pw_put_zeroes(w->to, padded - f->data.n);
	if (f->id != PW_FEAT_TRACING_DATA)
		pw_rec_end_bare(w);
}

/* 16-byte header | HEADER_ATTR… | HEADER_FEATURE…, TRACING_DATA | data */
static void compose_pipe(struct pw *w, struct buf *b)
{
	put_magic(w, b);
	pw_put(w, b, PIPE_HEADER_SIZE, 8);
	w->to = b;
	for (size_t i = 0; i < w->attrs.n; i++) {
		pw_rec_begin(w, PW_HEADER_ATTR, 0);
		pw_put_attr(w, b, &w->attrs.v[i]);
		for (size_t k = 0; k < w->attrs.v[i].nids; k++)
			pw_u64(w, w->attrs.v[i].ids[k]);
		pw_rec_end_bare(w);
	}
	for (size_t i = 0; i < w->features.n; i++)
		put_pipe_feature(w, &w->features.v[i]);
	buf_add(b, w->data.v, w->data.n);
}

int pw_finish(struct pw *w, struct buf *out)
{
	if (buf_failed(&w->data))
		fail(w, ERR_NOMEM);
	if (!w->failed && w->cfg.mode == PW_PIPE)
		compose_pipe(w, out);
	else if (!w->failed)
		compose_file(w, out);
	if (buf_failed(out))
		fail(w, ERR_NOMEM);
	int failed = w->failed;
	pw_abort(w);
	return failed;
}

void pw_abort(struct pw *w)
{
	for (size_t i = 0; i < w->attrs.n; i++) {
		mem_free((char *)w->attrs.v[i].name);
		mem_free((uint64_t *)w->attrs.v[i].ids);
	}
	for (size_t i = 0; i < w->features.n; i++)
		buf_release(&w->features.v[i].data);
	vec_release(&w->attrs);
	vec_release(&w->features);
	buf_release(&w->data);
	buf_release(&w->plain);
	ZSTD_freeCStream(w->zstd);
	w->zstd = NULL;
}
