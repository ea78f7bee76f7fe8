/* perfwriter_records.c - every record type but the sample; see perfwriter.h. */
#include "tests/lib/perfwriter_priv.h"

#include <string.h>

/* A fixed-size text field. */
static void put_field(struct pw *w, const char *s, size_t size)
{
	size_t n = strnlen(s, size);
	pw_bytes(w, s, n);
	pw_put_zeroes(w->to, size - n);
}

static void put_pid_tid(struct pw *w, uint32_t pid, uint32_t tid)
{
	pw_u32(w, pid);
	pw_u32(w, tid);
}

/* --- kernel records -------------------------------------------------------------------- */

static void put_map_head(struct pw *w, const struct pw_mmap *m)
{
	put_pid_tid(w, m->pid, m->tid);
	pw_u64(w, m->addr);
	pw_u64(w, m->len);
	pw_u64(w, m->pgoff);
}

void pw_mmap(struct pw *w, const struct pw_id *id, const struct pw_mmap *m)
{
	pw_rec_begin(w, PW_MMAP_REC, m->misc ? m->misc : PW_MISC_USER);
	put_map_head(w, m);
	pw_string8(w, m->filename);
	pw_rec_end(w, id);
}

void pw_mmap2(struct pw *w, const struct pw_id *id, const struct pw_mmap *m)
{
	uint16_t misc = m->misc ? m->misc : PW_MISC_USER;
	pw_rec_begin(w, PW_MMAP2_REC, m->build_id ? misc | PW_MISC_MMAP_BUILD_ID : misc);
	put_map_head(w, m);
	if (m->build_id) {
		pw_u8(w, m->build_id_size);
		pw_put_zeroes(w->to, 3);
		pw_bytes(w, m->build_id, m->build_id_size);
		pw_put_zeroes(w->to, 20u - m->build_id_size);
	} else {
		pw_u32(w, m->maj);
		pw_u32(w, m->min);
		pw_u64(w, m->ino);
		pw_u64(w, m->ino_generation);
	}
	pw_u32(w, m->prot);
	pw_u32(w, m->flags);
	pw_string8(w, m->filename);
	pw_rec_end(w, id);
}

void pw_comm(struct pw *w, const struct pw_id *id, uint32_t pid, uint32_t tid, const char *comm,
	     int exec)
{
	pw_rec_begin(w, PW_COMM_REC, exec ? PW_MISC_COMM_EXEC : 0);
	put_pid_tid(w, pid, tid);
	pw_string8(w, comm);
	pw_rec_end(w, id);
}

static void put_task(struct pw *w, const struct pw_id *id, uint32_t type,
		     const uint32_t task[4], uint64_t time)
{
	pw_rec_begin(w, type, 0);
	for (int i = 0; i < 4; i++)
		pw_u32(w, task[i]);
	pw_u64(w, time);
	pw_rec_end(w, id);
}

void pw_fork(struct pw *w, const struct pw_id *id, uint32_t pid, uint32_t ppid, uint32_t tid,
	     uint32_t ptid, uint64_t time)
{
	put_task(w, id, PW_FORK, (const uint32_t[]){pid, ppid, tid, ptid}, time);
}

void pw_exit(struct pw *w, const struct pw_id *id, uint32_t pid, uint32_t ppid, uint32_t tid,
	     uint32_t ptid, uint64_t time)
{
	put_task(w, id, PW_EXIT, (const uint32_t[]){pid, ppid, tid, ptid}, time);
}

/* A record whose payload is n words. */
static void put_words(struct pw *w, const struct pw_id *id, uint32_t type, const uint64_t *v,
		      size_t n)
{
	pw_rec_begin(w, type, 0);
	for (size_t i = 0; i < n; i++)
		pw_u64(w, v[i]);
	pw_rec_end(w, id);
}

void pw_lost(struct pw *w, const struct pw_id *id, uint64_t event_id, uint64_t lost)
{
	put_words(w, id, PW_LOST, (const uint64_t[]){event_id, lost}, 2);
}

void pw_lost_samples(struct pw *w, const struct pw_id *id, uint64_t lost)
{
	put_words(w, id, PW_LOST_SAMPLES, &lost, 1);
}

void pw_throttle(struct pw *w, const struct pw_id *id, int type, uint64_t time,
		 uint64_t event_id, uint64_t stream_id)
{
	put_words(w, id, (uint32_t)type, (const uint64_t[]){time, event_id, stream_id}, 3);
}

void pw_read(struct pw *w, const struct pw_id *id, size_t attr, uint32_t pid, uint32_t tid,
	     const struct pw_sample *values)
{
	pw_rec_begin(w, PW_READ, 0);
	put_pid_tid(w, pid, tid);
	pw_put_read(w, w->attrs.v[attr].read_format, values);
	pw_rec_end(w, id);
}

void pw_aux(struct pw *w, const struct pw_id *id, uint64_t offset, uint64_t size,
	    uint64_t flags)
{
	put_words(w, id, PW_AUX, (const uint64_t[]){offset, size, flags}, 3);
}

void pw_itrace_start(struct pw *w, const struct pw_id *id, uint32_t pid, uint32_t tid)
{
	pw_rec_begin(w, PW_ITRACE_START, 0);
	put_pid_tid(w, pid, tid);
	pw_rec_end(w, id);
}

void pw_switch(struct pw *w, const struct pw_id *id, uint16_t misc)
{
	pw_rec_begin(w, PW_SWITCH, misc);
	pw_rec_end(w, id);
}

void pw_switch_cpu_wide(struct pw *w, const struct pw_id *id, uint16_t misc,
			uint32_t next_prev_pid, uint32_t next_prev_tid)
{
	pw_rec_begin(w, PW_SWITCH_CPU_WIDE, misc);
	put_pid_tid(w, next_prev_pid, next_prev_tid);
	pw_rec_end(w, id);
}

void pw_namespaces(struct pw *w, const struct pw_id *id, uint32_t pid, uint32_t tid,
		   const uint64_t *dev_ino, size_t n)
{
	pw_rec_begin(w, PW_NAMESPACES_REC, 0);
	put_pid_tid(w, pid, tid);
	pw_u64(w, n);
	for (size_t i = 0; i < 2 * n; i++)
		pw_u64(w, dev_ino[i]);
	pw_rec_end(w, id);
}

void pw_ksymbol(struct pw *w, const struct pw_id *id, uint64_t addr, uint32_t len,
		uint16_t type, uint16_t flags, const char *name)
{
	pw_rec_begin(w, PW_KSYMBOL_REC, 0);
	pw_u64(w, addr);
	pw_u32(w, len);
	pw_u16(w, type);
	pw_u16(w, flags);
	pw_string8(w, name);
	pw_rec_end(w, id);
}

void pw_bpf_event(struct pw *w, const struct pw_id *id, uint16_t type, uint16_t flags,
		  uint32_t prog_id, const uint8_t tag[8])
{
	pw_rec_begin(w, PW_BPF_EVENT_REC, 0);
	pw_u16(w, type);
	pw_u16(w, flags);
	pw_u32(w, prog_id);
	pw_bytes(w, tag, 8);
	pw_rec_end(w, id);
}

void pw_cgroup(struct pw *w, const struct pw_id *id, uint64_t cgroup, const char *path)
{
	pw_rec_begin(w, PW_CGROUP, 0);
	pw_u64(w, cgroup);
	pw_string8(w, path);
	pw_rec_end(w, id);
}

void pw_text_poke(struct pw *w, const struct pw_id *id, uint64_t addr, const void *old_bytes,
		  uint16_t old_len, const void *new_bytes, uint16_t new_len)
{
	pw_rec_begin(w, PW_TEXT_POKE, 0);
	pw_u64(w, addr);
	pw_u16(w, old_len);
	pw_u16(w, new_len);
	pw_bytes(w, old_bytes, old_len);
	pw_bytes(w, new_bytes, new_len);
	pw_put_zeroes(w->to, -(w->to->n - w->start) & 7);
	pw_rec_end(w, id);
}

void pw_aux_output_hw_id(struct pw *w, const struct pw_id *id, uint64_t hw_id)
{
	put_words(w, id, PW_AUX_OUTPUT_HW_ID, &hw_id, 1);
}

void pw_callchain_deferred(struct pw *w, const struct pw_id *id, uint64_t cookie,
			   const uint64_t *ips, size_t n)
{
	pw_rec_begin(w, PW_CALLCHAIN_DEFERRED, 0);
	pw_u64(w, cookie);
	pw_u64(w, n);
	for (size_t i = 0; i < n; i++)
		pw_u64(w, ips[i]);
	pw_rec_end(w, id);
}

/* --- perf's own records ---------------------------------------------------------------- */

void pw_finished_round(struct pw *w)
{
	pw_rec_begin(w, PW_FINISHED_ROUND, 0);
	pw_rec_end_bare(w);
}

void pw_finished_init(struct pw *w)
{
	pw_rec_begin(w, PW_FINISHED_INIT, 0);
	pw_rec_end_bare(w);
}

void pw_event_type(struct pw *w, uint64_t event_id, const char *name)
{
	pw_rec_begin(w, PW_HEADER_EVENT_TYPE, 0);
	pw_u64(w, event_id);
	put_field(w, name, 64);
	pw_rec_end_bare(w);
}

void pw_build_id(struct pw *w, uint16_t misc, uint32_t pid, const uint8_t *id, size_t n,
		 const char *filename)
{
	pw_rec_begin(w, PW_HEADER_BUILD_ID, misc | 1 << 15); /* MISC_BUILD_ID_SIZE */
	pw_u32(w, pid);
	pw_bytes(w, id, n);
	pw_put_zeroes(w->to, 20 - n);
	pw_u8(w, (uint8_t)n);
	pw_put_zeroes(w->to, 3);
	pw_string8(w, filename);
	pw_rec_end_bare(w);
}

void pw_id_index(struct pw *w, const uint64_t *entries, size_t n)
{
	pw_rec_begin(w, PW_ID_INDEX, 0);
	pw_u64(w, n);
	for (size_t i = 0; i < 4 * n; i++)
		pw_u64(w, entries[i]);
	pw_rec_end_bare(w);
}

void pw_auxtrace_info(struct pw *w, uint32_t type, const uint64_t *priv, size_t n)
{
	pw_rec_begin(w, PW_AUXTRACE_INFO, 0);
	pw_u32(w, type);
	pw_u32(w, 0);
	for (size_t i = 0; i < n; i++)
		pw_u64(w, priv[i]);
	pw_rec_end_bare(w);
}

void pw_auxtrace(struct pw *w, const void *payload, uint64_t size, uint32_t idx, uint32_t tid,
		 uint32_t cpu)
{
	pw_rec_begin(w, PW_AUXTRACE, 0);
	pw_u64(w, size);
	pw_u64(w, 0);
	pw_u64(w, 0);
	pw_u32(w, idx);
	pw_u32(w, tid);
	pw_u32(w, cpu);
	pw_u32(w, 0);
	pw_rec_end_bare(w);
	pw_raw(w, payload, size);
}

void pw_auxtrace_error(struct pw *w, uint32_t type, uint32_t code, uint32_t cpu, uint32_t pid,
		       uint32_t tid, uint64_t ip, uint64_t time, const char *msg)
{
	pw_rec_begin(w, PW_AUXTRACE_ERROR, 0);
	pw_u32(w, type);
	pw_u32(w, code);
	pw_u32(w, cpu);
	put_pid_tid(w, pid, tid);
	pw_u32(w, 1); /* fmt: time is there */
	pw_u64(w, ip);
	pw_u64(w, time);
	put_field(w, msg, 64);
	pw_rec_end_bare(w);
}

void pw_thread_map(struct pw *w, const uint64_t *pids, const char *const *comms, size_t n)
{
	pw_rec_begin(w, PW_THREAD_MAP, 0);
	pw_u64(w, n);
	for (size_t i = 0; i < n; i++) {
		pw_u64(w, pids[i]);
		put_field(w, comms[i], 16);
	}
	pw_rec_end_bare(w);
}

void pw_cpu_map(struct pw *w, const uint16_t *cpus, uint16_t n)
{
	pw_rec_begin(w, PW_CPU_MAP, 0);
	pw_u16(w, 0); /* PERF_CPU_MAP__CPUS */
	pw_u16(w, n);
	for (uint16_t i = 0; i < n; i++)
		pw_u16(w, cpus[i]);
	pw_put_zeroes(w->to, -(w->to->n - w->start) & 7);
	pw_rec_end_bare(w);
}

void pw_stat_config(struct pw *w, const uint64_t *tag_val, size_t n)
{
	pw_rec_begin(w, PW_STAT_CONFIG, 0);
	pw_u64(w, n);
	for (size_t i = 0; i < 2 * n; i++)
		pw_u64(w, tag_val[i]);
	pw_rec_end_bare(w);
}

void pw_stat(struct pw *w, uint64_t id, uint32_t cpu, uint32_t thread, uint64_t val,
	     uint64_t ena, uint64_t run)
{
	pw_rec_begin(w, PW_STAT, 0);
	pw_u64(w, id);
	pw_u32(w, cpu);
	pw_u32(w, thread);
	pw_u64(w, val);
	pw_u64(w, ena);
	pw_u64(w, run);
	pw_rec_end_bare(w);
}

void pw_stat_round(struct pw *w, uint64_t type, uint64_t time)
{
	pw_rec_begin(w, PW_STAT_ROUND, 0);
	pw_u64(w, type);
	pw_u64(w, time);
	pw_rec_end_bare(w);
}

void pw_event_update_name(struct pw *w, uint64_t id, const char *name)
{
	pw_rec_begin(w, PW_EVENT_UPDATE, 0);
	pw_u64(w, 2); /* PERF_EVENT_UPDATE__NAME */
	pw_u64(w, id);
	pw_string8(w, name);
	pw_rec_end_bare(w);
}

void pw_time_conv(struct pw *w, uint64_t shift, uint64_t mult, uint64_t zero)
{
	pw_rec_begin(w, PW_TIME_CONV, 0);
	pw_u64(w, shift);
	pw_u64(w, mult);
	pw_u64(w, zero);
	pw_u64(w, 0);
	pw_u64(w, UINT64_MAX);
	pw_u8(w, 1); /* cap_user_time_zero */
	pw_bytes(w, "\0\0\0\0\0\0", 7);
	pw_rec_end_bare(w);
}

void pw_bpf_metadata(struct pw *w, const char *prog, const char *key, const char *value)
{
	pw_rec_begin(w, PW_BPF_METADATA, 0);
	put_field(w, prog, 512); /* KSYM_NAME_LEN since Linux 6.1 */
	pw_u64(w, 1);
	put_field(w, key, 64);
	put_field(w, value, 256);
	pw_rec_end_bare(w);
}
