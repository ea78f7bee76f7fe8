/*
 * perfwriter.h - writes perf.data images into memory, for tests only.
 *
 * The counterpart of libparse: what a test puts in here, the reader must give back. It writes
 * what no perf on one machine would: every attr size, both byte orders, every sample_type bit,
 * every record type, torn tails. It stands on base alone and shares no code or table with
 * libparse, so an error in one is not hidden by the same error in the other; tests/cli/
 * perfwriter.sh has perf itself read the images.
 *
 * Layouts are those of include/uapi/linux/perf_event.h (kernel records; up to
 * CALLCHAIN_DEFERRED), tools/lib/perf/include/perf/event.h (perf's own records from 64 on) and
 * tools/perf/Documentation/perf.data-file-format.txt (header, features, pipe mode).
 *
 *	struct pw w;
 *	struct buf image = {0};
 *	static const uint64_t ids[] = {11};
 *	uint64_t chain[] = {PW_CONTEXT_USER, 0x401136, 0x401200};
 *
 *	pw_begin(&w, &(struct pw_config){.mode = PW_FILE});
 *	pw_attr(&w, &(struct pw_attr){.type = 1, .config = 0, .name = "cpu-clock",
 *				      .sample_type = PW_S_IP | PW_S_TID | PW_S_TIME |
 *						     PW_S_CALLCHAIN,
 *				      .flags = PW_SAMPLE_ID_ALL, .ids = ids, .nids = 1});
 *	pw_feature_string(&w, PW_FEAT_HOSTNAME, "host");
 *	struct pw_id at = {.pid = 7, .tid = 7, .time = 100};
 *	pw_comm(&w, &at, 7, 7, "server", 0);
 *	pw_mmap2(&w, &at, &(struct pw_mmap){.pid = 7, .tid = 7, .addr = 0x401000,
 *					    .len = 0x1000, .pgoff = 0x1000, .prot = 5,
 *					    .filename = "/bin/server"});
 *	pw_sample(&w, 0, &(struct pw_sample){.misc = PW_MISC_USER, .ip = 0x401136, .pid = 7,
 *					     .tid = 7, .time = 200, .ips = chain, .nips = 3});
 *	assert(!pw_finish(&w, &image));        // image.v, image.n
 *	buf_release(&image);
 *
 * Errors are sticky: every call after a failed one does nothing, pw_finish reports it. All
 * pointers handed in are copied, or used only during the call.
 */
#ifndef TESTS_LIB_PERFWRITER_H
#define TESTS_LIB_PERFWRITER_H

#include "base/text/buf.h"
#include "base/vec.h"

#include <stddef.h>
#include <stdint.h>

/* PERF_SAMPLE_* by bit. */
enum {
	PW_S_IP = 1 << 0,
	PW_S_TID = 1 << 1,
	PW_S_TIME = 1 << 2,
	PW_S_ADDR = 1 << 3,
	PW_S_READ = 1 << 4,
	PW_S_CALLCHAIN = 1 << 5,
	PW_S_ID = 1 << 6,
	PW_S_CPU = 1 << 7,
	PW_S_PERIOD = 1 << 8,
	PW_S_STREAM_ID = 1 << 9,
	PW_S_RAW = 1 << 10,
	PW_S_BRANCH_STACK = 1 << 11,
	PW_S_REGS_USER = 1 << 12,
	PW_S_STACK_USER = 1 << 13,
	PW_S_WEIGHT = 1 << 14,
	PW_S_DATA_SRC = 1 << 15,
	PW_S_IDENTIFIER = 1 << 16,
	PW_S_TRANSACTION = 1 << 17,
	PW_S_REGS_INTR = 1 << 18,
	PW_S_PHYS_ADDR = 1 << 19,
	PW_S_AUX = 1 << 20,
	PW_S_CGROUP = 1 << 21,
	PW_S_DATA_PAGE_SIZE = 1 << 22,
	PW_S_CODE_PAGE_SIZE = 1 << 23,
	PW_S_WEIGHT_STRUCT = 1 << 24,
	PW_S_BITS = 25,
};

/* PERF_FORMAT_* (read_format). */
enum {
	PW_R_TIME_ENABLED = 1,
	PW_R_TIME_RUNNING = 2,
	PW_R_ID = 4,
	PW_R_GROUP = 8,
	PW_R_LOST = 16,
};

/* PERF_SAMPLE_BRANCH_* bits that change the layout, and ANY so that perf accepts the attr. */
#define PW_BRANCH_USER (1ull << 0)
#define PW_BRANCH_ANY (1ull << 3)
#define PW_BRANCH_CALL_STACK (1ull << 11)
#define PW_BRANCH_HW_INDEX (1ull << 17)
#define PW_BRANCH_COUNTERS (1ull << 19)

/* The bit field of perf_event_attr, bit number = declaration order (a big-endian machine keeps
 * them mirrored in each byte; the writer does that). */
#define PW_DISABLED (1ull << 0)
#define PW_INHERIT (1ull << 1)
#define PW_EXCLUDE_KERNEL (1ull << 5)
#define PW_MMAP (1ull << 8)
#define PW_COMM (1ull << 9)
#define PW_FREQ (1ull << 10)
#define PW_ENABLE_ON_EXEC (1ull << 12)
#define PW_TASK (1ull << 13)
#define PW_MMAP_DATA (1ull << 17)
#define PW_SAMPLE_ID_ALL (1ull << 18)
#define PW_MMAP2 (1ull << 23)
#define PW_COMM_EXEC (1ull << 24)
#define PW_USE_CLOCKID (1ull << 25)
#define PW_CONTEXT_SWITCH (1ull << 26)
#define PW_NAMESPACES (1ull << 28)
#define PW_KSYMBOL (1ull << 29)
#define PW_BPF_EVENT (1ull << 30)
#define PW_CGROUP_BIT (1ull << 32)
#define PW_TEXT_POKE_BIT (1ull << 33)
#define PW_BUILD_ID_BIT (1ull << 34)
#define PW_DEFER_CALLCHAIN (1ull << 38)
#define PW_DEFER_OUTPUT (1ull << 39)

/* Record types. */
enum {
	PW_MMAP_REC = 1,
	PW_LOST = 2,
	PW_COMM_REC = 3,
	PW_EXIT = 4,
	PW_THROTTLE = 5,
	PW_UNTHROTTLE = 6,
	PW_FORK = 7,
	PW_READ = 8,
	PW_SAMPLE = 9,
	PW_MMAP2_REC = 10,
	PW_AUX = 11,
	PW_ITRACE_START = 12,
	PW_LOST_SAMPLES = 13,
	PW_SWITCH = 14,
	PW_SWITCH_CPU_WIDE = 15,
	PW_NAMESPACES_REC = 16,
	PW_KSYMBOL_REC = 17,
	PW_BPF_EVENT_REC = 18,
	PW_CGROUP = 19,
	PW_TEXT_POKE = 20,
	PW_AUX_OUTPUT_HW_ID = 21,
	PW_CALLCHAIN_DEFERRED = 22,
	PW_HEADER_ATTR = 64,
	PW_HEADER_EVENT_TYPE = 65,
	PW_HEADER_TRACING_DATA = 66,
	PW_HEADER_BUILD_ID = 67,
	PW_FINISHED_ROUND = 68,
	PW_ID_INDEX = 69,
	PW_AUXTRACE_INFO = 70,
	PW_AUXTRACE = 71,
	PW_AUXTRACE_ERROR = 72,
	PW_THREAD_MAP = 73,
	PW_CPU_MAP = 74,
	PW_STAT_CONFIG = 75,
	PW_STAT = 76,
	PW_STAT_ROUND = 77,
	PW_EVENT_UPDATE = 78,
	PW_TIME_CONV = 79,
	PW_HEADER_FEATURE = 80,
	PW_COMPRESSED = 81,
	PW_FINISHED_INIT = 82,
	PW_COMPRESSED2 = 83,
	PW_BPF_METADATA = 84,
	PW_SCHEDSTAT_CPU = 85,
	PW_SCHEDSTAT_DOMAIN = 86,
};

/* header.misc */
enum {
	PW_MISC_UNKNOWN = 0,
	PW_MISC_KERNEL = 1,
	PW_MISC_USER = 2,
	PW_MISC_HYPERVISOR = 3,
	PW_MISC_GUEST_KERNEL = 4,
	PW_MISC_GUEST_USER = 5,
	PW_MISC_MMAP_DATA = 1 << 13,
	PW_MISC_COMM_EXEC = 1 << 13,
	PW_MISC_SWITCH_OUT = 1 << 13,
	PW_MISC_EXACT_IP = 1 << 14,
	PW_MISC_MMAP_BUILD_ID = 1 << 14,
	PW_MISC_SWITCH_OUT_PREEMPT = 1 << 14,
};

/* Markers inside callchains. */
#define PW_CONTEXT_KERNEL ((uint64_t)-128)
#define PW_CONTEXT_USER ((uint64_t)-512)
#define PW_CONTEXT_USER_DEFERRED ((uint64_t)-640) /* the next entry is the cookie */
#define PW_CONTEXT_GUEST_KERNEL ((uint64_t)-2176)

/* Feature sections (header bits). */
enum {
	PW_FEAT_TRACING_DATA = 1,
	PW_FEAT_BUILD_ID = 2,
	PW_FEAT_HOSTNAME = 3,
	PW_FEAT_OSRELEASE = 4,
	PW_FEAT_VERSION = 5,
	PW_FEAT_ARCH = 6,
	PW_FEAT_NRCPUS = 7,
	PW_FEAT_CPUDESC = 8,
	PW_FEAT_CPUID = 9,
	PW_FEAT_TOTAL_MEM = 10,
	PW_FEAT_CMDLINE = 11,
	PW_FEAT_EVENT_DESC = 12,
	PW_FEAT_GROUP_DESC = 17,
	PW_FEAT_SAMPLE_TIME = 21,
	PW_FEAT_CLOCKID = 23,
	PW_FEAT_COMPRESSED = 27,
	PW_FEAT_CLOCK_DATA = 29,
};

enum pw_mode {
	PW_FILE,    /* PERFILE2: header, ids, attrs, data, features */
	PW_FILE_V1, /* PERFFILE: the same with a table of event names (perf before 3.2) */
	PW_PIPE,    /* 16-byte header, then records only */
};

struct pw_config {
	enum pw_mode mode;
	int big_endian;      /* the machine that "recorded" it */
	uint32_t attr_size;  /* attr.size of all events: 64, 72, 80, 96 … 152; 0 = 128 */
	int cut;             /* file mode: as left by a killed perf: data.size 0, no features */
	int zstd_level;      /* for compressed stretches; 0 = 1 */
	int zstd_chunk;      /* bytes of records per COMPRESSED record; 0 = 4096 */
	int zstd_end_frames; /* end the zstd frame with each record instead of flushing it */
};

struct pw_attr {
	uint32_t type;
	uint64_t config, period, sample_type, read_format, flags;
	uint32_t wakeup, bp_type;
	uint64_t config1, config2, branch_sample_type, regs_user;
	uint32_t stack_user;
	int32_t clockid;
	uint64_t regs_intr;
	uint32_t aux_watermark;
	uint16_t max_stack;
	uint32_t aux_sample_size;
	uint64_t sig_data, config3, config4, config5;
	const char *name; /* for EVENT_DESC, EVENT_UPDATE, v1's event_types; NULL = none */
	const uint64_t *ids;
	size_t nids;
};

struct pw_feature {
	int id;
	struct buf data;
};

/* A writer. Everything in it is private. */
struct pw {
	struct pw_config cfg;
	VEC(struct pw_attr) attrs; /* name and ids are heap copies */
	VEC(struct pw_feature) features;
	struct buf data;  /* records, in the file's byte order */
	struct buf plain; /* records waiting for compression */
	struct buf *to;   /* where records go: &data or &plain */
	size_t start;     /* offset of the open record in *to */
	void *zstd;       /* ZSTD_CStream */
	int compress_as;  /* record type of the open compressed stretch; 0 = none */
	int failed;
};

void pw_begin(struct pw *w, const struct pw_config *cfg);

/* Add an event; the indices 0, 1, … are what pw_sample and pw_id.attr mean. */
void pw_attr(struct pw *w, const struct pw_attr *a);

/* Compose the image into *out (appended) and release the writer. 0 or ERR_*. */
int pw_finish(struct pw *w, struct buf *out);

/* Release without an image. */
void pw_abort(struct pw *w);

/* --- samples --------------------------------------------------------------------------- */

struct pw_read_value {
	uint64_t value, id, lost;
};

struct pw_branch {
	uint64_t from, to;
	uint8_t mispred, predicted, in_tx, abort, type; /* type: 4 bits, PERF_BR_* */
	uint16_t cycles;
	uint64_t counters; /* with PW_BRANCH_COUNTERS */
};

/* Fields the attr's sample_type does not ask for are not written. */
struct pw_sample {
	uint16_t misc;
	uint64_t ip, time, addr, id, stream_id, period;
	uint32_t pid, tid, cpu;
	const struct pw_read_value *values; /* nvalues is 1 unless PW_R_GROUP */
	size_t nvalues;
	uint64_t time_enabled, time_running;
	const uint64_t *ips;
	size_t nips;
	const void *raw;   /* already in the file's byte order */
	uint32_t raw_size; /* any; padded as the kernel does, so that 4 + size is 8-aligned */
	const struct pw_branch *branches;
	size_t nbranches;
	uint64_t hw_idx;
	uint64_t user_abi, intr_abi;           /* 0: no registers follow */
	const uint64_t *user_regs, *intr_regs; /* one per bit of the attr's mask */
	const void *stack;
	uint64_t stack_size, stack_dyn; /* dyn is written only when size is not 0 */
	uint64_t weight;                /* the whole word, also for WEIGHT_STRUCT */
	uint64_t data_src, txn, phys_addr, cgroup, data_page_size, code_page_size;
	const void *aux;
	uint64_t aux_size; /* multiple of 8 */
};

void pw_sample(struct pw *w, size_t attr, const struct pw_sample *s);

/* --- other records ----------------------------------------------------------------------
 * `id` is the sample_id trailer, written when the event `id->attr` has PW_SAMPLE_ID_ALL and in
 * the fields its sample_type asks for; NULL = no trailer (records perf made up itself still
 * have one when sample_id_all is on). */

struct pw_id {
	size_t attr;
	uint32_t pid, tid, cpu;
	uint64_t time, id, stream_id;
};

struct pw_mmap {
	uint16_t misc; /* PW_MISC_USER when 0 */
	uint32_t pid, tid;
	uint64_t addr, len, pgoff;
	uint32_t maj, min, prot, flags;
	uint64_t ino, ino_generation;
	const uint8_t *build_id; /* inline build-id instead of maj…ino_generation */
	uint8_t build_id_size;
	const char *filename;
};

void pw_mmap(struct pw *w, const struct pw_id *id, const struct pw_mmap *m);
void pw_mmap2(struct pw *w, const struct pw_id *id, const struct pw_mmap *m);
void pw_comm(struct pw *w, const struct pw_id *id, uint32_t pid, uint32_t tid, const char *comm,
	     int exec);
void pw_fork(struct pw *w, const struct pw_id *id, uint32_t pid, uint32_t ppid, uint32_t tid,
	     uint32_t ptid, uint64_t time);
void pw_exit(struct pw *w, const struct pw_id *id, uint32_t pid, uint32_t ppid, uint32_t tid,
	     uint32_t ptid, uint64_t time);
void pw_lost(struct pw *w, const struct pw_id *id, uint64_t event_id, uint64_t lost);
void pw_lost_samples(struct pw *w, const struct pw_id *id, uint64_t lost);
/* type PW_THROTTLE or PW_UNTHROTTLE */
void pw_throttle(struct pw *w, const struct pw_id *id, int type, uint64_t time,
		 uint64_t event_id, uint64_t stream_id);
/* A READ record with the read_format of event `attr`. */
void pw_read(struct pw *w, const struct pw_id *id, size_t attr, uint32_t pid, uint32_t tid,
	     const struct pw_sample *values);
void pw_aux(struct pw *w, const struct pw_id *id, uint64_t offset, uint64_t size,
	    uint64_t flags);
void pw_itrace_start(struct pw *w, const struct pw_id *id, uint32_t pid, uint32_t tid);
/* misc: PW_MISC_SWITCH_OUT, | PW_MISC_SWITCH_OUT_PREEMPT */
void pw_switch(struct pw *w, const struct pw_id *id, uint16_t misc);
void pw_switch_cpu_wide(struct pw *w, const struct pw_id *id, uint16_t misc,
			uint32_t next_prev_pid, uint32_t next_prev_tid);
/* dev_ino: 2 * n words */
void pw_namespaces(struct pw *w, const struct pw_id *id, uint32_t pid, uint32_t tid,
		   const uint64_t *dev_ino, size_t n);
void pw_ksymbol(struct pw *w, const struct pw_id *id, uint64_t addr, uint32_t len,
		uint16_t type, uint16_t flags, const char *name);
void pw_bpf_event(struct pw *w, const struct pw_id *id, uint16_t type, uint16_t flags,
		  uint32_t prog_id, const uint8_t tag[8]);
void pw_cgroup(struct pw *w, const struct pw_id *id, uint64_t cgroup, const char *path);
void pw_text_poke(struct pw *w, const struct pw_id *id, uint64_t addr, const void *old_bytes,
		  uint16_t old_len, const void *new_bytes, uint16_t new_len);
void pw_aux_output_hw_id(struct pw *w, const struct pw_id *id, uint64_t hw_id);
void pw_callchain_deferred(struct pw *w, const struct pw_id *id, uint64_t cookie,
			   const uint64_t *ips, size_t n);

/* perf's own records. None has a trailer. */
void pw_finished_round(struct pw *w);
void pw_finished_init(struct pw *w);
void pw_event_type(struct pw *w, uint64_t event_id, const char *name);
void pw_build_id(struct pw *w, uint16_t misc, uint32_t pid, const uint8_t *id, size_t n,
		 const char *filename);
/* entries: 4 words each: id, idx, cpu, tid */
void pw_id_index(struct pw *w, const uint64_t *entries, size_t n);
void pw_auxtrace_info(struct pw *w, uint32_t type, const uint64_t *priv, size_t n);
/* The record and, outside header.size, the payload of `size` bytes behind it. */
void pw_auxtrace(struct pw *w, const void *payload, uint64_t size, uint32_t idx, uint32_t tid,
		 uint32_t cpu);
void pw_auxtrace_error(struct pw *w, uint32_t type, uint32_t code, uint32_t cpu, uint32_t pid,
		       uint32_t tid, uint64_t ip, uint64_t time, const char *msg);
void pw_thread_map(struct pw *w, const uint64_t *pids, const char *const *comms, size_t n);
void pw_cpu_map(struct pw *w, const uint16_t *cpus, uint16_t n);
void pw_stat_config(struct pw *w, const uint64_t *tag_val, size_t n);
void pw_stat(struct pw *w, uint64_t id, uint32_t cpu, uint32_t thread, uint64_t val,
	     uint64_t ena, uint64_t run);
void pw_stat_round(struct pw *w, uint64_t type, uint64_t time);
/* The name of an event, as pipe mode and perf stat send it (EVENT_UPDATE, type NAME = 2). */
void pw_event_update_name(struct pw *w, uint64_t id, const char *name);
void pw_time_conv(struct pw *w, uint64_t shift, uint64_t mult, uint64_t zero);
void pw_bpf_metadata(struct pw *w, const char *prog, const char *key, const char *value);

/* A record of any type, field by field: begin, put, end. `id` as above. */
void pw_rec_begin(struct pw *w, uint32_t type, uint16_t misc);
void pw_u8(struct pw *w, uint8_t x);
void pw_u16(struct pw *w, uint16_t x);
void pw_u32(struct pw *w, uint32_t x);
void pw_u64(struct pw *w, uint64_t x);
void pw_bytes(struct pw *w, const void *p, size_t n);
/* The string with its NUL, then zeroes up to the next multiple of 8 (since the record began).
 */
void pw_string8(struct pw *w, const char *s);
void pw_rec_end(struct pw *w, const struct pw_id *id);

/* Bytes into the data as they are: garbage, a torn record. */
void pw_raw(struct pw *w, const void *p, size_t n);

/*
 * Compressed stretch: records between these two go through one zstd stream (the same for all
 * stretches of a file, as perf does) into COMPRESSED (or COMPRESSED2) records of zstd_chunk
 * plain bytes each, so records straddle them. Adds the COMPRESSED feature.
 */
void pw_compress_begin(struct pw *w, int type);
void pw_compress_end(struct pw *w);

/* --- feature sections; in pipe mode they become HEADER_FEATURE records ------------------- */

void pw_feature(struct pw *w, int feature, const void *p, size_t n);
void pw_feature_string(struct pw *w, int feature, const char *s);
void pw_feature_nrcpus(struct pw *w, uint32_t online, uint32_t available);
void pw_feature_u64s(struct pw *w, int feature, const uint64_t *v, size_t n);
void pw_feature_cmdline(struct pw *w, const char *const *argv, size_t n);
/* From the events added so far; every one needs a name. */
void pw_feature_event_desc(struct pw *w);
/* leader, members: one per group. */
void pw_feature_group_desc(struct pw *w, const char *const *names, const uint32_t *leader,
			   const uint32_t *members, size_t n);
/* clockid and the (wall clock, recording clock) pair, ns. */
void pw_feature_clock_data(struct pw *w, uint32_t clockid, uint64_t wall, uint64_t clock);
/* Adds one entry to the BUILD_ID section (pipe mode: a BUILD_ID record now). size 0 = written
 * without the size flag, as perf before 5.9 did. */
void pw_feature_build_id(struct pw *w, uint16_t misc, uint32_t pid, const uint8_t *id,
			 uint8_t size, const char *filename);

/* One event of one system, `format` as in tracefs events/SYSTEM/NAME/format. */
struct pw_tracepoint {
	const char *system;
	const char *format;
};

/* The TRACING_DATA section (pipe mode: the record). Equal systems must stand together. */
void pw_feature_tracing_data(struct pw *w, const struct pw_tracepoint *tp, size_t n);

/* Add n events SYSTEM:names[i] with the attributes of `how`, tracepoint id PW_TRACEPOINT_ID + i
 * and sample id 11 + i, their formats (`common`, then fields[i]) and EVENT_DESC. */
enum { PW_TRACEPOINTS = 4, PW_TRACEPOINT_ID = 300 };
void pw_tracepoints(struct pw *w, const char *system, const char *const *names,
		    const char *common, const char *const *fields, size_t n,
		    const struct pw_attr *how);

#endif
