/*
 * unwindbench - unwind every sample of a `--call-graph dwarf` recording made on this machine,
 * and say how long it took and how the stacks ended.
 *
 *	unwindbench [-p] [-n PASSES] perf.data
 *
 * The first pass is cold (but for the page cache), the others are warm. -p prints the stacks of
 * the first pass, one a line: pid, time, then addresses as `perf script -F ip` gives them (the
 * offset in the file, callers less 1), then the reason.
 */
#include "base/mem.h"
#include "base/vec.h"
#include "libparse/recording.h"
#include "libparse/sample.h"
#include "libsym/unwind/cfi.h"
#include "libsym/unwind/unwind.h"

#include <elf.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

struct dso {
	char path[512];
	struct elf_file *elf;
	struct cfi *cfi;
};

struct map {
	uint64_t start, end, pgoff, bias;
	uint32_t dso;
};

struct process {
	int32_t pid;
	uint32_t space;
	VEC(struct map) maps;
};

struct item {
	uint64_t time;
	size_t order;
	struct record r;
};

struct bench {
	struct recording *rec;
	VEC(struct item) items;
	VEC(struct process *) procs;
	VEC(struct dso) dsos;
	uint32_t spaces;
	uint64_t open_ns;
	int print;
	uint64_t ends[UNWIND_NO_REGS + 1];
};

static uint64_t now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static struct process *process_of(struct bench *b, int32_t pid)
{
	for (size_t i = b->procs.n; i-- > 0;)
		if (b->procs.v[i]->pid == pid)
			return b->procs.v[i];
	struct process *p = mem_zalloc(1, sizeof(*p));
	if (!p || vec_push(&b->procs, p))
		exit(1);
	p->pid = pid;
	p->space = ++b->spaces;
	return p;
}

static uint32_t dso_of(struct bench *b, const char *path)
{
	for (size_t i = 0; i < b->dsos.n; i++)
		if (!strcmp(b->dsos.v[i].path, path))
			return (uint32_t)i;
	struct dso d = {0};
	snprintf(d.path, sizeof(d.path), "%s", path);
	uint64_t t = now();
	if (path[0] == '/' && !elf_file_open(path, &d.elf, NULL))
		cfi_open(d.elf, NULL, &d.cfi, NULL);
	b->open_ns += now() - t;
	if (vec_push(&b->dsos, d))
		exit(1);
	return (uint32_t)b->dsos.n - 1;
}

static uint64_t bias_of(const struct elf_file *f, const struct record_mmap *m)
{
	for (int exec = 1; exec >= 0; exec--)
		for (size_t i = 0; i < f->nsegments; i++) {
			const struct elf_segment *p = &f->segments[i];
			if ((exec && !(p->flags & PF_X)) || p->offset + p->filesz <= m->pgoff ||
			    (p->offset & ~UINT64_C(0xfff)) >= m->pgoff + m->len)
				continue;
			return m->addr - m->pgoff + p->offset - p->vaddr;
		}
	return m->addr - m->pgoff;
}

static void take_mmap(struct bench *b, const struct record_mmap *m)
{
	if (!(m->prot & 4))
		return;
	struct process *p = process_of(b, m->pid);
	struct map n = {m->addr, m->addr + m->len, m->pgoff, 0, dso_of(b, m->filename)};
	const struct elf_file *f = b->dsos.v[n.dso].elf;
	if (f)
		n.bias = bias_of(f, m);
	size_t kept = 0;
	for (size_t i = 0; i < p->maps.n; i++) {
		struct map *o = &p->maps.v[i];
		if (o->end <= n.start || o->start >= n.end)
			p->maps.v[kept++] = *o;
	}
	p->maps.n = kept;
	if (vec_push(&p->maps, n))
		exit(1);
	p->space = ++b->spaces;
}

static void take_sideband(struct bench *b, const struct record *r)
{
	struct record_mmap m;
	struct record_comm c;
	struct record_task t;
	if (r->type == PERF_RECORD_MMAP || r->type == PERF_RECORD_MMAP2) {
		if (!record_mmap_decode(r, b->rec->swap, &m, NULL) && m.pid >= 0)
			take_mmap(b, &m);
	} else if (r->type == PERF_RECORD_COMM) {
		if (!record_comm_decode(r, b->rec->swap, &c, NULL) && c.exec) {
			struct process *p = process_of(b, c.pid);
			p->maps.n = 0;
			p->space = ++b->spaces;
		}
	} else if (r->type == PERF_RECORD_FORK &&
		   !record_task_decode(r, b->rec->swap, &t, NULL) && t.pid != t.ppid) {
		struct process *from = process_of(b, t.ppid), *to = process_of(b, t.pid);
		to->maps.n = 0;
		for (size_t i = 0; i < from->maps.n; i++)
			if (vec_push(&to->maps, from->maps.v[i]))
				exit(1);
		to->space = ++b->spaces;
	}
}

struct ctx {
	struct bench *b;
	struct process *p;
};

static const struct map *map_at(const struct process *p, uint64_t pc)
{
	for (size_t i = 0; i < p->maps.n; i++)
		if (pc >= p->maps.v[i].start && pc < p->maps.v[i].end)
			return &p->maps.v[i];
	return NULL;
}

static int module_at(void *ctx, uint64_t pc, struct unwind_module *out)
{
	struct ctx *c = ctx;
	const struct map *m = map_at(c->p, pc);
	if (!m)
		return 0;
	const struct dso *d = &c->b->dsos.v[m->dso];
	*out = (struct unwind_module){d->cfi, m->bias, m->dso + 1,
				      d->elf ? 0 : UNWIND_MOD_NO_FILE};
	return 1;
}

static void print_stack(const struct ctx *c, const struct sample *s,
			const struct unwind_stack *st)
{
	printf("%d %" PRIu64, s->pid, s->time);
	for (size_t i = 0; i < st->n; i++) {
		const struct unwind_frame *f = &st->frames[i];
		const struct map *m = map_at(c->p, f->lookup);
		uint64_t ip = f->ip - (i > 0);
		printf(" %" PRIx64, m ? ip - m->start + m->pgoff : ip);
	}
	printf(" %s\n", unwind_end_name(st->end));
}

static void take_sample(struct bench *b, struct unwinder *u, const struct record *r)
{
	struct sample s;
	struct unwind_stack st;
	struct err e = {0};
	const struct event *ev = recording_event(b->rec, r);
	if (!ev || sample_decode(r, ev, b->rec->swap, &s, &e) || !s.stack)
		return;
	struct ctx c = {b, process_of(b, s.pid)};
	struct unwind_sample us = {
		.regs = s.regs_user.p,
		.regs_mask = ev->attr.sample_regs_user,
		.abi = s.regs_abi,
		.stack = s.stack,
		.stack_size = s.stack_dyn,
		.stack_asked = s.stack_size,
		.space = c.p->space,
		.in_kernel = (s.misc & 7) == 1,
		.ctx = &c,
	};
	if (unwind_sample(u, &us, &st, &e))
		exit(1);
	b->ends[st.end]++;
	if (b->print)
		print_stack(&c, &s, &st);
}

static int by_time(const void *x, const void *y)
{
	const struct item *a = x, *b = y;
	if (a->time != b->time)
		return a->time < b->time ? -1 : 1;
	return a->order < b->order ? -1 : 1;
}

static void forget_processes(struct bench *b)
{
	for (size_t i = 0; i < b->procs.n; i++) {
		vec_release(&b->procs.v[i]->maps);
		mem_free(b->procs.v[i]);
	}
	b->procs.n = 0;
	b->spaces = 0;
}

static void one_pass(struct bench *b, struct unwinder *u, int pass)
{
	struct unwind_stats before, after;
	unwind_get_stats(u, &before);
	memset(b->ends, 0, sizeof(b->ends));
	forget_processes(b);
	b->open_ns = 0;
	uint64_t t = now(), ns;
	for (size_t i = 0; i < b->items.n; i++) {
		const struct record *r = &b->items.v[i].r;
		if (r->type == PERF_RECORD_SAMPLE)
			take_sample(b, u, r);
		else
			take_sideband(b, r);
	}
	ns = now() - t - b->open_ns;
	unwind_get_stats(u, &after);
	double stacks = (double)(after.stacks - before.stacks);
	double frames = (double)(after.frames - before.frames);
	fprintf(stderr,
		"pass %d: %.0f stacks, %.1f frames each; %.2f us a stack, %.0f ns a frame; "
		"opening files %.1f ms; %" PRIu64 " misses, %" PRIu64 " restarts\n",
		pass, stacks, frames / stacks, (double)ns / 1e3 / stacks, (double)ns / frames,
		(double)b->open_ns / 1e6, after.misses - before.misses,
		after.restarts - before.restarts);
}

int main(int argc, char **argv)
{
	static struct bench b;
	struct err e = {0};
	int opt, passes = 2;
	while ((opt = getopt(argc, argv, "pn:")) != -1) {
		if (opt == 'p')
			b.print = 1;
		else if (opt == 'n')
			passes = atoi(optarg);
		else
			return 2;
	}
	if (optind + 1 != argc)
		return 2;
	if (recording_open(&b.rec, argv[optind], &e)) {
		fprintf(stderr, "%s\n", e.msg);
		return 1;
	}
	struct item it = {0};
	while (recording_next(b.rec, &it.r, &e) == 1) {
		struct record_id id;
		recording_id(b.rec, &it.r, &id);
		it.time = id.has_time ? id.time : 0;
		chunk_hold(it.r.chunk);
		it.order++;
		if (vec_push(&b.items, it))
			return 1;
	}
	if (b.items.n)
		qsort(b.items.v, b.items.n, sizeof(*b.items.v), by_time);
	struct unwind_opts o = {.machine = EM_X86_64, .module_at = module_at};
	struct unwinder *u;
	if (unwinder_new(&o, &u, &e))
		return 1;
	for (int i = 1; i <= passes; i++) {
		one_pass(&b, u, i);
		b.print = 0;
	}
	for (int i = UNWIND_COMPLETE; i <= UNWIND_NO_REGS; i++)
		if (b.ends[i])
			fprintf(stderr, "%s %" PRIu64 "\n", unwind_end_name((enum unwind_end)i),
				b.ends[i]);
	size_t memory = 0;
	for (size_t i = 0; i < b.dsos.n; i++) {
		memory += b.dsos.v[i].cfi ? cfi_memory(b.dsos.v[i].cfi) : 0;
		cfi_close(b.dsos.v[i].cfi);
		elf_file_close(b.dsos.v[i].elf);
	}
	fprintf(stderr, "CFI tables: %zu KiB\n", memory / 1024);
	unwinder_free(u);
	forget_processes(&b);
	vec_release(&b.procs);
	vec_release(&b.dsos);
	for (size_t i = 0; i < b.items.n; i++)
		chunk_drop(b.items.v[i].r.chunk);
	vec_release(&b.items);
	recording_close(b.rec);
	return 0;
}
