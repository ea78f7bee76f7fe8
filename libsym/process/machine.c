#include "libsym/process/machine_internal.h"
#include "base/check.h"
#include "base/gallop.h"
#include "libparse/linux_mmap.h"
#include "libsym/unwind/arch.h"

#include <stdlib.h>

/* The kernel gives the vdso of 32-bit programs the same name, and perf prints that; only perf's
 * table of build-ids distinguishes them. */
static const char *mapped_name(const struct recording *rec, const struct record_mmap *mm)
{
	const struct arch *arch = arch_named(rec->features.arch);
	int is_low = mm->addr <= UINT32_MAX && arch && arch->has_vdso32;
	return is_low && !strcmp(mm->filename, "[vdso]") ? "[vdso32]" : mm->filename;
}

static int queue_mmap(struct machine *m, const struct recording *rec, const struct record *r,
		      struct pending *p, struct err *e)
{
	struct record_mmap mm;
	int rc = record_mmap_decode(r, rec->swap, &mm, e);
	if (rc)
		return rc;
	p->type = PERF_RECORD_MMAP2;
	p->pid = mm.pid;
	p->tid = mm.tid;
	uint64_t end = mm.addr + mm.len < mm.addr ? UINT64_MAX : mm.addr + mm.len;
	p->map = (struct map){
		.start = mm.addr, .end = end, .pgoff = mm.pgoff, .prot = (uint16_t)mm.prot};
	/* [stack], data: perf's name for guests' kernels is skipped with their samples */
	p->exec = (r->misc & PERF_RECORD_MISC_CPUMODE_MASK) == PERF_RECORD_MISC_KERNEL ||
		  mm.pid == -1;
	p->flags = mm.flags;
	p->file = (struct file_id){.ino = mm.ino,
				   .generation = mm.ino_generation,
				   .dev_major = mm.dev_major,
				   .dev_minor = mm.dev_minor};
	p->id.len = mm.build_id_size;
	memcpy(p->id.v, mm.build_id, sizeof(p->id.v));
	return strtab_intern(m->strings, mapped_name(rec, &mm), &p->name) ? err_nomem(e) : 0;
}

static int queue_task(const struct recording *rec, const struct record *r, struct pending *p,
		      struct err *e)
{
	struct record_task t;
	int rc = record_task_decode(r, rec->swap, &t, e);
	if (rc)
		return rc;
	p->pid = t.pid;
	p->tid = t.tid;
	p->ppid = t.ppid;
	p->ptid = t.ptid;
	p->exec = r->type == PERF_RECORD_FORK && r->misc & PERF_RECORD_MISC_FORK_EXEC;
	return 0;
}

static int queue_ksymbol(struct machine *m, const struct recording *rec, const struct record *r,
			 struct pending *p, struct err *e)
{
	struct record_ksymbol k;
	int rc = record_ksymbol_decode(r, rec->swap, &k, e);
	if (rc)
		return rc;
	p->map = (struct map){.start = k.addr, .end = k.addr + k.len, .prot = LINUX_PROT_EXEC};
	p->flags = k.flags;
	return strtab_intern(m->strings, k.name, &p->name) ? err_nomem(e) : 0;
}

static int queue_namespaces(const struct recording *rec, const struct record *r,
			    struct pending *p, struct err *e)
{
	struct record_namespaces n;
	int rc = record_namespaces_decode(r, rec->swap, &n, e);
	if (rc)
		return rc;
	p->pid = n.pid;
	p->tid = n.tid;
	p->mount = n.mount;
	return 0;
}

static int queue_comm(struct machine *m, const struct recording *rec, const struct record *r,
		      struct pending *p, struct err *e)
{
	struct record_comm c;
	int rc = record_comm_decode(r, rec->swap, &c, e);
	if (rc)
		return rc;
	p->pid = c.pid;
	p->tid = c.tid;
	p->exec = c.exec;
	return strtab_intern(m->strings, c.comm, &p->name) ? err_nomem(e) : 0;
}

/* Ids are never reused for another path, so no time is needed. */
static int queue_cgroup(struct machine *m, const struct recording *rec, const struct record *r,
			struct err *e)
{
	struct record_cgroup c;
	uint32_t name;
	int rc = record_cgroup_decode(r, rec->swap, &c, e);
	if (rc)
		return rc;
	if (strtab_intern(m->strings, c.path, &name) || u64map_put(&m->cgroups, c.id, name))
		return err_nomem(e);
	return 0;
}

/* Begin and end a change of the machine: one thread at a time. */
static void begin_change(struct machine *m)
{
	CHECK(!__atomic_exchange_n(&m->changing, 1, __ATOMIC_ACQUIRE));
}

static int end_change(struct machine *m, int rc)
{
	__atomic_store_n(&m->changing, 0, __ATOMIC_RELEASE);
	return rc;
}

static int apply_record(struct machine *m, const struct recording *rec, const struct record *r,
			uint64_t time, struct err *e)
{
	struct pending p = {
		.time = time == UINT64_MAX ? 0 : time, .seq = m->seq++, .type = r->type};
	int rc = 0;
	switch (r->type) {
	case PERF_RECORD_MMAP:
	case PERF_RECORD_MMAP2:
		rc = queue_mmap(m, rec, r, &p, e);
		break;
	case PERF_RECORD_COMM:
		rc = queue_comm(m, rec, r, &p, e);
		break;
	case PERF_RECORD_FORK:
	case PERF_RECORD_EXIT:
		rc = queue_task(rec, r, &p, e);
		break;
	case PERF_RECORD_NAMESPACES:
		rc = queue_namespaces(rec, r, &p, e);
		break;
	case PERF_RECORD_KSYMBOL:
		rc = queue_ksymbol(m, rec, r, &p, e);
		break;
	case PERF_RECORD_CGROUP:
		return queue_cgroup(m, rec, r, e);
	default:
		return 0;
	}
	if (!rc && vec_push(&m->pending, p))
		rc = err_nomem(e);
	return rc;
}

int machine_apply(struct machine *m, const struct recording *rec, const struct record *r,
		  uint64_t time, struct err *e)
{
	begin_change(m);
	return end_change(m, apply_record(m, rec, r, time, e));
}

/* --- lives: one number's threads or processes, by time ----------------------------------- */

typedef const struct life *(*life_fn)(const struct machine *m, uint32_t id);

static const struct life *thread_life(const struct machine *m, uint32_t id)
{
	return &m->threads.v[id].life;
}

static const struct life *process_life(const struct machine *m, uint32_t id)
{
	return &m->processes.v[id].life;
}

/* The life of `own`, after `older`. Its skip link lets any of n lives be found in O(log n)
 * steps (the skew-binary lists of Myers). */
static struct life next_life(const struct machine *m, life_fn of, uint32_t own, uint64_t start,
			     uint32_t older)
{
	struct life l = {.start = start, .older = older, .skip = own};
	if (older == NO_ID)
		return l;
	const struct life *o = of(m, older), *j = of(m, o->skip);
	l.index = o->index + 1;
	l.skip = o->index - j->index == j->index - of(m, j->skip)->index ? j->skip : older;
	return l;
}

/* The newest life, of `id` and those before it, that had begun at `time`, else the oldest.
 * *until is the start of the next one. */
static uint32_t life_at(const struct machine *m, life_fn of, uint32_t id, uint64_t time,
			uint64_t *until)
{
	for (;;) {
		const struct life *l = of(m, id);
		if (l->start <= time || l->older == NO_ID)
			return id;
		*until = l->start;
		id = of(m, l->skip)->start > time ? l->skip : l->older;
	}
}

/* --- making threads and processes ------------------------------------------------------- */

static int add_image(struct machine *m, uint32_t process, uint64_t time, uint32_t space)
{
	struct process_image im = {.since = time, .space = space};
	m->spaces.v[space].process = process;
	return vec_push(&m->processes.v[process].images, im);
}

/* A new life of `pid`, with a new image (a copy of `parent`'s, unless NO_ID). */
static int new_process(struct machine *m, int32_t pid, uint64_t time, uint32_t parent_space,
		       uint32_t *id)
{
	uint32_t space, older = NO_ID;
	u64map_get(&m->by_pid, (uint32_t)pid, &older);
	struct process p = {
		.pid = pid,
		.ppid = -1,
		.life = next_life(m, process_life, (uint32_t)m->processes.n, time, older)};
	if (parent_space != NO_ID)
		p.has_code = m->processes.v[m->spaces.v[parent_space].process].has_code;
	if (machine_new_space(m, parent_space, time, &space) || vec_push(&m->processes, p))
		return ERR_NOMEM;
	*id = (uint32_t)(m->processes.n - 1);
	if (add_image(m, *id, time, space))
		return ERR_NOMEM;
	return u64map_put(&m->by_pid, (uint32_t)pid, *id);
}

static int find_process(struct machine *m, int32_t pid, uint32_t *id)
{
	if (u64map_get(&m->by_pid, (uint32_t)pid, id))
		return 0;
	return new_process(m, pid, 0, NO_ID, id);
}

static int new_thread(struct machine *m, int32_t pid, int32_t tid, uint64_t time,
		      uint32_t process, uint32_t *id)
{
	uint32_t older = NO_ID;
	u64map_get(&m->by_tid, (uint32_t)tid, &older);
	struct thread t = {
		.pid = pid,
		.tid = tid,
		.life = next_life(m, thread_life, (uint32_t)m->threads.n, time, older),
		.exit = TIME_END,
		.process = process};
	if (vec_push(&m->threads, t))
		return ERR_NOMEM;
	*id = (uint32_t)(m->threads.n - 1);
	return u64map_put(&m->by_tid, (uint32_t)tid, *id);
}

/* The newest thread of tid; made when there is none, or when it belonged to another process. */
static int find_thread(struct machine *m, int32_t pid, int32_t tid, uint64_t time, uint32_t *id)
{
	uint32_t process;
	int known = u64map_get(&m->by_tid, (uint32_t)tid, id);
	if (known && (pid == -1 || m->threads.v[*id].pid == pid))
		return 0;
	if (find_process(m, pid, &process))
		return ERR_NOMEM;
	return new_thread(m, pid, tid, known ? time : 0, process, id);
}

static int set_comm(struct machine *m, uint32_t thread, uint64_t time, uint32_t comm)
{
	struct thread *t = &m->threads.v[thread];
	if (t->comms.n && t->comms.v[t->comms.n - 1].comm == comm)
		return 0;
	struct thread_comm c = {.since = time, .comm = comm};
	return vec_push(&t->comms, c);
}

static uint32_t current_space(const struct machine *m, uint32_t process)
{
	const struct process *p = &m->processes.v[process];
	return p->images.v[p->images.n - 1].space;
}

/* --- applying records -------------------------------------------------------------------- */

static int apply_comm(struct machine *m, const struct pending *p)
{
	uint32_t thread, space;
	if (find_thread(m, p->pid, p->tid, p->time, &thread))
		return ERR_NOMEM;
	if (p->exec) {
		uint32_t process = m->threads.v[thread].process;
		uint32_t old = current_space(m, process);
		if (machine_new_space(m, NO_ID, p->time, &space) ||
		    add_image(m, process, p->time, space))
			return ERR_NOMEM;
		m->spaces.v[space].execed_from = old;
		m->spaces.v[space].exec_time = p->time;
	}
	return set_comm(m, thread, p->time, p->name);
}

static int apply_fork(struct machine *m, const struct pending *p)
{
	uint32_t parent, process, thread;
	if (find_thread(m, p->ppid, p->ptid, p->time, &parent))
		return ERR_NOMEM;
	/* perf synthesizes records of existing threads, which repeat what is known */
	if (p->tid == p->ptid && p->pid == p->ppid)
		return 0;
	if (p->pid == p->ppid) {
		process = m->threads.v[parent].process;
	} else {
		uint32_t from =
			p->exec ? NO_ID : current_space(m, m->threads.v[parent].process);
		uint32_t known;
		/* synthesized for a process already described: its maps came before its fork */
		if (p->exec && u64map_get(&m->by_pid, (uint32_t)p->pid, &known))
			process = known;
		else if (new_process(m, p->pid, p->time, from, &process))
			return ERR_NOMEM;
		m->processes.v[process].ppid = p->ppid;
		m->processes.v[process].mount =
			m->processes.v[m->threads.v[parent].process].mount;
	}
	if (new_thread(m, p->pid, p->tid, p->time, process, &thread))
		return ERR_NOMEM;
	const struct thread *pt = &m->threads.v[parent];
	if (!pt->comms.n || !p->ppid) /* of a hidden parent */
		return 0;
	return set_comm(m, thread, p->time, pt->comms.v[pt->comms.n - 1].comm);
}

static int apply_mmap(struct machine *m, const struct pending *p)
{
	struct dso d;
	uint32_t process;
	if (machine_classify(m, p, &d))
		return ERR_NOMEM;
	if (d.kind == DSO_KERNEL || d.kind == DSO_MODULE)
		return machine_add_map(m, SPACE_KERNEL, p, &d);
	if (find_process(m, p->pid, &process))
		return ERR_NOMEM;
	if (d.kind == DSO_ANON) {
		d.process = process;
		m->processes.v[process].has_code = 1;
	}
	uint32_t space = current_space(m, process), n = (uint32_t)m->maps.n;
	int rc = machine_add_map(m, space, p, &d);
	if (!rc && m->maps.n > n)
		m->maps.v[n].mount = m->processes.v[process].mount;
	if (rc || m->maps.n == n || !(p->map.prot & LINUX_PROT_EXEC))
		return rc;
	return d.kind == DSO_FILE   ? machine_note_text(m, space, n)
	       : d.kind == DSO_ANON ? machine_restore_text(m, space, n)
				    : 0;
}

static int apply_namespaces(struct machine *m, const struct pending *p)
{
	uint32_t thread;
	if (p->tid != p->pid || !p->mount)
		return 0;
	if (find_thread(m, p->pid, p->tid, p->time, &thread))
		return ERR_NOMEM;
	return machine_set_mount(m, thread, p);
}

static int apply_ksymbol(struct machine *m, const struct pending *p)
{
	struct dso d = {
		.name = p->name, .path = p->name, .kind = DSO_BPF, .pid = -1, .process = NO_ID};
	enum { KSYMBOL_UNREGISTER = 1 };
	size_t n = m->maps.n;
	uint32_t gone;
	if (!(p->flags & KSYMBOL_UNREGISTER)) {
		int rc = machine_add_map(m, SPACE_KERNEL, p, &d);
		if (rc || m->maps.n == n)
			return rc;
		return u64map_put(&m->bpf, p->map.start, (uint32_t)n);
	}
	if (!u64map_get(&m->bpf, p->map.start, &gone) || m->maps.v[gone].until != TIME_END)
		return 0;
	m->maps.v[gone].until = p->time;
	if (vec_push(&m->spaces.v[SPACE_KERNEL].changes, p->time))
		return ERR_NOMEM;
	return machine_note_change(m, SPACE_KERNEL);
}

/*
 * Inside a container the kernel writes pid 0 for processes of other pid namespaces. They are
 * many, so neither names nor mappings of pid 0 are those of a sample with that pid; and it may
 * be the idle task. perf itself describes no pid 0 but for the idle task's name.
 */
static int is_hidden(const struct machine *m, const struct pending *p)
{
	return !p->pid && p->type != PERF_RECORD_KSYMBOL &&
	       !(p->type == PERF_RECORD_COMM && p->name == m->comm_swapper) &&
	       !(p->type == PERF_RECORD_MMAP2 && p->exec);
}

static int note_hidden(struct machine *m, const struct pending *p)
{
	uint32_t thread, name;
	if (m->hidden)
		return 0;
	m->hidden = 1;
	return find_thread(m, 0, 0, 0, &thread) || strtab_intern(m->strings, "[pid 0]", &name)
		       ? ERR_NOMEM
		       : set_comm(m, thread, p->time, name);
}

static int apply(struct machine *m, const struct pending *p)
{
	uint32_t thread;
	if (is_hidden(m, p))
		return note_hidden(m, p);
	switch (p->type) {
	case PERF_RECORD_COMM:
		return apply_comm(m, p);
	case PERF_RECORD_FORK:
		return apply_fork(m, p);
	case PERF_RECORD_EXIT:
		if (u64map_get(&m->by_tid, (uint32_t)p->tid, &thread))
			m->threads.v[thread].exit = p->time;
		return 0;
	case PERF_RECORD_NAMESPACES:
		return apply_namespaces(m, p);
	case PERF_RECORD_KSYMBOL:
		return apply_ksymbol(m, p);
	default:
		return apply_mmap(m, p);
	}
}

static int by_time(const void *a, const void *b)
{
	const struct pending *x = a, *y = b;
	if (x->time != y->time)
		return x->time < y->time ? -1 : 1;
	return x->seq < y->seq ? -1 : x->seq > y->seq;
}

int machine_advance(struct machine *m, uint64_t until, struct err *e)
{
	size_t i = 0;
	CHECK(until >= m->applied);
	begin_change(m);
	if (m->pending.n)
		qsort(m->pending.v, m->pending.n, sizeof(*m->pending.v), by_time);
	for (; i < m->pending.n && m->pending.v[i].time <= until; i++)
		if (apply(m, &m->pending.v[i]))
			return end_change(m, err_nomem(e));
	if (i == m->pending.n)
		vec_release(&m->pending);
	else if (i)
		memmove(m->pending.v, m->pending.v + i,
			(m->pending.n - i) * sizeof(*m->pending.v));
	m->pending.n -= m->pending.n ? i : 0;
	m->applied = until;
	machine_sort_spaces(m, until == TIME_END);
	return end_change(m, 0);
}

uint64_t machine_next(const struct machine *m)
{
	return m->pending.n ? m->pending.v[0].time : UINT64_MAX;
}

int machine_init(struct machine *m, struct strtab *strings, struct err *e)
{
	*m = (struct machine){.strings = strings, .kernel_map = NO_ID};
	uint32_t kernel, swapper, process;
	if (machine_new_space(m, NO_ID, 0, &kernel) ||
	    strtab_intern(strings, "swapper", &m->comm_swapper) ||
	    new_process(m, 0, 0, NO_ID, &process) ||
	    new_thread(m, 0, 0, 0, process, &swapper) ||
	    set_comm(m, swapper, 0, m->comm_swapper)) {
		machine_release(m);
		return err_nomem(e);
	}
	return 0;
}

void machine_release(struct machine *m)
{
	for (size_t i = 0; i < m->threads.n; i++)
		vec_release(&m->threads.v[i].comms);
	for (size_t i = 0; i < m->processes.n; i++)
		vec_release(&m->processes.v[i].images);
	for (size_t i = 0; i < m->spaces.n; i++) {
		vec_release(&m->spaces.v[i].by_start);
		vec_release(&m->spaces.v[i].extents);
		vec_release(&m->spaces.v[i].changes);
		vec_release(&m->spaces.v[i].text);
	}
	vec_release(&m->threads);
	vec_release(&m->processes);
	vec_release(&m->spaces);
	vec_release(&m->maps);
	vec_release(&m->dsos);
	vec_release(&m->paths);
	u64map_release(&m->mounts);
	u64map_release(&m->by_path);
	vec_release(&m->pending);
	vec_release(&m->unsorted);
	u64map_release(&m->by_tid);
	u64map_release(&m->by_pid);
	idmap_release(&m->dso_index);
	u64map_release(&m->bpf);
	u64map_release(&m->cgroups);
	*m = (struct machine){0};
}

/* --- questions ---------------------------------------------------------------------------- */

/* The life of `tid` that was running at `time`; *until is where the next one begins. */
static uint32_t thread_at(const struct machine *m, int32_t tid, uint64_t time, uint64_t *until)
{
	uint32_t id;
	*until = TIME_END;
	if (!u64map_get(&m->by_tid, (uint32_t)tid, &id))
		return NO_ID;
	id = life_at(m, thread_life, id, time, until);
	uint64_t start = m->threads.v[id].life.start;
	if (start <= time)
		return id;
	*until = start;
	return NO_ID;
}

static void narrow(struct thread_view *v, uint64_t since, uint64_t until)
{
	if (since > v->since)
		v->since = since;
	if (until < v->until)
		v->until = until;
}

/* How many of n sorted elements, which have `size` bytes and begin with their time, are not
 * after `time`. */
static size_t count_until(const void *of, size_t size, size_t n, uint64_t time)
{
	return search_after((struct by_key){of, size, 0}, 0, n, time);
}

static void view_comm(const struct thread *t, uint64_t time, struct thread_view *v)
{
	size_t n = count_until(t->comms.v, sizeof(*t->comms.v), t->comms.n, time);
	if (n < t->comms.n)
		narrow(v, 0, t->comms.v[n].since);
	if (!n)
		return;
	v->comm = t->comms.v[n - 1].comm;
	narrow(v, t->comms.v[n - 1].since, TIME_END);
}

static void view_space(const struct machine *m, const struct process *p, uint64_t time,
		       struct thread_view *v)
{
	size_t i = count_until(p->images.v, sizeof(*p->images.v), p->images.n, time);
	i -= i > 0; /* the first existed before */
	if (i + 1 < p->images.n)
		narrow(v, 0, p->images.v[i + 1].since);
	narrow(v, i ? p->images.v[i].since : 0, TIME_END);
	v->space = p->images.v[i].space;
	const struct space *s = &m->spaces.v[v->space];
	size_t n = count_until(s->changes.v, sizeof(*s->changes.v), s->changes.n, time);
	size_t k =
		count_until(s->code_changes, sizeof(*s->code_changes), s->ncode_changes, time);
	v->version = (uint32_t)(n + k);
	narrow(v, n ? s->changes.v[n - 1] : 0, n < s->changes.n ? s->changes.v[n] : TIME_END);
	narrow(v, k ? s->code_changes[k - 1] : 0,
	       k < s->ncode_changes ? s->code_changes[k] : TIME_END);
}

void machine_kernel_at(const struct machine *m, uint64_t time, struct thread_view *out)
{
	const struct space *s = &m->spaces.v[SPACE_KERNEL];
	size_t n = count_until(s->changes.v, sizeof(*s->changes.v), s->changes.n, time);
	*out = (struct thread_view){.thread = NO_ID,
				    .comm = NO_ID,
				    .space = SPACE_KERNEL,
				    .version = (uint32_t)n,
				    .since = n ? s->changes.v[n - 1] : 0,
				    .until = n < s->changes.n ? s->changes.v[n] : TIME_END};
}

/* A thread that was already unlinked when it was sampled has tid 0 (or -1) and its process's
 * pid: it gets the process's name. */
static int is_unlinked(int32_t pid, int32_t tid)
{
	return pid > 0 && tid <= 0;
}

uint32_t machine_program(const struct machine *m, int32_t pid)
{
	uint32_t at;
	if (pid <= 0 || !u64map_get(&m->by_tid, (uint32_t)pid, &at))
		return NO_ID;
	const struct thread *t = &m->threads.v[at];
	if (t->pid != pid || !t->comms.n)
		return NO_ID;
	uint32_t comm = t->comms.v[t->comms.n - 1].comm;
	return *strtab_get(m->strings, comm) ? comm : NO_ID;
}

int machine_has_ended(const struct machine *m, uint32_t process)
{
	const struct process *p = &m->processes.v[process];
	uint32_t id;
	if (!u64map_get(&m->by_tid, (uint32_t)p->pid, &id))
		return 0;
	while (m->threads.v[id].process != process && m->threads.v[id].life.older != NO_ID)
		id = m->threads.v[id].life.older;
	const struct thread *t = &m->threads.v[id];
	return t->process == process && t->exit != TIME_END;
}

int machine_is_pid_reused(const struct machine *m, uint32_t process)
{
	uint32_t id, with_code = 0;
	if (!u64map_get(&m->by_pid, (uint32_t)m->processes.v[process].pid, &id))
		return 0;
	for (; id != NO_ID && with_code < 2; id = m->processes.v[id].life.older)
		with_code += m->processes.v[id].has_code;
	return with_code == 2;
}

/* The life of `pid` at `time`. */
static const struct process *process_at(const struct machine *m, int32_t pid, uint64_t time,
					struct thread_view *v)
{
	uint32_t id;
	if (!u64map_get(&m->by_pid, (uint32_t)pid, &id))
		return NULL;
	uint64_t until = TIME_END;
	id = life_at(m, process_life, id, time, &until);
	narrow(v, m->processes.v[id].life.start, until);
	return &m->processes.v[id];
}

void machine_thread_at(const struct machine *m, int32_t pid, int32_t tid, uint64_t time,
		       struct thread_view *out)
{
	uint64_t until;
	*out = (struct thread_view){
		.thread = NO_ID, .comm = NO_ID, .space = NO_ID, .until = TIME_END};
	out->thread = thread_at(m, is_unlinked(pid, tid) ? pid : tid, time, &until);
	narrow(out, 0, until);
	const struct process *p = NULL;
	if (out->thread != NO_ID && (m->threads.v[out->thread].pid == pid || pid == -1)) {
		const struct thread *t = &m->threads.v[out->thread];
		narrow(out, t->life.start, TIME_END);
		view_comm(t, time, out);
		p = &m->processes.v[t->process];
	} else {
		out->thread = NO_ID;
		p = process_at(m, pid, time, out);
	}
	if (p)
		view_space(m, p, time, out);
	if (out->since > time)
		out->since = time;
	if (out->until <= time)
		out->until = time + 1;
}
