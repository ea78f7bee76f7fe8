/*
 * reader.h - internal to libparse: bytes → records.
 *
 *	source ──feed──► outer records ──inflate──► records inside COMPRESSED
 *
 * A feed hands out contiguous bytes: straight from the mapping, or from chunks of heap memory
 * that are filled from a pipe or a file that is read in pieces. The inflater does the same for
 * zstd data. A record that a chunk's end cuts is carried over to the next chunk.
 */
#ifndef LIBPARSE_READER_H
#define LIBPARSE_READER_H

#include "libparse/recording.h"

#include <zstd.h>
#include <zstd_errors.h>

struct chunk {
	uint32_t refs;
	size_t size; /* bytes in data */
	uint8_t data[];
};

struct feed {
	struct source *src; /* NULL: mapped range only */
	const uint8_t *p, *end;
	uint64_t offset;     /* file offset of p */
	uint64_t unread;     /* bytes after `end`, of a file that is read in pieces */
	struct chunk *chunk; /* holds p for a stream */
	int eof;
};

/* At least n contiguous bytes at f->p: 1, 0 when the input ends before, < 0 on a read error. */
int feed_need(struct feed *f, size_t n, struct err *e);

/* Skip n bytes without keeping them; 1, 0 at the end, < 0. */
int feed_skip(struct feed *f, uint64_t n, struct err *e);

/* Bytes from f->p to the end; of a pipe only those that were read. */
static inline uint64_t feed_left(const struct feed *f)
{
	return (uint64_t)(f->end - f->p) + f->unread;
}

static inline void feed_advance(struct feed *f, size_t n)
{
	f->p += n;
	f->offset += n;
}

struct inflater {
	uint64_t allowed; /* bytes allowed from one outermost file; 0: any */
	ZSTD_DStream *zstd;
	struct chunk *chunk;
	uint8_t *p, *end; /* inflated and not yet handed out, inside chunk */
	ZSTD_inBuffer in; /* the rest of one compressed record */
	uint64_t offset;  /* of that record */
	int more;         /* it has more output */
	int corrupt;      /* … which cannot be read */
	int lost;         /* data was left out: what follows is useless until a frame begins */
	uint64_t taken, given;
};

/* The next n bytes of zstd data, from the record at `offset`: borrowed until inflater_more
 * returns anything but 1. 0, ERR_NOMEM, or ERR_FORMAT if it continues data that was left
 * out. */
int inflater_push(struct inflater *z, const uint8_t *p, size_t n, uint64_t offset,
		  struct err *e);

/*
 * Inflate the next piece, after what is still unread: a few bytes may expand to gigabytes. 1, 0
 * when nothing is left, ERR_FORMAT (damaged data; what was inflated before stays readable),
 * ERR_LIMIT, ERR_NOMEM.
 */
int inflater_more(struct inflater *z, struct err *e);
void inflater_release(struct inflater *z);

enum { MAX_STREAMS = 4096 };

/* One run of records: the data section, or one data file of a directory. */
struct stream {
	struct source src; /* a directory's data file; else unused */
	struct feed feed;
	struct inflater inflater;
	uint64_t data_start, data_end; /* of a file */
	uint64_t skip;                 /* bytes of an AUX area before the next record */
};

struct reader {
	struct source src;
	VEC(struct stream) streams;
	size_t current;
	struct record pending; /* first record after a pipe's header, already read */
	int has_pending;
	struct chunk *held;     /* memory of the last record's view, until the next call */
	uint64_t header_seen;   /* header records below this offset were applied */
	size_t events_finished; /* the first ones, done by header_finish_events */
	int header_ended;       /* a pipe's: another record came; no more events */
	struct bad_records bad; /* feature sections and header records, counted once */
};

/* Where the stream's bytes come from. */
static inline struct source *stream_source(struct reader *rd, struct stream *st)
{
	return source_is_file(&st->src) ? &st->src : &rd->src;
}

enum { PIPE_HEADER_SIZE = 16 };

/* header.c: file header, attrs, features. */
int header_read_file(struct recording *rec, struct err *e);
/* 1 when a recording begins with these 8 bytes. */
int header_is_magic(const uint8_t *p);
/* 1 when these 16 bytes are a pipe's header, or no header at all. */
int header_is_pipe(const uint8_t *p);
int header_read_pipe_magic(struct recording *rec, struct err *e);
int header_apply_record(struct recording *rec, const struct record *r, struct err *e);
/* Count a bad section or header record: once, even if the recording is read again. */
void header_note_bad(struct recording *rec, uint64_t at, const struct err *why);
int header_finish_events(struct recording *rec, struct err *e);
/* Name an event, which is repeated in answers: cut by long_name. ERR_NOMEM. */
int header_name_event(struct event *ev, const char *name, size_t n);

/* feature.c: one section's bytes into rec->features. Damage leaves fields unset and is
 * at most ERR_FORMAT; ERR_NOMEM is not damage. */
int feature_parse(struct recording *rec, unsigned bit, const uint8_t *p, uint64_t n,
		  struct err *e);

#endif
