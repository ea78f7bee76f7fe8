/* perfwriter_features.c - feature sections and tracing data; see perfwriter.h. */
#include "tests/lib/perfwriter_priv.h"

#include "base/err.h"

#include <stdio.h>
#include <string.h>

/* A new section of that number to write into, or NULL. Borrowed until the next one. */
static struct buf *new_feature(struct pw *w, int id)
{
	struct pw_feature f = {.id = id};
	if (vec_push(&w->features, f)) {
		w->failed = w->failed ? w->failed : ERR_NOMEM;
		return NULL;
	}
	return &w->features.v[w->features.n - 1].data;
}

void pw_feature(struct pw *w, int feature, const void *p, size_t n)
{
	struct buf *b = new_feature(w, feature);
	if (b)
		buf_add(b, p, n);
}

void pw_feature_string(struct pw *w, int feature, const char *s)
{
	struct buf *b = new_feature(w, feature);
	if (b)
		pw_put_header_string(w, b, s);
}

void pw_feature_nrcpus(struct pw *w, uint32_t online, uint32_t available)
{
	struct buf *b = new_feature(w, PW_FEAT_NRCPUS);
	if (!b)
		return;
	/* perf's write_nrcpus puts the available ones first, whatever the document says */
	pw_put(w, b, available, 4);
	pw_put(w, b, online, 4);
}

void pw_feature_u64s(struct pw *w, int feature, const uint64_t *v, size_t n)
{
	struct buf *b = new_feature(w, feature);
	for (size_t i = 0; b && i < n; i++)
		pw_put(w, b, v[i], 8);
}

void pw_feature_cmdline(struct pw *w, const char *const *argv, size_t n)
{
	struct buf *b = new_feature(w, PW_FEAT_CMDLINE);
	if (!b)
		return;
	pw_put(w, b, n, 4);
	for (size_t i = 0; i < n; i++)
		pw_put_header_string(w, b, argv[i]);
}

void pw_feature_event_desc(struct pw *w)
{
	struct buf *b = new_feature(w, PW_FEAT_EVENT_DESC);
	if (!b)
		return;
	pw_put(w, b, w->attrs.n, 4);
	pw_put(w, b, w->cfg.attr_size, 4);
	for (size_t i = 0; i < w->attrs.n; i++) {
		const struct pw_attr *a = &w->attrs.v[i];
		pw_put_attr(w, b, a);
		pw_put(w, b, a->nids, 4);
		pw_put_header_string(w, b, a->name ? a->name : "");
		for (size_t k = 0; k < a->nids; k++)
			pw_put(w, b, a->ids[k], 8);
	}
}

void pw_feature_group_desc(struct pw *w, const char *const *names, const uint32_t *leader,
			   const uint32_t *members, size_t n)
{
	struct buf *b = new_feature(w, PW_FEAT_GROUP_DESC);
	if (!b)
		return;
	pw_put(w, b, n, 4);
	for (size_t i = 0; i < n; i++) {
		pw_put_header_string(w, b, names[i]);
		pw_put(w, b, leader[i], 4);
		pw_put(w, b, members[i], 4);
	}
}

void pw_feature_clock_data(struct pw *w, uint32_t clockid, uint64_t wall, uint64_t clock)
{
	struct buf *b = new_feature(w, PW_FEAT_CLOCK_DATA);
	if (!b)
		return;
	pw_put(w, b, 1, 4); /* version */
	pw_put(w, b, clockid, 4);
	pw_put(w, b, wall, 8);
	pw_put(w, b, clock, 8);
}

void pw_feature_build_id(struct pw *w, uint16_t misc, uint32_t pid, const uint8_t *id,
			 uint8_t size, const char *filename)
{
	if (w->cfg.mode == PW_PIPE) {
		pw_build_id(w, misc, pid, id, size ? size : 20, filename);
		return;
	}
	struct buf *b = NULL;
	for (size_t i = 0; i < w->features.n; i++)
		if (w->features.v[i].id == PW_FEAT_BUILD_ID)
			b = &w->features.v[i].data;
	if (!b && !(b = new_feature(w, PW_FEAT_BUILD_ID)))
		return;
	/* struct build_id_event; its type field is 0 inside the section */
	size_t n = size ? size : 20, name = strlen(filename) + 1,
	       padded = (name + 63) / 64 * 64;
	pw_put(w, b, 0, 4);
	pw_put(w, b, size ? misc | 1u << 15 : misc, 2);
	pw_put(w, b, 8 + 4 + 24 + padded, 2);
	pw_put(w, b, pid, 4);
	buf_add(b, id, n);
	pw_put_zeroes(b, 20 - n);
	pw_put(w, b, size, 1);
	pw_put_zeroes(b, 3);
	buf_add(b, filename, name);
	pw_put_zeroes(b, padded - name);
}

/* --- tracing data: the "trace info" of util/trace-event-info.c, version 0.5 ------------- */

static void put_sized(struct pw *w, struct buf *b, const char *text)
{
	pw_put(w, b, strlen(text), 8);
	buf_str(b, text);
}

static void put_systems(struct pw *w, struct buf *b, const struct pw_tracepoint *tp, size_t n)
{
	size_t systems = 0;
	for (size_t i = 0; i < n; i++)
		systems += !i || strcmp(tp[i].system, tp[i - 1].system);
	pw_put(w, b, systems, 4);
	for (size_t i = 0, end; i < n; i = end) {
		for (end = i; end < n && !strcmp(tp[end].system, tp[i].system); end++)
			;
		buf_add(b, tp[i].system, strlen(tp[i].system) + 1);
		pw_put(w, b, end - i, 4);
		for (size_t k = i; k < end; k++)
			put_sized(w, b, tp[k].format);
	}
}

void pw_feature_tracing_data(struct pw *w, const struct pw_tracepoint *tp, size_t n)
{
	static const char page[] = "\tfield: u64 timestamp;\toffset:0;\tsize:8;\tsigned:0;\n"
				   "\tfield: local_t commit;\toffset:8;\tsize:8;\tsigned:1;\n"
				   "\tfield: int overwrite;\toffset:8;\tsize:1;\tsigned:1;\n"
				   "\tfield: char data;\toffset:16;\tsize:4080;\tsigned:0;\n";
	static const char header[] = "# compressed entry header\n"
				     "\ttype_len    :    5 bits\n"
				     "\ttime_delta  :   27 bits\n"
				     "\tarray       :   32 bits\n";
	struct buf *b = new_feature(w, PW_FEAT_TRACING_DATA);
	if (!b)
		return;
	buf_add(b, "\x17\x08\x44tracing", 10);
	buf_add(b, "0.5", 4);
	buf_char(b, w->cfg.big_endian ? 1 : 0);
	buf_char(b, 8); /* sizeof(long) */
	pw_put(w, b, 4096, 4);
	buf_add(b, "header_page", 12);
	put_sized(w, b, page);
	buf_add(b, "header_event", 13);
	put_sized(w, b, header);
	pw_put(w, b, 0, 4); /* ftrace's own formats */
	put_systems(w, b, tp, n);
	pw_put(w, b, 0, 4); /* kallsyms: none */
	pw_put(w, b, 0, 4); /* printk formats: none */
}

void pw_tracepoints(struct pw *w, const char *system, const char *const *names,
		    const char *common, const char *const *fields, size_t n,
		    const struct pw_attr *how)
{
	char text[PW_TRACEPOINTS][2048], name[64];
	struct pw_tracepoint tp[PW_TRACEPOINTS];
	for (size_t i = 0; i < n; i++) {
		const uint64_t id = 11 + i;
		struct pw_attr a = *how;
		snprintf(name, sizeof(name), "%s:%s", system, names[i]);
		a.type = 2;
		a.config = PW_TRACEPOINT_ID + i;
		a.clockid = -1;
		a.ids = &id;
		a.nids = 1;
		a.name = name;
		pw_attr(w, &a);
		snprintf(text[i], sizeof(text[i]), "name: %s\nID: %zu\n%s%s", names[i],
			 PW_TRACEPOINT_ID + i, common, fields[i]);
		tp[i] = (struct pw_tracepoint){system, text[i]};
	}
	pw_feature_tracing_data(w, tp, n);
	pw_feature_event_desc(w);
}
