#include "cmd/record/bpf_recorder.h"

#if HAVE_BPF

#include "base/mem.h"
#include "base/outfile.h"
#include "base/radix.h"
#include "cmd/record/bpf_hits.h"
#include "libparse/more_events.h"
#include "libparse/perf_abi.h"

#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <time.h>
#include <unistd.h>

/* The compiled recorder.bpf.c. */
__asm__(".section .rodata\n.balign 8\n"
	"recorder_bpf: .incbin \"" RECORDER_BPF "\"\nrecorder_bpf_end: .byte 0\n.text\n");
extern const char recorder_bpf[], recorder_bpf_end[];

enum {
	MAX_EVENTS = 24,
	RING = 4 << 20, /* bytes for each CPU, and at most for all */
	RINGS = 128 << 20,
	FORMAT_MAX = 16384,
	DRAIN_NS = WINDOW_NS / 2,
	STEER_NS = 200000000
};
enum { COOKIE_ID = 16 };                    /* as in recorder.bpf.c */
static const uint64_t DUMP_REGS = 0xff0fff; /* libsym/unwind/arch.c, x86-64 */

struct tracepoint {
	char *name, *format;
	uint64_t id;
	uint32_t size;                  /* of its raw bytes, without a dynamic field's */
	uint32_t dynamic;               /* offset of the last __data_loc field, 0: none */
	int stacks, event, stack_event; /* indices in the written file */
};

/* Places of entries, by time. */
struct order {
	struct radix_key *v, *other;
	size_t n;
	size_t at;                        /* the next to be handed out */
	const struct kernel_entry *stack; /* … after this stack of the same hit */
};

struct bpf_recorder {
	struct bpf_object *object;
	struct bpf_link *links[MAX_EVENTS];
	size_t nlinks, ntracepoints, nrings;
	struct tracepoint tracepoints[MAX_EVENTS];
	int *ring_fds;
	struct ring_buffer *rings;
	struct kernel_live *live;
	pthread_t drainer;
	int draining, stop;
	FILE *spool;
	uint64_t budget, spooled, wanted; /* bytes; of stacks until the last look */
	uint64_t hits, stacks, most_over;
	uint32_t copy_bytes, places; /* places: for waits */
	int failed;
	/* of writing */
	uint8_t *entries;
	struct order kept, *hits_of; /* stacks; hits of each CPU */
	uint64_t chain[KERNEL_DEPTH + USER_DEPTH + 2];
};

/* --- which tracepoints ------------------------------------------------------------------- */

static const char SWITCH[] = "sched:sched_switch", WAKING[] = "sched:sched_waking";

/* Those that happen often; perf keeps one tracepoint, as which the others are declared. */
static int is_ours(const char *word)
{
	return (!strncmp(word, "sched:", 6) &&
		strncmp(word, "sched:sched_process_", 20) != 0) ||
	       !strncmp(word, "irq:", 4);
}

/* -e WORD at i; *n words belong to it. */
static int event_at(const struct words *plan, size_t i, size_t *n)
{
	if (i + 1 >= plan->v.n || strcmp(plan->v.v[i], "-e") != 0)
		return 0;
	*n = i + 3 < plan->v.n && !strcmp(plan->v.v[i + 2], "--filter") ? 4 : 2;
	return 1;
}

static struct tracepoint *named(struct bpf_recorder *k, const char *word)
{
	size_t n = strcspn(word, "/");
	for (size_t i = 0; i < k->ntracepoints; i++)
		if (strlen(k->tracepoints[i].name) == n &&
		    !strncmp(k->tracepoints[i].name, word, n))
			return &k->tracepoints[i];
	if (k->ntracepoints == MAX_EVENTS)
		return NULL;
	struct tracepoint *t = &k->tracepoints[k->ntracepoints];
	t->name = mem_strndup(word, n);
	k->ntracepoints += t->name != NULL;
	return t->name ? t : NULL;
}

/* The numbers of a tracepoint's format file. */
static int read_format(struct tracepoint *t, struct err *e)
{
	char path[256], text[FORMAT_MAX];
	unsigned int offset, size, id;
	snprintf(path, sizeof(path), "/sys/kernel/tracing/events/%s/format", t->name);
	*strchr(path, ':') = '/';
	FILE *f = fopen(path, "re");
	if (!f)
		return err_sys(e, "%s", path);
	text[fread(text, 1, sizeof(text) - 1, f)] = '\0';
	fclose(f);
	for (char *line = text; line; line = strchr(line, '\n'), line += line != NULL) {
		if (sscanf(line, "ID: %u", &id) == 1)
			t->id = id;
		const char *at = strstr(line, "offset:");
		if (strncmp(line, "\tfield:", 7) != 0 || !at ||
		    sscanf(at, "offset:%u;\tsize:%u;", &offset, &size) != 2)
			continue;
		if (!strncmp(line, "\tfield:__data_loc", 17))
			t->dynamic = offset;
		if (offset + size > t->size)
			t->size = offset + size;
	}
	t->format = mem_strdup(text);
	if (!t->format)
		return err_nomem(e);
	return t->id && t->size <= HIT_LARGE
		       ? 0
		       : err_set(e, ERR_UNSUPPORTED, "%s: unknown format", path);
}

/* Of a switch, the user's stack is copied; of a waking, both are walked by frame pointers. */
static int read_stacks(struct bpf_recorder *k, struct tracepoint *t, const char *word,
		       struct err *e)
{
	const char *graph = strstr(word, "call-graph=");
	t->stacks |= graph != NULL;
	if (!graph || strcmp(t->name, SWITCH) != 0)
		return 0;
	if (sscanf(graph, "call-graph=dwarf,stack-size=%u", &k->copy_bytes) != 1 ||
	    k->copy_bytes > COPY_MOST)
		return err_set(e, ERR_UNSUPPORTED, "only perf records stacks as %.*s",
			       (int)strcspn(graph, "/"), graph);
	return 0;
}

/* The fields that the program writes, where this kernel has them, and the states it reports. */
static int check_format(const struct tracepoint *t, struct err *e)
{
	static const char *const switched[] = {"prev_comm[16];\toffset:8;\tsize:16;",
					       "prev_pid;\toffset:24;\tsize:4;",
					       "prev_prio;\toffset:28;\tsize:4;",
					       "prev_state;\toffset:32;\tsize:8;",
					       "next_comm[16];\toffset:40;\tsize:16;",
					       "next_pid;\toffset:56;\tsize:4;",
					       "next_prio;\toffset:60;\tsize:4;",
					       "0x00000040) + 1) << 1) - 1)",
					       "{ 0x00000080, \"I\" }",
					       NULL};
	static const char *const waking[] = {
		"comm[16];\toffset:8;\tsize:16;", "pid;\toffset:24;\tsize:4;",
		"prio;\toffset:28;\tsize:4;", "target_cpu;\toffset:32;\tsize:4;", NULL};
	const char *const *v = !strcmp(t->name, SWITCH)   ? switched
			       : !strcmp(t->name, WAKING) ? waking
							  : NULL;
	for (; v && *v; v++)
		if (!strstr(t->format, *v))
			return err_set(e, ERR_UNSUPPORTED, "this kernel's %s has other fields",
				       t->name);
	return 0;
}

static int read_plan(struct bpf_recorder *k, const struct record_plan *p, struct err *e)
{
	size_t n;
	for (size_t i = 0; i < p->record.v.n; i++) {
		if (!event_at(&p->record, i, &n) || !is_ours(p->record.v.v[i + 1]))
			continue;
		const char *word = p->record.v.v[i + 1];
		struct tracepoint *t = named(k, word);
		if (!t)
			return err_set(e, ERR_UNSUPPORTED, "too many tracepoints");
		if ((!t->format && (read_format(t, e) || check_format(t, e))) ||
		    read_stacks(k, t, word, e))
			return e->code;
		i += n - 1;
	}
	return k->ntracepoints ? 0
			       : err_set(e, ERR_UNSUPPORTED, "no tracepoint of the scheduler");
}

void bpf_recorder_rest(const struct bpf_recorder *k, const struct words *plan,
		       struct words *out)
{
	size_t n;
	(void)k;
	for (size_t i = 0; i < plan->v.n; i++)
		if (event_at(plan, i, &n) && is_ours(plan->v.v[i + 1]))
			i += n - 1;
		else
			words_add(out, "%s", plan->v.v[i]);
}

/* --- whose stacks ------------------------------------------------------------------------ */

/* The filter of sched_switch that chose them (libtime/record/chosen.h): alternatives of a name, a
 * pattern that ends in *, or an id. */
static int read_choices(struct kernel_setup *s, const char *filter)
{
	uint32_t n = 0;
	for (const char *p = filter, *next; p && *p; p = next, n++) {
		struct kernel_choice *c = &s->choices[n];
		char text[64];
		next = strstr(p, " || ");
		next = next ? next + 4 : p + strlen(p);
		if (n == CHOICES)
			return ERR_UNSUPPORTED;
		*c = (struct kernel_choice){0};
		if (sscanf(p, "prev_pid == %u", &c->tid) == 1)
			continue;
		if (sscanf(p, "prev_comm %*[=~] \"%63[^\"]\"", text) != 1)
			return ERR_UNSUPPORTED;
		size_t length = strlen(text);
		c->length = CHOICE_EXACT;
		if (text[length - 1] == '*')
			c->length = (uint32_t)--length;
		if (memchr(text, '*', length) || memchr(text, '[', length) ||
		    length > CHOICE_EXACT)
			return ERR_UNSUPPORTED;
		memcpy(c->comm, text, length);
		if (!c->length) /* "*" */
			return ERR_UNSUPPORTED;
	}
	s->nchoices = n;
	return 0;
}

/* What a section of the program holds: one struct. */
static void *section(struct bpf_recorder *k, const char *name, size_t size)
{
	size_t all = 0;
	struct bpf_map *map = bpf_object__find_map_by_name(k->object, name);
	const void *p = map ? bpf_map__initial_value(map, &all) : NULL;
	return all == size ? (void *)(uintptr_t)p : NULL;
}

/* Where a variable of each CPU, or a member of one, lies in the section of all; -1: nowhere. */
static int64_t place_of(const struct btf *kernel, const char *variable, const char *member)
{
	int id = btf__find_by_name_kind(kernel, ".data..percpu", BTF_KIND_DATASEC);
	const struct btf_type *all = id > 0 ? btf__type_by_id(kernel, (uint32_t)id) : NULL;
	const struct btf_var_secinfo *v = all ? btf_var_secinfos(all) : NULL;
	for (int i = 0; all && i < btf_vlen(all); i++, v++) {
		const struct btf_type *var = btf__type_by_id(kernel, v->type);
		if (strcmp(btf__name_by_offset(kernel, var->name_off), variable) != 0)
			continue;
		const struct btf_type *t = btf__type_by_id(kernel, var->type);
		const struct btf_member *m =
			member && btf_is_composite(t) ? btf_members(t) : NULL;
		if (!member)
			return v->offset;
		/* an unnamed union holds those of struct pcpu_hot */
		while (m && btf_vlen(t) && !*btf__name_by_offset(kernel, m->name_off)) {
			t = btf__type_by_id(kernel, m->type);
			m = btf_is_composite(t) ? btf_members(t) : NULL;
		}
		for (int k = 0; m && k < btf_vlen(t); k++, m++)
			if (!strcmp(btf__name_by_offset(kernel, m->name_off), member))
				return v->offset + btf_member_bit_offset(t, (uint32_t)k) / 8;
	}
	return -1;
}

/* Linux 6.2 to 6.14 have both numbers in struct pcpu_hot. */
static void find_count(struct kernel_setup *s)
{
	struct btf *kernel = btf__load_vmlinux_btf();
	int64_t queue = kernel ? place_of(kernel, "runqueues", NULL) : -1;
	int hot = kernel && place_of(kernel, "pcpu_hot", "preempt_count") >= 0;
	int64_t count = !kernel ? -1
				: place_of(kernel, hot ? "pcpu_hot" : "__preempt_count",
					   hot ? "preempt_count" : NULL),
		number = !kernel ? -1
				 : place_of(kernel, hot ? "pcpu_hot" : "cpu_number",
					    hot ? "cpu_number" : NULL);
	if (queue >= 0 && count >= 0 && number >= 0) {
		s->count_at = count - queue;
		s->number_at = number - queue;
	}
	btf__free(kernel);
}

static int set_up(struct bpf_recorder *k, const struct record_wish *w)
{
	enum { SHARES = 4 };
	struct kernel_setup *s = section(k, ".rodata", sizeof(*s));
	struct kernel_live *live = section(k, ".bss", sizeof(*live));
	if (!s || !live)
		return ERR_UNSUPPORTED;
	s->copy_bytes = k->copy_bytes;
	s->waits_mask = k->places - 1;
	s->recorder = (uint32_t)getpid();
	const uint64_t window = k->budget * WINDOW_NS / 1000000000;
	s->window_bytes = (uint32_t)(window / (k->nrings < SHARES ? k->nrings : SHARES));
	for (size_t i = 0; i < k->ntracepoints; i++) {
		const struct tracepoint *t = &k->tracepoints[i];
		int is_switch = !strcmp(t->name, SWITCH);
		if (is_switch || !strcmp(t->name, WAKING)) {
			*(is_switch ? &s->switched.event : &s->waking.event) = (uint16_t)i;
			*(is_switch ? &s->switched.id : &s->waking.id) = (uint16_t)t->id;
		}
		s->stacks |= is_switch && t->stacks;
	}
	find_count(s);
	return w->chosen ? read_choices(s, w->chosen->leaving) : 0;
}

/* --- loading ----------------------------------------------------------------------------- */

/* Threads of this machine. */
static uint32_t threads_now(void)
{
	unsigned int n = 0;
	FILE *f = fopen("/proc/loadavg", "re");
	if (!f || fscanf(f, "%*s %*s %*s %*u/%u", &n) != 1)
		n = 0;
	if (f)
		fclose(f);
	return n;
}

static int set_sizes(struct bpf_recorder *k)
{
	enum { LEAST = 1024, MEMORY = 64 << 20, SPARSE = 4 };
	struct bpf_map *waits = bpf_object__find_map_by_name(k->object, "waits"),
		       *rings = bpf_object__find_map_by_name(k->object, "rings");
	uint32_t size = (uint32_t)sizeof(struct kernel_left) + k->copy_bytes;
	uint32_t threads = threads_now(), places = LEAST;
	while (places < threads * SPARSE && places * 2 <= MEMORY / size)
		places *= 2;
	k->places = places;
	return !waits || !rings || bpf_map__set_value_size(waits, size) ||
	       bpf_map__set_max_entries(waits, places) ||
	       bpf_map__set_max_entries(rings, (uint32_t)k->nrings);
}

static int on_entry(void *ctx, void *data, size_t size);

static int make_rings(struct bpf_recorder *k)
{
	struct bpf_map *map = bpf_object__find_map_by_name(k->object, "rings");
	k->ring_fds = mem_zalloc(k->nrings, sizeof(*k->ring_fds));
	if (!k->ring_fds)
		return ERR_NOMEM;
	uint32_t size = RING;
	while (size * k->nrings > RINGS)
		size /= 2;
	for (uint32_t i = 0; i < k->nrings; i++) {
		int fd = bpf_map_create(BPF_MAP_TYPE_RINGBUF, NULL, 0, 0, size, NULL);
		if (fd < 0)
			return ERR_UNSUPPORTED;
		k->ring_fds[i] = fd;
		if (bpf_map_update_elem(bpf_map__fd(map), &i, &fd, BPF_ANY))
			return ERR_UNSUPPORTED;
		if (!k->rings)
			k->rings = ring_buffer__new(fd, on_entry, k, NULL);
		else if (ring_buffer__add(k->rings, fd, on_entry, k))
			return ERR_UNSUPPORTED;
		if (!k->rings)
			return ERR_UNSUPPORTED;
	}
	return 0;
}

static int attach(struct bpf_recorder *k, struct bpf_link *link)
{
	if (!link)
		return ERR_UNSUPPORTED;
	k->links[k->nlinks++] = link;
	return 0;
}

static int attach_program(struct bpf_recorder *k, const char *name)
{
	struct bpf_program *p = bpf_object__find_program_by_name(k->object, name);
	return attach(k, p ? bpf_program__attach(p) : NULL);
}

static int attach_tracepoint(struct bpf_recorder *k, size_t index)
{
	const struct tracepoint *t = &k->tracepoints[index];
	const char *name = t->dynamic || t->size > HIT_SMALL ? "hit_large" : "hit_small";
	char system[64];
	size_t n = strcspn(t->name, ":");
	snprintf(system, sizeof(system), "%.*s", (int)n, t->name);
	struct bpf_program *p = bpf_object__find_program_by_name(k->object, name);
	LIBBPF_OPTS(bpf_tracepoint_opts, o, .bpf_cookie = index | t->id << COOKIE_ID);
	return attach(k, p ? bpf_program__attach_tracepoint_opts(p, system, t->name + n + 1, &o)
			   : NULL);
}

static int attach_all(struct bpf_recorder *k)
{
	int rc = 0;
	for (size_t i = 0; i < k->ntracepoints && !rc; i++) {
		const char *name = k->tracepoints[i].name;
		rc = !strcmp(name, SWITCH)   ? attach_program(k, "switched")
		     : !strcmp(name, WAKING) ? attach_program(k, "waking")
					     : attach_tracepoint(k, i);
	}
	return rc;
}

static int quiet(enum libbpf_print_level level, const char *format, va_list ap)
{
	(void)level, (void)format, (void)ap;
	return 0;
}

/* The variables of the program that runs now, which libbpf maps for skeletons only. */
static int map_live(struct bpf_recorder *k)
{
	struct bpf_map *map = bpf_object__find_map_by_name(k->object, ".bss");
	void *p = mmap(NULL, sizeof(*k->live), PROT_READ | PROT_WRITE, MAP_SHARED,
		       bpf_map__fd(map), 0);
	k->live = p == MAP_FAILED ? NULL : p;
	return k->live ? 0 : ERR_UNSUPPORTED;
}

static int load(struct bpf_recorder *k, const struct record_wish *w, struct err *e)
{
	libbpf_set_print(quiet);
	libbpf_set_strict_mode(LIBBPF_STRICT_ALL);
	k->object = bpf_object__open_mem(recorder_bpf,
					 (size_t)(recorder_bpf_end - recorder_bpf), NULL);
	if (!k->object || set_sizes(k))
		return err_set(e, ERR_UNSUPPORTED, "the BPF program cannot be read");
	if (set_up(k, w))
		return err_set(e, ERR_UNSUPPORTED,
			       "threads are chosen in a way that only perf knows");
	if (bpf_object__load(k->object))
		return err_sys(e, "the kernel does not take the BPF program");
	if (map_live(k) || make_rings(k) || attach_all(k))
		return err_sys(e, "the kernel does not let the BPF program run");
	return 0;
}

/* --- while it runs ----------------------------------------------------------------------- */

static int on_entry(void *ctx, void *data, size_t size)
{
	struct bpf_recorder *k = ctx;
	const struct kernel_entry *entry = data;
	uint64_t n = (size + 7) / 8 * 8;
	k->failed |= fwrite(&n, sizeof(n), 1, k->spool) != 1 ||
		     fwrite(data, 1, size, k->spool) != size ||
		     fwrite("\0\0\0\0\0\0\0", 1, n - size, k->spool) != n - size;
	k->spooled += sizeof(n) + n;
	k->hits += entry->kind == KERNEL_HIT;
	k->stacks += entry->kind == KERNEL_LEFT;
	return 0;
}

/* The shortest wait whose stack is handed over: doubled while stacks take too much, lowered while
 * they take little. `ns` since the last time. */
static void steer(struct bpf_recorder *k, int64_t ns)
{
	enum { LEAST = 4000, MOST = 100000000, QUARTER = 4 };
	const uint64_t wanted = __atomic_load_n(&k->live->wanted, __ATOMIC_RELAXED);
	const double rate = (double)(wanted - k->wanted) / (double)ns * 1e9 / (double)k->budget;
	uint64_t over = k->live->over_ns;
	if (rate > 1)
		over = over < LEAST ? LEAST : over > MOST / 2 ? MOST : over * 2;
	else if (rate < 1.0 / QUARTER)
		over = over / QUARTER < LEAST ? 0 : over / QUARTER;
	else if (rate < 1.0 / 2)
		over -= over / QUARTER;
	k->wanted = wanted;
	__atomic_store_n(&k->live->over_ns, over, __ATOMIC_RELAXED);
	k->most_over = over > k->most_over ? over : k->most_over;
}

static int64_t now_ns(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static void *drain(void *arg)
{
	static const struct timespec moment = {.tv_nsec = DRAIN_NS};
	struct bpf_recorder *k = arg;
	int64_t steered = now_ns();
	while (!__atomic_load_n(&k->stop, __ATOMIC_RELAXED)) {
		nanosleep(&moment, NULL);
		ring_buffer__consume(k->rings);
		int64_t now = now_ns();
		if (now - steered < STEER_NS)
			continue;
		steer(k, now - steered);
		steered = now;
	}
	return NULL;
}

static int begin(struct bpf_recorder *k, const struct record_wish *w, struct err *e)
{
	sigset_t all, before;
	char folder[4096];
	snprintf(folder, sizeof(folder), "%s", w->output);
	char *slash = strrchr(folder, '/');
	if (slash)
		slash[slash == folder] = '\0';
	int fd = open(slash ? folder : ".", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	k->spool = fd < 0 ? tmpfile() : fdopen(fd, "w+");
	if (!k->spool)
		return err_sys(e, "%s", folder);
	sigfillset(&all);
	pthread_sigmask(SIG_BLOCK, &all, &before);
	k->draining = !pthread_create(&k->drainer, NULL, drain, k);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return k->draining ? 0 : err_nomem(e);
}

int bpf_recorder_possible(struct err *e)
{
	static const char events[] = "/sys/kernel/tracing/events/sched";
	if (geteuid())
		return err_set(e, ERR_UNSUPPORTED, "it needs root");
	if (access("/sys/kernel/btf/vmlinux", R_OK))
		return err_set(e, ERR_UNSUPPORTED, "this kernel has no BTF");
	if (access(events, R_OK)) /* perf mounts it, too */
		mount("none", "/sys/kernel/tracing", "tracefs", 0, NULL);
	return access(events, R_OK) ? err_set(e, ERR_UNSUPPORTED, "tracefs is not mounted") : 0;
}

int bpf_recorder_open(struct bpf_recorder **out, const struct record_plan *p,
		      const struct record_wish *w, uint64_t budget, struct err *e)
{
	struct bpf_recorder *k = mem_zalloc(1, sizeof(*k));
	*out = k;
	if (!k)
		return err_nomem(e);
	k->nrings = (size_t)sysconf(_SC_NPROCESSORS_CONF);
	k->copy_bytes = PLAN_DUMP;
	k->budget = budget;
	int rc = strcmp(w->output, "-") ? 0
					: err_set(e, ERR_UNSUPPORTED, "the output is a stream");
	rc = rc ? rc : read_plan(k, p, e);
	rc = rc ? rc : load(k, w, e);
	rc = rc ? rc : begin(k, w, e);
	if (rc) {
		bpf_recorder_close(k);
		*out = NULL;
	}
	return rc;
}

/* Those that have not ended: without the kernel's part of their stacks. */
static void take_open_waits(struct bpf_recorder *k)
{
	const struct bpf_map *waits = bpf_object__find_map_by_name(k->object, "waits");
	struct kernel_left *w = mem_alloc(bpf_map__value_size(waits));
	const uint64_t now = (uint64_t)now_ns();
	for (uint32_t i = 0; w && i < k->places; i++)
		if (!bpf_map_lookup_elem(bpf_map__fd(waits), &i, w) && w->of.time &&
		    now - w->of.time >= k->live->over_ns) {
			w->frames = 0;
			on_entry(k, w, bpf_map__value_size(waits));
		}
	mem_free(w);
}

static void stop(struct bpf_recorder *k)
{
	for (size_t i = 0; i < k->nlinks; i++)
		bpf_link__destroy(k->links[i]);
	k->nlinks = 0;
	if (!k->draining)
		return;
	__atomic_store_n(&k->stop, 1, __ATOMIC_RELAXED);
	pthread_join(k->drainer, NULL);
	ring_buffer__consume(k->rings);
	k->draining = 0;
	take_open_waits(k);
}

/* --- writing ----------------------------------------------------------------------------- */

static const struct kernel_entry *entry_at(const struct bpf_recorder *k, uint64_t at)
{
	return (const struct kernel_entry *)(k->entries + at);
}

/* Make room for those that were counted, or sort them. */
static int settle(struct order *o, int filled)
{
	if (filled) {
		struct radix_key *sorted = radix_sort(o->v, o->other, o->n);
		o->other = sorted == o->v ? o->other : o->v;
		o->v = sorted;
		return 0;
	}
	o->v = mem_alloc((o->n + 1) * sizeof(*o->v));
	o->other = mem_alloc((o->n + 1) * sizeof(*o->v));
	o->n = 0;
	return o->v && o->other ? 0 : ERR_NOMEM;
}

/* Hits in order of time, and stacks. */
static int sort_entries(struct bpf_recorder *k, uint64_t size)
{
	k->hits_of = mem_zalloc(k->nrings, sizeof(*k->hits_of));
	for (int pass = 0; pass < 2 && k->hits_of; pass++) { /* counts, then fills */
		for (uint64_t at = 0; at < size; at += 8 + *(uint64_t *)(k->entries + at)) {
			const struct kernel_entry *x = entry_at(k, at + 8);
			struct order *o =
				x->kind > KERNEL_LOST ? &k->kept : &k->hits_of[x->cpu];
			if (pass)
				o->v[o->n] = (struct radix_key){x->time, at + 8};
			o->n++;
		}
		int failed = 0;
		for (size_t i = 0; i <= k->nrings; i++)
			failed |= settle(i < k->nrings ? &k->hits_of[i] : &k->kept, pass);
		if (failed)
			return ERR_NOMEM;
	}
	return k->hits_of ? 0 : ERR_NOMEM;
}

/* What was kept of a hit: of the same CPU, time, and kind. */
static const struct kernel_entry *stack_of(const struct bpf_recorder *k,
					   const struct kernel_entry *hit)
{
	const struct tracepoint *t = &k->tracepoints[hit->event];
	int kind = !strcmp(t->name, SWITCH) ? KERNEL_LEFT : KERNEL_WOKEN;
	size_t low = 0, high = k->kept.n;
	while (t->stacks && low < high) {
		size_t middle = low + (high - low) / 2;
		if (k->kept.v[middle].key < hit->time)
			low = middle + 1;
		else
			high = middle;
	}
	for (; t->stacks && low < k->kept.n && k->kept.v[low].key == hit->time; low++) {
		const struct kernel_entry *x = entry_at(k, k->kept.v[low].at);
		if (x->cpu == hit->cpu && x->kind == kind && x->tid == hit->tid)
			return x;
	}
	return NULL;
}

static void fill_sample(const struct bpf_recorder *k, const struct kernel_entry *hit,
			struct more_sample *s)
{
	const struct tracepoint *t = &k->tracepoints[hit->event];
	const uint8_t *raw = ((const struct kernel_hit *)hit)->raw;
	uint32_t n = t->size;
	if (t->dynamic) { /* its length and offset */
		uint32_t loc;
		memcpy(&loc, raw + t->dynamic, sizeof(loc));
		uint32_t end = (loc & 0xffff) + (loc >> 16);
		n = end > n && end <= HIT_LARGE ? end : n;
	}
	*s = (struct more_sample){.time = hit->time,
				  .pid = hit->pid,
				  .tid = hit->tid,
				  .cpu = hit->cpu,
				  .event = (uint32_t)t->event,
				  .raw = raw,
				  .nraw = n};
}

static void fill_lost(const struct bpf_recorder *k, const struct kernel_entry *x,
		      struct more_sample *s)
{
	*s = (struct more_sample){.time = x->time,
				  .pid = x->pid,
				  .tid = x->tid,
				  .cpu = x->cpu,
				  .event = (uint32_t)k->tracepoints[0].event,
				  .lost = ((const struct kernel_lost *)x)->lost};
}

/* Innermost first, each part behind its mark. */
static void fill_stack(struct bpf_recorder *k, const struct kernel_entry *x,
		       struct more_sample *s)
{
	const struct kernel_left *left = (const struct kernel_left *)x;
	const struct kernel_woken *woken = (const struct kernel_woken *)x;
	int waits = x->kind == KERNEL_LEFT;
	uint32_t n = waits ? left->frames : woken->frames, users = waits ? 0 : woken->users;
	const uint64_t *ips = waits ? left->kernel : woken->ip;
	if (n)
		k->chain[s->nchain++] = PERF_CONTEXT_KERNEL;
	for (uint32_t i = 0; i < n && i < KERNEL_DEPTH; i++)
		k->chain[s->nchain++] = ips[i];
	if (users)
		k->chain[s->nchain++] = PERF_CONTEXT_USER;
	for (uint32_t i = 0; i < users && i < USER_DEPTH; i++)
		k->chain[s->nchain++] = ips[n + i];
	s->chain = k->chain;
	if (!waits)
		return;
	s->regs = left->regs;
	s->copy = left->copy;
	s->copied = left->copied;
}

static int next_sample(void *ctx, uint32_t cpu, uint64_t until, struct more_sample *s)
{
	struct bpf_recorder *k = ctx;
	struct order *o = &k->hits_of[cpu];
	if (o->at == o->n || o->v[o->at].key > until) {
		o->at = until == UINT64_MAX ? 0 : o->at;
		return 0;
	}
	const struct kernel_entry *hit = entry_at(k, o->v[o->at].at);
	if (hit->kind == KERNEL_LOST)
		fill_lost(k, hit, s);
	else
		fill_sample(k, hit, s);
	if (o->stack) {
		fill_stack(k, o->stack, s);
		s->event = (uint32_t)k->tracepoints[hit->event].stack_event;
		o->stack = NULL;
	} else if (hit->kind == KERNEL_HIT) {
		o->stack = stack_of(k, hit);
	}
	o->at += !o->stack;
	return 1;
}

static int write_all(struct bpf_recorder *k, const char *recording, int within,
		     const struct words *plan, struct err *e)
{
	struct more_event events[2 * MAX_EVENTS];
	struct more_events m = {.events = events,
				.regs_mask = DUMP_REGS,
				.copy_bytes = k->copy_bytes,
				.within = within,
				.argv = (const char *const *)plan->v.v,
				.nargv = plan->v.n,
				.ncpus = (uint32_t)k->nrings,
				.next = next_sample,
				.ctx = k};
	struct outfile out;
	for (size_t i = 0; i < k->ntracepoints; i++) {
		struct tracepoint *t = &k->tracepoints[i];
		for (int stacks = 0; stacks <= t->stacks; stacks++) {
			*(stacks ? &t->stack_event : &t->event) = (int)m.nevents;
			events[m.nevents++] =
				(struct more_event){t->name, t->format, t->id, stacks};
		}
	}
	int rc = outfile_open_private(&out, recording, e);
	if (rc)
		return rc;
	return outfile_end(&out, more_events_write(out.f, recording, &m, e), e);
}

int bpf_recorder_finish(struct bpf_recorder *k, const char *recording, int within,
			const struct words *plan, struct err *e)
{
	stop(k);
	if (fflush(k->spool) || k->failed)
		return err_sys(e, "writing what the kernel recorded");
	const uint64_t size = k->spooled;
	void *p = size ? mmap(NULL, size, PROT_READ, MAP_PRIVATE, fileno(k->spool), 0) : NULL;
	if (p == MAP_FAILED)
		return err_sys(e, "reading what the kernel recorded");
	k->entries = p;
	int rc =
		sort_entries(k, size) ? err_nomem(e) : write_all(k, recording, within, plan, e);
	if (p)
		munmap(p, size);
	k->entries = NULL;
	return rc;
}

uint64_t bpf_recorder_bytes(const struct bpf_recorder *k)
{
	return __atomic_load_n(&k->spooled, __ATOMIC_RELAXED);
}

void bpf_recorder_text(const struct bpf_recorder *k, struct buf *out)
{
	buf_fmt(out, "%llu switches, wakeups and interrupts, ", (unsigned long long)k->hits);
	if (k->live->lost)
		buf_fmt(out, "%llu LOST", (unsigned long long)k->live->lost);
	else
		buf_str(out, "none lost");
	int stacks = 0;
	for (size_t i = 0; i < k->ntracepoints; i++)
		stacks |= k->tracepoints[i].stacks;
	if (stacks)
		buf_fmt(out, "; %llu waits have stacks", (unsigned long long)k->stacks);
	if (stacks && k->most_over)
		buf_fmt(out, ", at times only those over %.3g ms", (double)k->most_over / 1e6);
}

void bpf_recorder_fact(const struct bpf_recorder *k, struct buf *context)
{
	buf_fmt(context, "fact recorder\tkernel\tstacks_over_ns\t%llu\n",
		(unsigned long long)k->most_over);
}

void bpf_recorder_close(struct bpf_recorder *k)
{
	if (!k)
		return;
	stop(k);
	ring_buffer__free(k->rings);
	for (size_t i = 0; k->ring_fds && i < k->nrings; i++)
		if (k->ring_fds[i] > 0)
			close(k->ring_fds[i]);
	if (k->live)
		munmap(k->live, sizeof(*k->live));
	bpf_object__close(k->object);
	for (size_t i = 0; i < k->ntracepoints; i++) {
		mem_free(k->tracepoints[i].name);
		mem_free(k->tracepoints[i].format);
	}
	if (k->spool)
		fclose(k->spool);
	mem_free(k->ring_fds);
	for (size_t i = 0; k->hits_of && i < k->nrings; i++) {
		mem_free(k->hits_of[i].v);
		mem_free(k->hits_of[i].other);
	}
	mem_free(k->hits_of);
	mem_free(k->kept.v);
	mem_free(k->kept.other);
	mem_free(k);
}

#else

int bpf_recorder_possible(struct err *e)
{
	return err_set(e, ERR_UNSUPPORTED, "this perfkit was built without libbpf and clang");
}

int bpf_recorder_open(struct bpf_recorder **out, const struct record_plan *p,
		      const struct record_wish *w, uint64_t budget, struct err *e)
{
	(void)p, (void)w, (void)budget;
	*out = NULL;
	return bpf_recorder_possible(e);
}

void bpf_recorder_rest(const struct bpf_recorder *k, const struct words *plan,
		       struct words *out)
{
	(void)k, (void)plan, (void)out;
}

int bpf_recorder_finish(struct bpf_recorder *k, const char *recording, int within,
			const struct words *plan, struct err *e)
{
	(void)k, (void)recording, (void)within, (void)plan;
	return bpf_recorder_possible(e);
}

uint64_t bpf_recorder_bytes(const struct bpf_recorder *k)
{
	(void)k;
	return 0;
}

void bpf_recorder_text(const struct bpf_recorder *k, struct buf *out)
{
	(void)k, (void)out;
}

void bpf_recorder_fact(const struct bpf_recorder *k, struct buf *context)
{
	(void)k, (void)context;
}

void bpf_recorder_close(struct bpf_recorder *k)
{
	(void)k;
}

#endif
