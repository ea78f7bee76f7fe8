#include "libparse/record.h"
#include "libparse/linux_mmap.h"

static const char *const type_names[] = {
	[PERF_RECORD_MMAP] = "MMAP",
	[PERF_RECORD_LOST] = "LOST",
	[PERF_RECORD_COMM] = "COMM",
	[PERF_RECORD_EXIT] = "EXIT",
	[PERF_RECORD_THROTTLE] = "THROTTLE",
	[PERF_RECORD_UNTHROTTLE] = "UNTHROTTLE",
	[PERF_RECORD_FORK] = "FORK",
	[PERF_RECORD_READ] = "READ",
	[PERF_RECORD_SAMPLE] = "SAMPLE",
	[PERF_RECORD_MMAP2] = "MMAP2",
	[PERF_RECORD_AUX] = "AUX",
	[PERF_RECORD_ITRACE_START] = "ITRACE_START",
	[PERF_RECORD_LOST_SAMPLES] = "LOST_SAMPLES",
	[PERF_RECORD_SWITCH] = "SWITCH",
	[PERF_RECORD_SWITCH_CPU_WIDE] = "SWITCH_CPU_WIDE",
	[PERF_RECORD_NAMESPACES] = "NAMESPACES",
	[PERF_RECORD_KSYMBOL] = "KSYMBOL",
	[PERF_RECORD_BPF_EVENT] = "BPF_EVENT",
	[PERF_RECORD_CGROUP] = "CGROUP",
	[PERF_RECORD_TEXT_POKE] = "TEXT_POKE",
	[PERF_RECORD_AUX_OUTPUT_HW_ID] = "AUX_OUTPUT_HW_ID",
	[PERF_RECORD_CALLCHAIN_DEFERRED] = "CALLCHAIN_DEFERRED",
	[PERF_RECORD_HEADER_ATTR] = "ATTR",
	[PERF_RECORD_HEADER_EVENT_TYPE] = "EVENT_TYPE",
	[PERF_RECORD_HEADER_TRACING_DATA] = "TRACING_DATA",
	[PERF_RECORD_HEADER_BUILD_ID] = "BUILD_ID",
	[PERF_RECORD_FINISHED_ROUND] = "FINISHED_ROUND",
	[PERF_RECORD_ID_INDEX] = "ID_INDEX",
	[PERF_RECORD_AUXTRACE_INFO] = "AUXTRACE_INFO",
	[PERF_RECORD_AUXTRACE] = "AUXTRACE",
	[PERF_RECORD_AUXTRACE_ERROR] = "AUXTRACE_ERROR",
	[PERF_RECORD_THREAD_MAP] = "THREAD_MAP",
	[PERF_RECORD_CPU_MAP] = "CPU_MAP",
	[PERF_RECORD_STAT_CONFIG] = "STAT_CONFIG",
	[PERF_RECORD_STAT] = "STAT",
	[PERF_RECORD_STAT_ROUND] = "STAT_ROUND",
	[PERF_RECORD_EVENT_UPDATE] = "EVENT_UPDATE",
	[PERF_RECORD_TIME_CONV] = "TIME_CONV",
	[PERF_RECORD_HEADER_FEATURE] = "FEATURE",
	[PERF_RECORD_COMPRESSED] = "COMPRESSED",
	[PERF_RECORD_FINISHED_INIT] = "FINISHED_INIT",
	[PERF_RECORD_COMPRESSED2] = "COMPRESSED2",
	[PERF_RECORD_BPF_METADATA] = "BPF_METADATA",
	[PERF_RECORD_SCHEDSTAT_CPU] = "SCHEDSTAT_CPU",
	[PERF_RECORD_SCHEDSTAT_DOMAIN] = "SCHEDSTAT_DOMAIN",
};

const char *record_type_name(uint32_t type)
{
	return type < sizeof(type_names) / sizeof(*type_names) ? type_names[type] : NULL;
}

int record_is_sideband(uint32_t type)
{
	switch (type) {
	case PERF_RECORD_MMAP:
	case PERF_RECORD_MMAP2:
	case PERF_RECORD_COMM:
	case PERF_RECORD_FORK:
	case PERF_RECORD_EXIT:
	case PERF_RECORD_NAMESPACES:
	case PERF_RECORD_KSYMBOL:
	case PERF_RECORD_CGROUP:
		return 1;
	default:
		return 0;
	}
}

static struct bytes body(const struct record *r, int swap)
{
	return bytes_init(r->p + RECORD_HEADER_SIZE, r->size - RECORD_HEADER_SIZE, swap);
}

static int bad(const struct record *r, struct err *e, const char *why)
{
	const char *name = record_type_name(r->type);
	return err_set(e, ERR_FORMAT, "%s at 0x%llx: %s", name ? name : "record",
		       (unsigned long long)r->offset, why);
}

/* The string at the cursor, which must end inside the record; NULL otherwise. */
static const char *string_at(struct bytes *b)
{
	const char *s = (const char *)b->p;
	const char *nul = bytes_left(b) ? memchr(s, '\0', bytes_left(b)) : NULL;
	if (!nul)
		return NULL;
	b->p = (const uint8_t *)nul + 1;
	return s;
}

void record_id_decode(const struct record *r, const struct event *ev, int swap,
		      struct record_id *out)
{
	*out = (struct record_id){.cpu = UINT32_MAX};
	if (!ev || !ev->tail_size || ev->tail_size + RECORD_HEADER_SIZE > r->size)
		return;
	uint64_t t = ev->attr.sample_type;
	struct bytes b = bytes_init(r->p + r->size - ev->tail_size, ev->tail_size, swap);
	if (t & PERF_SAMPLE_TID) {
		out->pid = (int32_t)bytes_u32(&b);
		out->tid = (int32_t)bytes_u32(&b);
		out->has_tid = 1;
	}
	if (t & PERF_SAMPLE_TIME) {
		out->time = bytes_u64(&b);
		out->has_time = 1;
	}
	if (t & PERF_SAMPLE_ID)
		out->id = bytes_u64(&b);
	if (t & PERF_SAMPLE_STREAM_ID)
		bytes_skip(&b, 8);
	if (t & PERF_SAMPLE_CPU) {
		out->cpu = bytes_u32(&b);
		bytes_skip(&b, 4);
	}
	if (t & PERF_SAMPLE_IDENTIFIER)
		out->id = bytes_u64(&b);
}

/*
 * A size, three zeros and the build-id. 0: it is a device and an inode after all. While any
 * event on the host takes build-ids from mappings, Linux sets the bit in the records of all
 * events (perf_event_mmap_output() in kernel/events/core.c, 5.12 to 6.18 at least).
 */
static int take_build_id(struct bytes *b, struct record_mmap *out)
{
	static const uint8_t zero[20];
	struct bytes at = *b;
	const uint8_t *size = bytes_take(&at, 4), *id = bytes_take(&at, 20);
	if (!id || !*size || *size > 20 || memcmp(size + 1, zero, 3) != 0)
		return 0;
	/* the kernel fills up with zeros, perf need not; disks have numbers like 8, and minor
	 * ones below 65536; squashfs has no generations */
	if (*size < 16 && (memcmp(id + *size, zero, 20 - *size) != 0 || (!id[2] && !id[3])))
		return 0;
	out->build_id_size = *size;
	memcpy(out->build_id, id, 20);
	*b = at;
	return 1;
}

int record_mmap_decode(const struct record *r, int swap, struct record_mmap *out, struct err *e)
{
	struct bytes b = body(r, swap);
	*out = (struct record_mmap){.prot = LINUX_PROT_EXEC};
	out->pid = (int32_t)bytes_u32(&b);
	out->tid = (int32_t)bytes_u32(&b);
	out->addr = bytes_u64(&b);
	out->len = bytes_u64(&b);
	out->pgoff = bytes_u64(&b);
	if (r->type == PERF_RECORD_MMAP2) {
		if (!(r->misc & PERF_RECORD_MISC_MMAP_BUILD_ID) || !take_build_id(&b, out)) {
			out->dev_major = bytes_u32(&b);
			out->dev_minor = bytes_u32(&b);
			out->ino = bytes_u64(&b);
			out->ino_generation = bytes_u64(&b);
		}
		out->prot = bytes_u32(&b);
		out->flags = bytes_u32(&b);
	} else if (r->misc & PERF_RECORD_MISC_MMAP_DATA) {
		out->prot = LINUX_PROT_READ;
	}
	if (!bytes_ok(&b))
		return bad(r, e, "too short");
	out->filename = string_at(&b);
	if (!out->filename)
		return bad(r, e, "file name does not end inside the record");
	return 0;
}

int record_comm_decode(const struct record *r, int swap, struct record_comm *out, struct err *e)
{
	struct bytes b = body(r, swap);
	out->pid = (int32_t)bytes_u32(&b);
	out->tid = (int32_t)bytes_u32(&b);
	out->exec = !!(r->misc & PERF_RECORD_MISC_COMM_EXEC);
	out->comm = bytes_ok(&b) ? string_at(&b) : NULL;
	return out->comm ? 0 : bad(r, e, "comm does not end inside the record");
}

int record_task_decode(const struct record *r, int swap, struct record_task *out, struct err *e)
{
	struct bytes b = body(r, swap);
	out->pid = (int32_t)bytes_u32(&b);
	out->ppid = (int32_t)bytes_u32(&b);
	out->tid = (int32_t)bytes_u32(&b);
	out->ptid = (int32_t)bytes_u32(&b);
	out->time = bytes_u64(&b);
	return bytes_ok(&b) ? 0 : bad(r, e, "too short");
}

int record_switch_decode(const struct record *r, int swap, struct record_switch *out,
			 struct err *e)
{
	struct bytes b = body(r, swap);
	*out = (struct record_switch){
		.out = !!(r->misc & PERF_RECORD_MISC_SWITCH_OUT),
		.preempt = !!(r->misc & PERF_RECORD_MISC_SWITCH_OUT_PREEMPT),
		.cpu_wide = r->type == PERF_RECORD_SWITCH_CPU_WIDE,
		.next_prev_pid = -1,
		.next_prev_tid = -1,
	};
	if (out->cpu_wide) {
		out->next_prev_pid = (int32_t)bytes_u32(&b);
		out->next_prev_tid = (int32_t)bytes_u32(&b);
	}
	return bytes_ok(&b) ? 0 : bad(r, e, "too short");
}

int record_ksymbol_decode(const struct record *r, int swap, struct record_ksymbol *out,
			  struct err *e)
{
	struct bytes b = body(r, swap);
	out->addr = bytes_u64(&b);
	out->len = bytes_u32(&b);
	out->ksym_type = bytes_u16(&b);
	out->flags = bytes_u16(&b);
	out->name = bytes_ok(&b) ? string_at(&b) : NULL;
	return out->name ? 0 : bad(r, e, "name does not end inside the record");
}

/* struct perf_ns_link_info dev, ino, by the kernel's NET_NS_INDEX ... CGROUP_NS_INDEX. */
int record_namespaces_decode(const struct record *r, int swap, struct record_namespaces *out,
			     struct err *e)
{
	enum { MNT_NS_INDEX = 5 };
	struct bytes b = body(r, swap);
	out->pid = (int32_t)bytes_u32(&b);
	out->tid = (int32_t)bytes_u32(&b);
	uint64_t n = bytes_u64(&b);
	out->mount = 0;
	for (int i = 0; n > MNT_NS_INDEX && i <= MNT_NS_INDEX; i++) {
		bytes_u64(&b);
		out->mount = bytes_u64(&b);
	}
	return bytes_ok(&b) ? 0 : bad(r, e, "too short");
}

int record_cgroup_decode(const struct record *r, int swap, struct record_cgroup *out,
			 struct err *e)
{
	struct bytes b = body(r, swap);
	out->id = bytes_u64(&b);
	out->path = bytes_ok(&b) ? string_at(&b) : NULL;
	return out->path ? 0 : bad(r, e, "path does not end inside the record");
}

int record_lost_decode(const struct record *r, int swap, struct record_lost *out, struct err *e)
{
	struct bytes b = body(r, swap);
	out->id = r->type == PERF_RECORD_LOST ? bytes_u64(&b) : 0;
	out->lost = bytes_u64(&b);
	return bytes_ok(&b) ? 0 : bad(r, e, "too short");
}

/*
 * struct perf_record_header_build_id: pid, build_id[24], filename. Since 5.12 byte 20 holds the
 * size when misc bit 15 says so; before, ids were 20 bytes, zero-padded if shorter.
 */
int record_build_id_decode(const struct record *r, int swap, struct record_build_id *out,
			   struct err *e)
{
	enum { MISC_BUILD_ID_SIZE = 1 << 15 };
	struct bytes b = body(r, swap);
	out->pid = (int32_t)bytes_u32(&b);
	const uint8_t *id = bytes_take(&b, 24);
	if (!id)
		return bad(r, e, "too short");
	out->misc = r->misc;
	out->size = 20;
	if (r->misc & MISC_BUILD_ID_SIZE && id[20] <= 20)
		out->size = id[20];
	memcpy(out->id, id, 20);
	out->filename = string_at(&b);
	return out->filename ? 0 : bad(r, e, "file name does not end inside the record");
}
