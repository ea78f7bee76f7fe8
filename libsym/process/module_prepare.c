/* module_prepare.c - opens files and builds tables in advance, on other threads. */
#include "base/mem.h"
#include "libsym/aggregate.h"
#include "libsym/unwind/arch.h"
#include "libsym/unwind/stack_words.h"
#include "libsym/process/modules_internal.h"

enum {
	PREPARERS_MAX = 4,
	WANTED_MAX = 1 << 20, /* addresses kept for one DSO */
	WANTED_BATCH = 128,   /* addresses of one DSO for which a thread is woken */
	KERNEL_JOB = -1,
};

/* The requests for one DSO. */
struct requests {
	VEC(uint64_t) offsets;
	uint8_t active; /* queued, or being processed */
	uint8_t begun;  /* the first address has been processed */
};

struct preparer {
	struct modules *ms;
	pthread_mutex_t
		lock; /* protects all below; never held together with the modules' lock */
	pthread_cond_t more;
	pthread_t threads[PREPARERS_MAX];
	int nthreads, max, idle;
	int closing;
	VEC(struct requests) requests; /* by DSO */
	VEC(int64_t) queue;            /* DSOs, or KERNEL_JOB */
	size_t head;
	int kernel_wanted;
	struct kernel_place kernel;
};

/* --- the work ------------------------------------------------------------------------- */

int module_is_read(const struct modules *ms, const struct module *mod)
{
	return !(mod->files.runtime || mod->files.debug) ||
	       (mod->symbols_tried &&
		(mod->debuginfo_tried || !(ms->opt.inlines || ms->opt.lines)));
}

/* Symbols, then DWARF. Read without the lock; the module is `busy` meanwhile. */
void module_read(struct modules *ms, struct module *mod)
{
	struct symtab *symbols = NULL;
	struct debuginfo *debuginfo = NULL;
	const struct dso_files *f = &mod->files;
	int want_symbols = !mod->symbols_tried;
	int want_debuginfo = !mod->debuginfo_tried && (ms->opt.inlines || ms->opt.lines);
	mod->busy = 1;
	pthread_mutex_unlock(&ms->lock);
	if (want_symbols && symtab_from_elf(f->runtime, f->debug, arch_plt(f->runtime),
					    &symbols, NULL) == ERR_NOMEM)
		want_symbols = 0; /* modules_read will try again, and report it */
	pthread_mutex_lock(&ms->lock);
	if (want_symbols) {
		mod->symbols = symbols;
		mod->symbols_tried = 1;
		pthread_cond_broadcast(&ms->unbusy);
	}
	pthread_mutex_unlock(&ms->lock);
	if (want_debuginfo && module_debuginfo(ms, mod, &debuginfo))
		want_debuginfo = 0;
	pthread_mutex_lock(&ms->lock);
	if (want_debuginfo) {
		mod->debuginfo = debuginfo;
		mod->debuginfo_tried = 1;
	}
	mod->busy = 0;
	pthread_cond_broadcast(&ms->unbusy);
}

static void prepare_dso(struct modules *ms, uint32_t dso, const uint64_t *offsets, size_t n)
{
	pthread_mutex_lock(&ms->lock);
	struct module *mod = module_of(ms, dso);
	const struct elf_file *f = !mod                 ? NULL
				   : mod->files.runtime ? mod->files.runtime
							: mod->files.debug;
	if (f && !module_is_read(ms, mod))
		module_read(ms, mod);
	struct debuginfo *d = f ? mod->debuginfo : NULL;
	pthread_mutex_unlock(&ms->lock);
	for (size_t i = 0; d && i < n; i++) {
		uint64_t va;
		if (elf_file_vaddr(f, offsets[i], &va))
			debuginfo_prepare(d, va);
	}
}

/* The first address of a DSO starts a thread at once, because its file must be read; waking a
 * thread for each later one would cost more than the work. */
static int is_worth_a_thread(const struct preparer *p, const struct requests *w)
{
	return w->offsets.n >= (w->begun && !p->closing ? WANTED_BATCH : 1);
}

/* Process the requests for a DSO, including new ones. Under the lock, which is released while
 * working. */
static void prepare_dso_requests(struct preparer *p, uint32_t dso)
{
	while (is_worth_a_thread(p, &p->requests.v[dso]) && p->closing != 2) {
		struct requests taken = p->requests.v[dso];
		p->requests.v[dso] = (struct requests){.active = 1, .begun = 1};
		pthread_mutex_unlock(&p->lock);
		prepare_dso(p->ms, dso, taken.offsets.v, taken.offsets.n);
		vec_release(&taken.offsets);
		pthread_mutex_lock(&p->lock);
	}
	p->requests.v[dso].active = 0;
}

static void prepare_kernel(struct preparer *p)
{
	pthread_mutex_unlock(&p->lock);
	kernel_open(p->ms, &p->kernel);
	pthread_mutex_lock(&p->lock);
}

/* Process the queue until it is empty and closed. */
static void *prepare(void *arg)
{
	struct preparer *p = arg;
	pthread_mutex_lock(&p->lock);
	for (;;) {
		while (p->head == p->queue.n && !p->closing) {
			p->idle++;
			pthread_cond_wait(&p->more, &p->lock);
			p->idle--;
		}
		if (p->head == p->queue.n || p->closing == 2)
			break;
		int64_t job = p->queue.v[p->head++];
		if (job == KERNEL_JOB)
			prepare_kernel(p);
		else
			prepare_dso_requests(p, (uint32_t)job);
	}
	pthread_mutex_unlock(&p->lock);
	return NULL;
}

/* --- the interface -------------------------------------------------------------------- */

void modules_read_unit(struct modules *ms, uint32_t dso, uint64_t offset)
{
	if (ms->opt.inlines || ms->opt.lines)
		prepare_dso(ms, dso, &offset, 1);
}

/* If memory is short nothing is prepared, and modules_read does all the work. */
void modules_prepare(struct modules *ms, int threads)
{
	if (threads <= 0 || ms->preparer)
		return;
	struct preparer *p = ms->preparer = mem_zalloc(1, sizeof(*p));
	if (!p)
		return;
	p->ms = ms;
	p->max = threads < PREPARERS_MAX ? threads : PREPARERS_MAX;
	pthread_mutex_init(&p->lock, NULL);
	pthread_cond_init(&p->more, NULL);
}

/* Queue a job and wake or start a thread for it. 1 on success. */
static int enqueue(struct preparer *p, int64_t job)
{
	if (vec_push(&p->queue, job))
		return 0;
	if (p->idle)
		pthread_cond_signal(&p->more);
	else if (p->nthreads < p->max &&
		 !pthread_create(&p->threads[p->nthreads], NULL, prepare, p))
		p->nthreads++;
	return 1;
}

int modules_prefetch_all(const struct modules *ms)
{
	return ms->preparer && (ms->opt.inlines || ms->opt.lines);
}

void modules_prefetch(struct modules *ms, uint32_t dso, uint64_t offset)
{
	struct preparer *p = ms->preparer;
	if (!p || ms->opt.offsets)
		return;
	pthread_mutex_lock(&p->lock);
	while (p->requests.n <= dso && !vec_push(&p->requests, (struct requests){0}))
		;
	struct requests *w = dso < p->requests.n ? &p->requests.v[dso] : NULL;
	if (w && w->offsets.n < WANTED_MAX && !vec_push(&w->offsets, offset) && !w->active &&
	    is_worth_a_thread(p, w))
		w->active = (uint8_t)enqueue(p, dso);
	pthread_mutex_unlock(&p->lock);
}

void modules_prefetch_kernel(struct modules *ms)
{
	struct preparer *p = ms->preparer;
	if (!p)
		return;
	struct kernel_place place;
	pthread_mutex_lock(&ms->lock);
	int have = kernel_place(ms, &place);
	pthread_mutex_unlock(&ms->lock);
	pthread_mutex_lock(&p->lock);
	if (have && !p->kernel_wanted) {
		p->kernel = place;
		__atomic_store_n(&p->kernel_wanted, 1, __ATOMIC_RELAXED);
		enqueue(p, KERNEL_JOB);
	}
	pthread_mutex_unlock(&p->lock);
}

static void prefetch_user(struct modules *ms, const struct stack_entry *x, uint64_t ip)
{
	const struct machine *m = ms->machine;
	const struct map *map = machine_map_at(m, x->space, ip, x->first);
	if (map &&
	    (m->dsos.v[map->dso].kind == DSO_FILE || m->dsos.v[map->dso].kind == DSO_VDSO))
		modules_prefetch(ms, map->dso, ip - map->start + map->pgoff);
}

void modules_prefetch_stack(struct modules *ms, const struct stack_entry *x, size_t nth,
			    int swap, int user)
{
	enum { ALL_OF_FIRST = 32, OF_EACH = 16 };
	struct preparer *p = ms->preparer;
	if (!p)
		return;
	int kernel = x->cpumode == PERF_RECORD_MISC_KERNEL;
	if (kernel && !__atomic_load_n(&p->kernel_wanted, __ATOMIC_RELAXED))
		modules_prefetch_kernel(ms);
	if (!user || x->kind == CHAIN_UNWOUND || (nth >= ALL_OF_FIRST && nth % OF_EACH))
		return;
	for (uint32_t i = 0; i < x->nwords; i++) {
		uint64_t word =
			load_u64(x->words + (size_t)i * 8, swap && x->kind == CHAIN_RAW);
		if (word >= PERF_CONTEXT_MAX)
			kernel = word != PERF_CONTEXT_USER;
		else if (!kernel)
			prefetch_user(ms, x, word);
	}
}

void modules_prepare_end(struct modules *ms, int finish)
{
	struct preparer *p = ms->preparer;
	if (!p)
		return;
	pthread_mutex_lock(&p->lock);
	p->closing = finish ? 1 : 2;
	for (size_t i = 0; finish && i < p->requests.n; i++)
		if (p->requests.v[i].offsets.n && !p->requests.v[i].active)
			p->requests.v[i].active = !vec_push(&p->queue, (int64_t)i);
	pthread_cond_broadcast(&p->more);
	pthread_mutex_unlock(&p->lock);
	prepare(p);
	for (int i = 0; i < p->nthreads; i++)
		pthread_join(p->threads[i], NULL);
	for (size_t i = 0; i < p->requests.n; i++)
		vec_release(&p->requests.v[i].offsets);
	vec_release(&p->requests);
	vec_release(&p->queue);
	pthread_cond_destroy(&p->more);
	pthread_mutex_destroy(&p->lock);
	mem_free(p);
	ms->preparer = NULL;
}
