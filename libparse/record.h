/*
 * record.h - one record of the data section: its header, and the side-band records decoded.
 *
 * A record is a view into the recording's bytes; nothing is copied. Side-band records (mmap,
 * comm, fork, …) give a sample's numbers their meaning; samples themselves are in sample.h.
 * Source: enum perf_event_type in include/uapi/linux/perf_event.h.
 */
#ifndef LIBPARSE_RECORD_H
#define LIBPARSE_RECORD_H

#include "base/bytes.h"
#include "libparse/attr.h"

struct chunk;

enum { RECORD_HEADER_SIZE = 8 };

/* A view, valid as long as its chunk (or, without one, the recording) lives. */
struct record {
	const uint8_t *p; /* the record's header; `size` bytes are readable */
	uint32_t type;
	uint16_t misc;
	uint16_t size;   /* including the header, ≥ RECORD_HEADER_SIZE */
	uint64_t offset; /* in the file; for inflated records that of the compressed one */
	struct chunk
		*chunk;  /* memory that p points into if the file is not mapped, else NULL */
	uint32_t stream; /* directory mode: which data file; else 0 */
	const uint8_t *extra; /* HEADER_TRACING_DATA, AUXTRACE: bytes after the record … */
	uint64_t extra_size;  /* … and how many; NULL when a stream skipped them */
};

/* The record at p, where 8 bytes are readable. Returns its size, unchecked. */
static inline uint16_t record_view(const uint8_t *p, int swap, struct record *r)
{
	*r = (struct record){.p = p,
			     .type = load_u32(p, swap),
			     .misc = load_u16(p + 4, swap),
			     .size = load_u16(p + 6, swap)};
	return r->size;
}

/* perf's name of a record type ("MMAP2", "FINISHED_ROUND"), or NULL for an unknown number. */
const char *record_type_name(uint32_t type);

/* 1 for records about threads and mappings. */
int record_is_sideband(uint32_t type);

/* struct sample_id: the end of every side-band record when sample_id_all is set. */
struct record_id {
	int32_t pid, tid;
	uint32_t cpu; /* UINT32_MAX when not recorded */
	int has_tid, has_time;
	uint64_t time; /* ns on the recording's clock */
	uint64_t id;   /* 0 when not recorded */
	const struct event *
		event; /* set by recording_id: the event whose layout the record has, or NULL */
};

/* Decode the trailer laid out as `ev` says. Missing or short trailers leave has_* at 0. */
void record_id_decode(const struct record *r, const struct event *ev, int swap,
		      struct record_id *out);

/* PERF_RECORD_MMAP and MMAP2: `filename` is borrowed and NUL-terminated inside the record. */
struct record_mmap {
	int32_t pid, tid;
	uint64_t addr, len, pgoff;
	uint32_t prot;  /* PROT_*; MMAP: PROT_EXEC unless the misc bit MMAP_DATA is set */
	uint32_t flags; /* MAP_*; 0 for MMAP */
	uint64_t ino;   /* 0 when a build-id replaces it, and for MMAP */
	uint64_t ino_generation; /* of the inode number; 0 if perf found the mapping in /proc */
	uint32_t dev_major, dev_minor; /* of the file system; valid with ino */
	uint8_t build_id_size;
	uint8_t build_id[20];
	const char *filename;
};

struct record_comm {
	int32_t pid, tid;
	int exec; /* the comm was set by execve, which also replaced the address space */
	const char *comm;
};

struct record_task { /* FORK, EXIT */
	int32_t pid, ppid, tid, ptid;
	uint64_t time;
};

struct record_switch { /* SWITCH, SWITCH_CPU_WIDE */
	int out, preempt;
	int cpu_wide;
	int32_t next_prev_pid, next_prev_tid; /* CPU_WIDE: the other side of the switch */
};

struct record_ksymbol {
	uint64_t addr;
	uint32_t len;
	uint16_t ksym_type, flags; /* flags bit 0: unregistered */
	const char *name;
};

struct record_namespaces {
	int32_t pid, tid;
	uint64_t mount; /* inode number of the mount namespace; 0: not recorded */
};

struct record_cgroup {
	uint64_t id;
	const char *path; /* below the cgroup root: "/", "/system.slice/…" */
};

struct record_lost {
	uint64_t id, lost; /* LOST_SAMPLES: id 0 */
};

struct record_build_id { /* PERF_RECORD_HEADER_BUILD_ID and entries of the feature */
	int32_t pid;
	uint16_t misc;
	uint8_t size;
	uint8_t id[20];
	const char *filename;
};

/*
 * Each decodes one type. 0, or ERR_FORMAT with "<type> at 0x<offset>: <why>"; *out is then
 * unspecified. Strings are checked to end inside the record.
 */
int record_mmap_decode(const struct record *r, int swap, struct record_mmap *out,
		       struct err *e);
int record_comm_decode(const struct record *r, int swap, struct record_comm *out,
		       struct err *e);
int record_task_decode(const struct record *r, int swap, struct record_task *out,
		       struct err *e);
int record_switch_decode(const struct record *r, int swap, struct record_switch *out,
			 struct err *e);
int record_ksymbol_decode(const struct record *r, int swap, struct record_ksymbol *out,
			  struct err *e);
int record_namespaces_decode(const struct record *r, int swap, struct record_namespaces *out,
			     struct err *e);
int record_cgroup_decode(const struct record *r, int swap, struct record_cgroup *out,
			 struct err *e);
int record_lost_decode(const struct record *r, int swap, struct record_lost *out,
		       struct err *e);
int record_build_id_decode(const struct record *r, int swap, struct record_build_id *out,
			   struct err *e);

#endif
