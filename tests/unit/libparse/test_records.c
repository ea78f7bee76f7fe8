/* libparse: side-band records and their sample_id trailers, in both byte orders, from a file,
 * a pipe and a compressed stretch. */
#include "tests/lib/perfwriter.h"
#include "tests/lib/unit.h"

#include "base/bytes.h"
#include "libparse/recording.h"
#include "libparse/sample.h"

enum container {
	FILE_LE,
	FILE_BE,
	PIPE_LE,
	PIPE_BE,
	ZSTD_LE,
	CONTAINERS,
};

static const uint64_t ids[] = {11};
static const uint8_t build_id[20] = {0xab, 0xcd, 3,  4,  5,  6,  7,  8,  9,  10,
				     11,   12,   13, 14, 15, 16, 17, 18, 19, 20};
static const struct pw_id at = {
	.pid = 7, .tid = 8, .cpu = 3, .time = 0x1122334455667788, .id = 11, .stream_id = 99};

/* Write with `put`, open, and leave the recording at its first record. */
struct opened {
	struct buf image;
	struct recording *rec;
	struct record r;
	struct err e;
};

static void open_with(struct opened *o, enum container c, uint64_t sample_type, uint64_t flags,
		      void (*put)(struct pw *))
{
	struct pw w;
	memset(o, 0, sizeof(*o));
	pw_begin(&w, &(struct pw_config){
			     .mode = c == PIPE_LE || c == PIPE_BE ? PW_PIPE : PW_FILE,
			     .big_endian = c == FILE_BE || c == PIPE_BE,
			     .zstd_chunk = 37,
		     });
	pw_attr(&w, &(struct pw_attr){.type = 1,
				      .sample_type = sample_type,
				      .flags = flags,
				      .read_format = PW_R_ID,
				      .ids = ids,
				      .nids = 1});
	if (c == ZSTD_LE)
		pw_compress_begin(&w, PW_COMPRESSED);
	put(&w);
	if (c == ZSTD_LE)
		pw_compress_end(&w);
	assert_int_equal(pw_finish(&w, &o->image), 0);
	assert_int_equal(recording_open_mem(&o->rec, o->image.v, o->image.n, "image", &o->e),
			 0);
}

/* The next record that is not part of a pipe's header. */
static void next_of(struct opened *o, uint32_t type)
{
	int got;
	while ((got = recording_next(o->rec, &o->r, &o->e)) == 1)
		if (o->r.type != PERF_RECORD_HEADER_ATTR &&
		    o->r.type != PERF_RECORD_HEADER_FEATURE)
			break;
	assert_int_equal(got, 1);
	assert_int_equal(o->r.type, type);
}

static void close_opened(struct opened *o)
{
	assert_int_equal(recording_next(o->rec, &o->r, &o->e), 0);
	assert_int_equal(o->rec->stats.bad.n, 0);
	assert_int_equal(o->rec->stats.torn_bytes, 0);
	recording_close(o->rec);
	buf_release(&o->image);
}

enum { WHO = PW_S_IP | PW_S_TID | PW_S_TIME | PW_S_ID | PW_S_CPU | PW_S_STREAM_ID };

/* Disks whose files' mappings claim to have build-ids. */
enum { DISKS = 6, SNAP = 4 };
static const uint32_t disks[DISKS] = {0, 8, 254, 259, 7, 8}; /* from SNAP on, as of squashfs */

static void put_maps(struct pw *w)
{
	struct pw_mmap m = {.pid = 7,
			    .tid = 8,
			    .addr = 0x7f0000001000,
			    .len = 0x2000,
			    .pgoff = 0x3000,
			    .prot = 5,
			    .flags = 2,
			    .maj = 8,
			    .min = 1,
			    .ino = 99,
			    .ino_generation = 3,
			    .filename = "/usr/lib/x.so"};
	pw_mmap(w, &at, &m);
	m.misc = PW_MISC_USER | PW_MISC_MMAP_DATA;
	pw_mmap(w, &at, &m);
	m.misc = 0;
	pw_mmap2(w, &at, &m);
	m.build_id = build_id;
	m.build_id_size = 20;
	pw_mmap2(w, &at, &m);
	m.build_id_size = 16;
	pw_mmap2(w, &at, &m);
	m.build_id = NULL;
	m.misc = PW_MISC_USER | PW_MISC_MMAP_BUILD_ID;
	for (size_t i = 0; i < DISKS; i++) {
		m.maj = disks[i];
		m.ino_generation = i < SNAP ? 3 : 0;
		pw_mmap2(w, &at, &m);
	}
}

static void check_map(struct opened *o, uint32_t type, struct record_mmap *m)
{
	next_of(o, type);
	assert_int_equal(record_mmap_decode(&o->r, o->rec->swap, m, &o->e), 0);
	assert_int_equal(m->pid, 7);
	assert_int_equal(m->tid, 8);
	assert_int_equal(m->addr, 0x7f0000001000);
	assert_int_equal(m->len, 0x2000);
	assert_int_equal(m->pgoff, 0x3000);
	assert_string_equal(m->filename, "/usr/lib/x.so");
}

static void mmap_and_mmap2_with_and_without_build_id(void **state)
{
	(void)state;
	for (int c = 0; c < CONTAINERS; c++) {
		struct opened o;
		struct record_mmap m;
		open_with(&o, (enum container)c, WHO, PW_SAMPLE_ID_ALL, put_maps);
		check_map(&o, PERF_RECORD_MMAP, &m);
		assert_true(m.prot & 4);
		check_map(&o, PERF_RECORD_MMAP, &m);
		assert_false(m.prot & 4);
		check_map(&o, PERF_RECORD_MMAP2, &m);
		assert_int_equal(m.prot, 5);
		assert_int_equal(m.flags, 2);
		assert_int_equal(m.ino, 99);
		assert_int_equal(m.build_id_size, 0);
		check_map(&o, PERF_RECORD_MMAP2, &m);
		assert_int_equal(m.prot, 5);
		assert_int_equal(m.ino, 0);
		assert_int_equal(m.build_id_size, 20);
		assert_memory_equal(m.build_id, build_id, 20);
		check_map(&o, PERF_RECORD_MMAP2, &m);
		assert_int_equal(m.build_id_size, 16);
		assert_memory_equal(m.build_id, build_id, 16);
		for (size_t i = 0; i < DISKS; i++) {
			check_map(&o, PERF_RECORD_MMAP2, &m);
			assert_int_equal(m.build_id_size, 0);
			assert_int_equal(m.dev_major, disks[i]);
			assert_int_equal(m.ino, 99);
			assert_int_equal(m.prot, 5);
		}
		close_opened(&o);
	}
}

static void put_tasks(struct pw *w)
{
	pw_comm(w, &at, 7, 8, "fifteen letters", 1);
	pw_comm(w, &at, 7, 8, "", 0);
	pw_fork(w, &at, 20, 7, 21, 8, 12345);
	pw_exit(w, &at, 22, 7, 23, 8, 12346);
}

static void comm_fork_exit(void **state)
{
	(void)state;
	for (int c = 0; c < CONTAINERS; c++) {
		struct opened o;
		struct record_comm comm;
		struct record_task t;
		open_with(&o, (enum container)c, WHO, PW_SAMPLE_ID_ALL, put_tasks);
		next_of(&o, PERF_RECORD_COMM);
		assert_int_equal(record_comm_decode(&o.r, o.rec->swap, &comm, &o.e), 0);
		assert_int_equal(comm.pid, 7);
		assert_int_equal(comm.tid, 8);
		assert_true(comm.exec);
		assert_string_equal(comm.comm, "fifteen letters");
		next_of(&o, PERF_RECORD_COMM);
		assert_int_equal(record_comm_decode(&o.r, o.rec->swap, &comm, &o.e), 0);
		assert_false(comm.exec);
		assert_string_equal(comm.comm, "");
		next_of(&o, PERF_RECORD_FORK);
		assert_int_equal(record_task_decode(&o.r, o.rec->swap, &t, &o.e), 0);
		assert_int_equal(t.pid, 20);
		assert_int_equal(t.ppid, 7);
		assert_int_equal(t.tid, 21);
		assert_int_equal(t.ptid, 8);
		assert_int_equal(t.time, 12345);
		next_of(&o, PERF_RECORD_EXIT);
		assert_int_equal(record_task_decode(&o.r, o.rec->swap, &t, &o.e), 0);
		assert_int_equal(t.pid, 22);
		assert_int_equal(t.tid, 23);
		assert_int_equal(t.time, 12346);
		close_opened(&o);
	}
}

static void put_switches(struct pw *w)
{
	pw_switch(w, &at, 0);
	pw_switch(w, &at, PW_MISC_SWITCH_OUT);
	pw_switch_cpu_wide(w, &at, PW_MISC_SWITCH_OUT | PW_MISC_SWITCH_OUT_PREEMPT, 30, 31);
}

static void switches_say_direction_and_preemption(void **state)
{
	(void)state;
	for (int c = 0; c < CONTAINERS; c++) {
		struct opened o;
		struct record_switch s;
		open_with(&o, (enum container)c, WHO, PW_SAMPLE_ID_ALL, put_switches);
		next_of(&o, PERF_RECORD_SWITCH);
		assert_int_equal(record_switch_decode(&o.r, o.rec->swap, &s, &o.e), 0);
		assert_false(s.out || s.preempt || s.cpu_wide);
		next_of(&o, PERF_RECORD_SWITCH);
		assert_int_equal(record_switch_decode(&o.r, o.rec->swap, &s, &o.e), 0);
		assert_true(s.out && !s.preempt);
		next_of(&o, PERF_RECORD_SWITCH_CPU_WIDE);
		assert_int_equal(record_switch_decode(&o.r, o.rec->swap, &s, &o.e), 0);
		assert_true(s.out && s.preempt && s.cpu_wide);
		assert_int_equal(s.next_prev_pid, 30);
		assert_int_equal(s.next_prev_tid, 31);
		close_opened(&o);
	}
}

static void put_losses(struct pw *w)
{
	pw_lost(w, &at, 11, 5);
	pw_lost_samples(w, &at, 6);
	pw_lost(w, &at, 11, 70);
	pw_ksymbol(w, &at, 0xffffffffc0001000, 128, 1, 1, "bpf_prog_0123_hello");
	pw_build_id(w, PW_MISC_KERNEL, UINT32_MAX, build_id, 16, "[kernel.kallsyms]");
}

static void losses_are_summed_ksymbol_and_build_id(void **state)
{
	(void)state;
	for (int c = 0; c < CONTAINERS; c++) {
		struct opened o;
		struct record_lost lost;
		struct record_ksymbol k;
		struct record_build_id b;
		open_with(&o, (enum container)c, WHO, PW_SAMPLE_ID_ALL, put_losses);
		next_of(&o, PERF_RECORD_LOST);
		assert_int_equal(record_lost_decode(&o.r, o.rec->swap, &lost, &o.e), 0);
		assert_int_equal(lost.id, 11);
		assert_int_equal(lost.lost, 5);
		next_of(&o, PERF_RECORD_LOST_SAMPLES);
		assert_int_equal(record_lost_decode(&o.r, o.rec->swap, &lost, &o.e), 0);
		assert_int_equal(lost.id, 0);
		assert_int_equal(lost.lost, 6);
		next_of(&o, PERF_RECORD_LOST);
		next_of(&o, PERF_RECORD_KSYMBOL);
		assert_int_equal(record_ksymbol_decode(&o.r, o.rec->swap, &k, &o.e), 0);
		assert_int_equal(k.addr, 0xffffffffc0001000);
		assert_int_equal(k.len, 128);
		assert_int_equal(k.ksym_type, 1);
		assert_int_equal(k.flags, 1);
		assert_string_equal(k.name, "bpf_prog_0123_hello");
		next_of(&o, PERF_RECORD_HEADER_BUILD_ID);
		assert_int_equal(record_build_id_decode(&o.r, o.rec->swap, &b, &o.e), 0);
		assert_int_equal(b.pid, -1);
		assert_int_equal(b.size, 16);
		assert_memory_equal(b.id, build_id, 16);
		assert_string_equal(b.filename, "[kernel.kallsyms]");
		assert_int_equal(o.rec->stats.lost, 75);
		assert_int_equal(o.rec->stats.lost_samples, 6);
		close_opened(&o);
	}
}

static void check_trailer(const struct record_id *id, uint64_t t, int all)
{
	assert_int_equal(id->has_tid, all && t & PW_S_TID ? 1 : 0);
	if (id->has_tid) {
		assert_int_equal(id->pid, 7);
		assert_int_equal(id->tid, 8);
	}
	assert_int_equal(id->has_time, all && t & PW_S_TIME ? 1 : 0);
	if (id->has_time)
		assert_int_equal(id->time, at.time);
	assert_int_equal(id->cpu, all && t & PW_S_CPU ? 3 : UINT32_MAX);
	assert_int_equal(id->id, all && t & (PW_S_ID | PW_S_IDENTIFIER) ? 11 : 0);
}

static void put_one_comm(struct pw *w)
{
	pw_comm(w, &at, 7, 8, "x", 0);
}

/* All 64 combinations of the trailer's six fields, with sample_id_all on and off. */
static void trailers_in_every_combination(void **state)
{
	(void)state;
	static const uint64_t fields[] = {PW_S_TID,       PW_S_TIME, PW_S_ID,
					  PW_S_STREAM_ID, PW_S_CPU,  PW_S_IDENTIFIER};
	for (int combination = 0; combination < 64 * 2 * CONTAINERS; combination++) {
		int all = combination / 64 % 2;
		uint64_t t = PW_S_IP | PW_S_PERIOD;
		for (int i = 0; i < 6; i++)
			t |= combination >> i & 1 ? fields[i] : 0;
		struct opened o;
		struct record_id id;
		open_with(&o, (enum container)(combination / 128), t,
			  all ? PW_SAMPLE_ID_ALL : 0, put_one_comm);
		next_of(&o, PERF_RECORD_COMM);
		recording_id(o.rec, &o.r, &id);
		check_trailer(&id, t, all);
		close_opened(&o);
	}
}

static void put_deferred(struct pw *w)
{
	static const uint64_t kernel[] = {PW_CONTEXT_KERNEL, 0xffffffff81000010,
					  PW_CONTEXT_USER_DEFERRED, 0x300000007};
	static const uint64_t user[] = {PW_CONTEXT_USER, 0x401136, 0x401200};
	pw_sample(w, 0,
		  &(struct pw_sample){.misc = PW_MISC_KERNEL,
				      .ip = 0xffffffff81000010,
				      .pid = 7,
				      .tid = 8,
				      .time = 5,
				      .id = 11,
				      .ips = kernel,
				      .nips = 4});
	pw_callchain_deferred(w, &at, 0x300000007, user, 3);
}

/* The sample ends in a marker and a cookie; the record with that cookie has the rest. */
static void deferred_callchains_keep_cookie_and_addresses(void **state)
{
	(void)state;
	for (int c = 0; c < CONTAINERS; c++) {
		struct opened o;
		struct sample s;
		open_with(&o, (enum container)c, WHO | PW_S_CALLCHAIN,
			  PW_SAMPLE_ID_ALL | PW_DEFER_CALLCHAIN | PW_DEFER_OUTPUT,
			  put_deferred);
		next_of(&o, PERF_RECORD_SAMPLE);
		const struct event *ev = recording_event(o.rec, &o.r);
		assert_non_null(ev);
		assert_true(attr_flag(&ev->attr, ATTR_DEFER_CALLCHAIN));
		assert_true(attr_flag(&ev->attr, ATTR_DEFER_OUTPUT));
		assert_int_equal(sample_decode(&o.r, ev, o.rec->swap, &s, &o.e), 0);
		assert_int_equal(s.callchain.n, 4);
		assert_int_equal(load_u64(s.callchain.p + 16, o.rec->swap),
				 PERF_CONTEXT_USER_DEFERRED);
		assert_int_equal(load_u64(s.callchain.p + 24, o.rec->swap), 0x300000007);
		next_of(&o, PERF_RECORD_CALLCHAIN_DEFERRED);
		const uint8_t *p = o.r.p + RECORD_HEADER_SIZE;
		assert_int_equal(load_u64(p, o.rec->swap), 0x300000007);
		assert_int_equal(load_u64(p + 8, o.rec->swap), 3);
		assert_int_equal(load_u64(p + 24, o.rec->swap), 0x401136);
		close_opened(&o);
	}
}

static void put_every_type(struct pw *w)
{
	static const uint32_t has_layout_of_its_own[] = {
		PW_HEADER_ATTR, PW_HEADER_TRACING_DATA, PW_AUXTRACE, PW_HEADER_FEATURE,
		PW_COMPRESSED,  PW_COMPRESSED2,         PW_SAMPLE};
	for (uint32_t type = 1; type < 200; type++) {
		int special = 0;
		for (size_t i = 0; i < 7; i++)
			special |= type == has_layout_of_its_own[i];
		if (special)
			continue;
		pw_rec_begin(w, type, 0);
		for (int i = 0; i < 10; i++)
			pw_u64(w, 0);
		pw_rec_end(w, &at);
	}
	pw_rec_begin(w, UINT32_MAX, 0xffff);
	pw_rec_end(w, NULL);
}

static void unknown_types_are_skipped_by_size_and_counted(void **state)
{
	(void)state;
	for (int c = 0; c < CONTAINERS; c++) {
		struct opened o;
		unsigned n = 0;
		open_with(&o, (enum container)c, WHO, PW_SAMPLE_ID_ALL, put_every_type);
		while (recording_next(o.rec, &o.r, &o.e) == 1)
			n += o.r.type != PERF_RECORD_HEADER_ATTR &&
			     o.r.type != PERF_RECORD_HEADER_FEATURE;
		assert_int_equal(n, 199 - 7 + 1);
		assert_int_equal(o.rec->stats.by_type[100], 1);
		assert_int_equal(o.rec->stats.by_type[PERF_RECORD_SCHEDSTAT_DOMAIN], 1);
		assert_int_equal(o.rec->stats.unknown_types, 200 - 128 + 1);
		recording_close(o.rec);
		buf_release(&o.image);
	}
}

static void put_late_attr(struct pw *w)
{
	enum { ID = 4711 };
	pw_comm(w, &at, 7, 8, "before", 0);
	pw_rec_begin(w, PW_HEADER_ATTR, 0);
	pw_u32(w, 1);
	pw_u32(w, ATTR_SIZE_VER0);
	for (int i = 8; i < ATTR_SIZE_VER0; i += 8)
		pw_u64(w, 0);
	pw_u64(w, ID);
	pw_rec_end(w, NULL);
	pw_comm(w, &at, 7, 8, "after", 0);
}

/* Readers keep an array with as many places as there are events when the data begins. */
static void events_are_declared_in_front_of_the_data(void **state)
{
	(void)state;
	for (int c = 0; c < CONTAINERS; c++) {
		struct opened o;
		unsigned comms = 0;
		open_with(&o, (enum container)c, WHO, PW_SAMPLE_ID_ALL, put_late_attr);
		size_t events = o.rec->events.n;
		while (recording_next(o.rec, &o.r, &o.e) == 1)
			comms += o.r.type == PERF_RECORD_COMM;
		assert_int_equal(comms, 2);
		assert_int_equal(o.rec->events.n, events);
		assert_int_equal(o.rec->stats.bad.n, o.rec->pipe_mode);
		recording_close(o.rec);
		buf_release(&o.image);
	}
}

static void put_aux(struct pw *w)
{
	static const char area[4096] = {9, 9, 9};
	pw_auxtrace_info(w, 1, (const uint64_t[]){1, 2}, 2);
	pw_auxtrace(w, area, sizeof(area), 0, 7, 1);
	pw_comm(w, &at, 7, 8, "after", 0);
}

static void aux_areas_are_skipped_by_size(void **state)
{
	(void)state;
	for (int c = 0; c <= PIPE_BE; c++) {
		struct opened o;
		struct record_comm comm;
		open_with(&o, (enum container)c, WHO, PW_SAMPLE_ID_ALL, put_aux);
		next_of(&o, PERF_RECORD_AUXTRACE_INFO);
		next_of(&o, PERF_RECORD_AUXTRACE);
		next_of(&o, PERF_RECORD_COMM);
		assert_int_equal(record_comm_decode(&o.r, o.rec->swap, &comm, &o.e), 0);
		assert_string_equal(comm.comm, "after");
		assert_int_equal(o.rec->stats.aux_bytes, 4096);
		close_opened(&o);
	}
}

static void put_short(struct pw *w)
{
	static const uint32_t types[] = {PW_MMAP_REC,    PW_MMAP2_REC,      PW_COMM_REC,
					 PW_FORK,        PW_LOST,           PW_LOST_SAMPLES,
					 PW_KSYMBOL_REC, PW_SWITCH_CPU_WIDE};
	for (size_t i = 0; i < 8; i++) {
		pw_rec_begin(w, types[i], 0);
		pw_rec_end(w, NULL);
	}
	pw_rec_begin(w, PW_COMM_REC, 0); /* no NUL anywhere */
	for (int i = 0; i < 4; i++)
		pw_u64(w, 0x4141414141414141);
	pw_rec_end(w, NULL);
}

static int decode_any(const struct opened *o, struct err *e)
{
	union {
		struct record_mmap mmap;
		struct record_comm comm;
		struct record_task task;
		struct record_lost lost;
		struct record_ksymbol ksymbol;
		struct record_switch sw;
	} u;
	switch (o->r.type) {
	case PERF_RECORD_MMAP:
	case PERF_RECORD_MMAP2:
		return record_mmap_decode(&o->r, o->rec->swap, &u.mmap, e);
	case PERF_RECORD_COMM:
		return record_comm_decode(&o->r, o->rec->swap, &u.comm, e);
	case PERF_RECORD_FORK:
		return record_task_decode(&o->r, o->rec->swap, &u.task, e);
	case PERF_RECORD_KSYMBOL:
		return record_ksymbol_decode(&o->r, o->rec->swap, &u.ksymbol, e);
	case PERF_RECORD_SWITCH_CPU_WIDE:
		return record_switch_decode(&o->r, o->rec->swap, &u.sw, e);
	default:
		return record_lost_decode(&o->r, o->rec->swap, &u.lost, e);
	}
}

static void records_too_short_are_refused_with_a_reason(void **state)
{
	(void)state;
	struct opened o;
	int n = 0;
	open_with(&o, FILE_LE, WHO, 0, put_short);
	while (recording_next(o.rec, &o.r, &o.e) == 1) {
		struct err e = {0};
		assert_int_equal(decode_any(&o, &e), ERR_FORMAT);
		assert_non_null(strstr(e.msg, record_type_name(o.r.type)));
		assert_non_null(strstr(e.msg, "0x"));
		n++;
	}
	assert_int_equal(n, 9);
	recording_close(o.rec);
	buf_release(&o.image);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(mmap_and_mmap2_with_and_without_build_id),
		cmocka_unit_test(comm_fork_exit),
		cmocka_unit_test(switches_say_direction_and_preemption),
		cmocka_unit_test(losses_are_summed_ksymbol_and_build_id),
		cmocka_unit_test(trailers_in_every_combination),
		cmocka_unit_test(deferred_callchains_keep_cookie_and_addresses),
		cmocka_unit_test(unknown_types_are_skipped_by_size_and_counted),
		cmocka_unit_test(events_are_declared_in_front_of_the_data),
		cmocka_unit_test(aux_areas_are_skipped_by_size),
		cmocka_unit_test(records_too_short_are_refused_with_a_reason),
	};
	return cmocka_run_group_tests_name("libparse records", tests, NULL, NULL);
}
