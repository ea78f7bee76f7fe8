/* recording_open.c - opens, rewinds and closes a recording: a file, a pipe or a directory. */
#include "libparse/recording.h"
#include "base/mem.h"
#include "base/text/path.h"
#include "libparse/listed_files.h"
#include "libparse/reader.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <sys/stat.h>

static int reader_new(struct recording **out, const char *name, struct err *e)
{
	struct recording *rec = mem_zalloc(1, sizeof(*rec));
	struct reader *rd = mem_zalloc(1, sizeof(*rd));
	if (rec && rd) {
		rec->reader = rd;
		rd->src.fd = -1;
		rec->id_offset = -1;
		rec->name = arena_strndup(&rec->strings, name, strlen(name));
		if (rec->name) {
			*out = rec;
			return 0;
		}
	}
	mem_free(rec);
	mem_free(rd);
	return err_nomem(e);
}

/* Point every stream's feed at the start of its bytes. */
static void streams_start(struct recording *rec)
{
	struct reader *rd = rec->reader;
	rd->current = 0;
	for (size_t i = 0; i < rd->streams.n; i++) {
		struct stream *st = &rd->streams.v[i];
		struct source *src = stream_source(rd, st);
		inflater_release(&st->inflater);
		st->skip = 0;
		if (!source_is_file(src))
			continue;
		chunk_drop(st->feed.chunk);
		st->feed = (struct feed){.offset = st->data_start};
		if (src->pieces) {
			st->feed.src = src;
			st->feed.unread = st->data_end - st->data_start;
		} else {
			st->feed.p = src->data + st->data_start;
			st->feed.end = src->data + st->data_end;
		}
	}
}

/* data.N is not there: then there must be none after it. */
static int check_last_part(const char *dir, unsigned n, struct err *e)
{
	int32_t later = 0; /* the first one */
	DIR *d = opendir(dir);
	for (struct dirent *f; d && (f = readdir(d));) {
		int32_t i;
		if (path_number(f->d_name, "data.", "", &i) && (unsigned)i > n &&
		    (!later || i < later))
			later = i;
	}
	if (!d)
		return err_sys(e, "%s: cannot open", dir);
	closedir(d);
	return later ? err_set(e, ERR_FORMAT,
			       "%s/data.%u: is missing, although there is data.%d", dir, n,
			       later)
		     : 0;
}

/* data.0, data.1, … of a directory: records without any header. */
static int open_directory_streams(struct recording *rec, const char *dir, struct err *e)
{
	for (unsigned i = 0; i < MAX_STREAMS; i++) {
		char path[4096];
		if ((size_t)snprintf(path, sizeof(path), "%s/data.%u", dir, i) >= sizeof(path))
			return err_set(e, ERR_LIMIT, "%s: path is too long", dir);
		struct stream s = {.src.fd = -1};
		int r = source_open_regular(&s.src, path, e);
		if (r > 0)
			continue;
		if (r)
			return r == ERR_NOTFOUND ? check_last_part(dir, i, e) : r;
		s.data_end = s.src.size;
		if (!source_is_file(&s.src))
			r = err_set(e, ERR_IO, "%s: cannot be mapped", path);
		else if (vec_push(&rec->reader->streams, s))
			r = err_nomem(e);
		if (r) {
			source_close(&s.src);
			return r;
		}
		rec->data_size += s.data_end;
	}
	return 0;
}

static int open_source(struct recording *rec, const char *path, struct err *e)
{
	struct reader *rd = rec->reader;
	struct stat st;
	if (!strcmp(path, "-") || stat(path, &st) || !S_ISDIR(st.st_mode))
		return source_open(&rd->src, path, e);
	char header[4096];
	if ((size_t)snprintf(header, sizeof(header), "%s/data", path) >= sizeof(header))
		return err_set(e, ERR_LIMIT, "%s: path is too long", path);
	rec->directory = 1;
	int r = source_open_regular(&rd->src, header, e); /* the user did not name a fifo */
	return r > 0 ? err_set(e, ERR_FORMAT, "%s: is empty", header)
	       : r == ERR_NOTFOUND || r == ERR_UNSUPPORTED
		       ? err_set(e, ERR_UNSUPPORTED,
				 "%s: a directory without perf's 'data' file", path)
		       : r;
}

/* Header records of a pipe, up to the first record that is not one; it waits as pending. */
static int read_pipe_header(struct recording *rec, struct err *e)
{
	struct reader *rd = rec->reader;
	for (;;) {
		struct record r;
		int got = recording_next(rec, &r, e);
		if (got <= 0)
			return got;
		switch (r.type) {
		case PERF_RECORD_HEADER_ATTR:
		case PERF_RECORD_HEADER_EVENT_TYPE:
		case PERF_RECORD_HEADER_TRACING_DATA:
		case PERF_RECORD_HEADER_BUILD_ID:
		case PERF_RECORD_HEADER_FEATURE:
		case PERF_RECORD_EVENT_UPDATE:
		case PERF_RECORD_TIME_CONV:
			continue;
		default:
			rd->pending = r;
			rd->has_pending = rd->header_ended = 1;
			return 0;
		}
	}
}

/* A file-mode perf.data that comes through a pipe has its features at the end. */
static int spool_file_mode(struct recording *rec, struct err *e)
{
	struct source *src = &rec->reader->src;
	const uint8_t *p;
	size_t n;
	int r = source_is_file(src) ? 0 : source_peek(src, &p, &n, e);
	if (r || source_is_file(src) || n < 16)
		return r;
	return header_is_pipe(p) ? 0 : source_spool(src, e);
}

static int open_contents(struct recording *rec, const char *path, struct err *e)
{
	struct reader *rd = rec->reader;
	rec->written_ns = rd->src.mtime_ns;
	int r = spool_file_mode(rec, e);
	if (r)
		return r;
	r = source_is_file(&rd->src) ? header_read_file(rec, e)
				     : header_read_pipe_magic(rec, e);
	if (!r && rec->directory)
		r = open_directory_streams(rec, path, e);
	if (!r)
		r = header_finish_events(rec, e);
	if (r)
		return r;
	streams_start(rec);
	if (!rec->pipe_mode)
		return 0;
	r = read_pipe_header(rec, e);
	if (!r && source_is_file(&rd->src)) /* do not count the first pass over the header */
		r = recording_rewind(rec, e);
	if (!r && !rec->events.n)
		return err_set(
			e, ERR_FORMAT,
			"%s: no event attributes could be read (written by another perf?)",
			rec->name);
	return r;
}

/* Return the recording, or close it if r is an error. */
static int opened(struct recording **out, struct recording *rec, int r)
{
	if (r)
		recording_close(rec);
	else
		*out = rec;
	return r;
}

int recording_open(struct recording **out, const char *path, struct err *e)
{
	return recording_open_as(out, path, strcmp(path, "-") ? path : "stdin", e);
}

int recording_open_as(struct recording **out, const char *path, const char *name, struct err *e)
{
	struct recording *rec = NULL;
	*out = NULL;
	int r = reader_new(&rec, name, e);
	if (r)
		return r;
	r = open_source(rec, path, e);
	if (!r)
		r = open_contents(rec, path, e);
	if (!r)
		r = listed_files_load(rec, path, e);
	return opened(out, rec, r);
}

int recording_open_source(struct recording **out, struct source *src, struct err *e)
{
	struct recording *rec = NULL;
	*out = NULL;
	int r = reader_new(&rec, src->name, e);
	if (r) {
		source_close(src);
		return r;
	}
	rec->reader->src = *src;
	*src = (struct source){.fd = -1};
	r = open_contents(rec, rec->name, e);
	return opened(out, rec, r);
}

int recording_open_mem(struct recording **out, const void *p, size_t n, const char *name,
		       struct err *e)
{
	struct recording *rec = NULL;
	*out = NULL;
	int r = reader_new(&rec, name, e);
	if (r)
		return r;
	r = source_open_mem(&rec->reader->src, p, n, name, e);
	if (!r)
		r = open_contents(rec, name, e);
	return opened(out, rec, r);
}

void recording_close(struct recording *rec)
{
	if (!rec)
		return;
	struct reader *rd = rec->reader;
	for (size_t i = 0; i < rd->streams.n; i++) {
		struct stream *st = &rd->streams.v[i];
		inflater_release(&st->inflater);
		chunk_drop(st->feed.chunk);
		source_close(&st->src);
	}
	vec_release(&rd->streams);
	chunk_drop(rd->held);
	source_close(&rd->src);
	mem_free(rd);
	for (size_t i = 0; i < rec->events.n; i++) {
		mem_free(rec->events.v[i].name);
		vec_release(&rec->events.v[i].ids);
	}
	vec_release(&rec->events);
	vec_release(&rec->features.build_ids);
	vec_release(&rec->features.groups);
	vec_release(&rec->features.carried);
	vec_release(&rec->files);
	u64map_release(&rec->by_id);
	arena_release(&rec->strings);
	mem_free(rec);
}

int recording_is_stream(const struct recording *rec)
{
	return !source_is_file(&rec->reader->src);
}

int recording_rewind(struct recording *rec, struct err *e)
{
	struct reader *rd = rec->reader;
	if (recording_is_stream(rec))
		return err_set(e, ERR_UNSUPPORTED, "%s: a pipe cannot be read twice",
			       rec->name);
	rd->has_pending = 0;
	struct recording_stats was = rec->stats;
	rec->stats = (struct recording_stats){.bad = rd->bad};
	if (!rec->pipe_mode) { /* keep a cut that the header shows */
		memcpy(rec->stats.truncated, was.truncated, sizeof(was.truncated));
		rec->stats.missing_bytes = was.missing_bytes;
		rec->stats.joined = was.joined;
	}
	streams_start(rec);
	return 0;
}

const void *recording_file(const struct recording *rec, size_t *n)
{
	const struct source *src = &rec->reader->src;
	*n = (size_t)src->size;
	return src->mapped ? src->data : NULL;
}

int recording_is_plain(const struct recording *rec)
{
	return source_is_file(&rec->reader->src) && !rec->compressed &&
	       !(rec->features.bits[0] >> HEADER_COMPRESSED & 1);
}

int recording_is_mapped(const struct recording *rec)
{
	return source_is_mapped(&rec->reader->src) && recording_is_plain(rec);
}

int recording_holds(const struct recording *rec, const void *p)
{
	const struct source *src = &rec->reader->src;
	uintptr_t at = (uintptr_t)p, data = (uintptr_t)src->data;
	return data && at >= data && at - data < src->size;
}
