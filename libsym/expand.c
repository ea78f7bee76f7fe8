#include "libsym/expand.h"
#include "base/mem.h"
#include "libparse/linux_mmap.h"
#include "libsym/process/jit_files.h"
#include "libsym/unwind/arch.h"
#include "libsym/unwind/cfi.h"
#include "libsym/unwind/stack_words.h"

/* The most frames of a deferred chain: UNWIND_MAX_ENTRIES of kernel/unwind/deferred.c. */
enum { DEFERRED_FRAMES = 510 };

/* A DSO whose code was met. */
struct unwound_dso {
	struct module_cfi own;
	uint8_t asked;  /* `own` is known */
	uint8_t wanted; /* it is being prepared */
	uint8_t jit;    /* perf inject made it of generated code */
};

struct expander {
	const struct recording *rec;
	const struct arch *arch; /* of the recording; NULL: cannot be unwound */
	const struct machine *machine;
	struct modules *modules;
	const struct deferred_chains *deferred;
	struct unwinder *unwinder;
	struct unwinder *compat;   /* of 32-bit programs; made on first use */
	uint16_t elf_machine;      /* e_machine of the sample being unwound */
	int max_stack;             /* as given by the caller */
	struct u64map generations; /* space << 32 | version → number for the unwinder's cache */
	uint32_t next_generation;
	uint32_t space; /* of the sample being unwound … */
	uint64_t time;  /* … and its time, for module_at */
	VEC(uint64_t) words;
	VEC(uint64_t) user; /* user part of the recorded callchain */
	VEC(struct unwound_dso) dsos;
	struct expand_counts counts;
};

int deferred_add(struct deferred_chains *d, const struct record *r, int swap, struct err *e)
{
	struct bytes b =
		bytes_init(r->p + RECORD_HEADER_SIZE, r->size - RECORD_HEADER_SIZE, swap);
	uint64_t cookie = bytes_u64(&b), n = bytes_u64(&b);
	if (!bytes_ok(&b) || n > bytes_left(&b) / 8)
		return err_set(
			e, ERR_FORMAT,
			"CALLCHAIN_DEFERRED at 0x%llx: chain extends past the record's end",
			(unsigned long long)r->offset);
	uint64_t *ips = arena_alloc(&d->text, (size_t)n * 8);
	if (!ips)
		return err_nomem(e);
	for (uint64_t i = 0; i < n; i++)
		ips[i] = bytes_u64(&b);
	struct deferred_chain c = {.ips = ips, .n = (uint32_t)n};
	if (vec_push(&d->chains, c) ||
	    u64map_put(&d->by_cookie, cookie, (uint32_t)(d->chains.n - 1)))
		return err_nomem(e);
	return 0;
}

void deferred_release(struct deferred_chains *d)
{
	arena_release(&d->text);
	u64map_release(&d->by_cookie);
	vec_release(&d->chains);
}

static int has_dump(const struct event_attr *a)
{
	uint64_t both = PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER;
	return (a->sample_type & both) == both;
}

static int has_lbr_stack(const struct event_attr *a)
{
	return a->sample_type & PERF_SAMPLE_BRANCH_STACK &&
	       a->branch_sample_type & PERF_SAMPLE_BRANCH_CALL_STACK;
}

/* Bit of sample_regs_user of a register. */
static uint64_t regs_bit(const struct arch *a, uint8_t dwarf)
{
	return 1ull << arch_perf_bit(a, dwarf);
}

/* perf record -g on aarch64, since 5.17: the sample has the link register, too. */
static int has_link_register(const struct event_attr *a, const struct arch *arch)
{
	uint64_t both = PERF_SAMPLE_REGS_USER | PERF_SAMPLE_CALLCHAIN;
	return (a->sample_type & both) == both && !(a->sample_type & PERF_SAMPLE_STACK_USER) &&
	       arch && arch->lr != ARCH_NONE && a->sample_regs_user & regs_bit(arch, arch->lr);
}

const struct arch *expander_arch(const struct recording *rec)
{
	if (rec->features.arch)
		return arch_named(rec->features.arch);
	for (size_t i = 0; i < rec->events.n; i++) {
		uint64_t regs = rec->events.v[i].attr.sample_regs_user;
		if (regs)
			return arch_of_registers(regs);
	}
	return NULL;
}

int expander_needed(const struct recording *rec)
{
	const struct arch *arch = expander_arch(rec);
	for (size_t i = 0; i < rec->events.n; i++) {
		const struct event_attr *a = &rec->events.v[i].attr;
		if (has_dump(a) || has_lbr_stack(a) || has_link_register(a, arch) ||
		    attr_flag(a, ATTR_DEFER_CALLCHAIN))
			return 1;
	}
	return 0;
}

static int dso_at(struct expander *x, uint32_t dso, struct unwound_dso **out)
{
	while (x->dsos.n <= dso)
		if (vec_push(&x->dsos, (struct unwound_dso){0}))
			return ERR_NOMEM;
	struct unwound_dso *d = *out = &x->dsos.v[dso];
	int rc = d->asked ? 0 : modules_cfi(x->modules, dso, &d->own);
	if (!d->asked)
		d->jit = (uint8_t)jitfiles_is_injected(
			strtab_get(x->machine->strings, x->machine->dsos.v[dso].path));
	d->asked = !rc;
	return rc;
}

/* Prefetch the file's symbols before its addresses are looked up. */
static void prefetch_file(struct expander *x, struct unwound_dso *d, uint32_t dso,
			  uint64_t offset)
{
	if (!d->wanted || modules_prefetch_all(x->modules))
		modules_prefetch(x->modules, dso, offset);
	d->wanted = 1;
}

static int module_at(void *ctx, uint64_t pc, struct unwind_module *out)
{
	struct expander *x = ctx;
	const struct map *map = machine_map_at(x->machine, x->space, pc, x->time);
	uint64_t vaddr, offset;
	if (!map || !(map->prot & LINUX_PROT_EXEC))
		return 0;
	const struct dso *d = &x->machine->dsos.v[map->dso];
	out->id = (uint32_t)(map - x->machine->maps.v) + 1;
	if (d->kind == DSO_ANON) {
		out->flags = UNWIND_MOD_JIT;
		int r = modules_jit_cfi(x->modules, x->elf_machine, x->space, pc, x->time,
					&out->cfi, &out->bias);
		return r ? r : 1;
	}
	if (d->kind == DSO_SPECIAL && machine_is_uprobes(x->machine, d)) {
		out->flags = UNWIND_MOD_UPROBES;
		return 1;
	}
	struct unwound_dso *u;
	int rc = dso_at(x, map->dso, &u);
	if (rc)
		return rc;
	out->cfi = u->own.cfi;
	out->flags = u->jit ? UNWIND_MOD_JIT : 0;
	if (!out->cfi) {
		out->flags |= UNWIND_MOD_NO_FILE;
		return 1;
	}
	offset = pc - map->start + map->pgoff;
	if (!elf_file_vaddr(u->own.file, offset, &vaddr))
		return 0;
	prefetch_file(x, u, map->dso, offset);
	out->bias = pc - vaddr;
	return 1;
}

/* Roots that CFI does not mark: musl's, coroutines', hand-written ones. */
static int is_root(void *ctx, uint64_t lookup)
{
	struct expander *x = ctx;
	const struct map *map = machine_map_at(x->machine, x->space, lookup, x->time);
	return map && x->machine->dsos.v[map->dso].kind == DSO_FILE
		       ? modules_root_at(x->modules, map, lookup)
		       : 0;
}

static int function_at(void *ctx, uint64_t lookup, uint64_t *start)
{
	struct expander *x = ctx;
	const struct map *map = machine_map_at(x->machine, x->space, lookup, x->time);
	return map && x->machine->dsos.v[map->dso].kind == DSO_FILE &&
	       modules_function_at(x->modules, map, lookup, start);
}

static int make_unwinder(struct expander *x, uint16_t machine, struct unwinder **out,
			 struct err *e)
{
	struct unwind_opts o = {.machine = machine,
				.module_at = module_at,
				.is_root = is_root,
				.function_at = function_at,
				.max_depth = x->max_stack > 0 ? (unsigned)x->max_stack : 0};
	return unwinder_new(&o, out, e);
}

/* The unwinder of a task with these registers (PERF_SAMPLE_REGS_ABI_*). 0 or ERR_NOMEM. */
static int unwinder_for(struct expander *x, uint64_t abi, struct unwinder **out)
{
	enum { ABI_32 = 1 };
	uint16_t compat = abi == ABI_32 ? x->arch->compat : 0;
	x->elf_machine = compat ? compat : x->arch->machine;
	int rc = compat && !x->compat ? make_unwinder(x, compat, &x->compat, NULL) : 0;
	*out = compat ? x->compat : x->unwinder;
	return rc;
}

int expander_new(struct expander **out, const struct recording *rec, const struct machine *m,
		 struct modules *modules, const struct deferred_chains *deferred, int max_stack,
		 struct err *e)
{
	struct expander *x = mem_zalloc(1, sizeof(*x));
	const struct arch *arch = expander_arch(rec);
	*out = NULL;
	if (!x)
		return err_nomem(e);
	x->rec = rec;
	x->arch = arch;
	x->machine = m;
	x->modules = modules;
	x->deferred = deferred;
	x->max_stack = max_stack;
	/* other architectures: recorded callchains only */
	int rc = arch ? make_unwinder(x, arch->machine, &x->unwinder, e) : 0;
	if (rc) {
		expander_free(x);
		return rc;
	}
	*out = x;
	return 0;
}

void expander_free(struct expander *x)
{
	if (!x)
		return;
	unwinder_free(x->unwinder);
	unwinder_free(x->compat);
	u64map_release(&x->generations);
	vec_release(&x->words);
	vec_release(&x->user);
	vec_release(&x->dsos);
	mem_free(x);
}

const struct expand_counts *expander_counts(const struct expander *x)
{
	return &x->counts;
}

static int push(struct expander *x, uint64_t word)
{
	return vec_push(&x->words, word);
}

/* The index of PERF_CONTEXT_USER in the recorded chain; n: it has no user part. */
static uint64_t user_part(const struct sample *s, int swap)
{
	uint64_t i = 0;
	while (i < s->callchain.n &&
	       load_u64(s->callchain.p + i * 8, swap) != PERF_CONTEXT_USER)
		i++;
	return i;
}

/* Put the recorded chain up to its user part into words, the user part into x->user. */
static int split_chain(struct expander *x, const struct sample *s, int swap)
{
	int user = 0;
	x->words.n = x->user.n = 0;
	for (uint64_t i = 0; i < s->callchain.n; i++) {
		uint64_t w = load_u64(s->callchain.p + i * 8, swap);
		if (w >= PERF_CONTEXT_MAX)
			user = w == PERF_CONTEXT_USER || w == PERF_CONTEXT_USER_DEFERRED;
		if (user && w < PERF_CONTEXT_MAX) {
			if (vec_push(&x->user, w))
				return ERR_NOMEM;
		} else if (!user && push(x, w)) {
			return ERR_NOMEM;
		}
	}
	return 0;
}

static int generation(struct expander *x, const struct thread_view *v, uint32_t *number)
{
	uint64_t key = (uint64_t)v->space << 32 | v->version;
	if (u64map_get(&x->generations, key, number))
		return 0;
	*number = ++x->next_generation;
	return u64map_put(&x->generations, key, *number);
}

static int unwind(struct expander *x, const struct sample *s, const struct thread_view *v,
		  int swap)
{
	uint64_t regs[64];
	struct unwind_stack st;
	struct unwinder *unwinder;
	uint16_t mode = s->misc & PERF_RECORD_MISC_CPUMODE_MASK;
	struct unwind_sample u = {
		.regs = regs,
		.regs_mask = s->event->attr.sample_regs_user,
		.abi = s->regs_abi,
		.stack = s->stack,
		.stack_size = (size_t)s->stack_dyn,
		.stack_asked = (size_t)s->stack_size,
		.chain = x->user.v,
		.nchain = x->user.n,
		.in_kernel = mode == PERF_RECORD_MISC_KERNEL,
		.precise = mode == PERF_RECORD_MISC_USER && s->misc & PERF_RECORD_MISC_EXACT_IP,
		.ctx = x,
	};
	for (uint64_t i = 0; i < s->regs_user.n; i++)
		regs[i] = load_u64(s->regs_user.p + i * 8, swap);
	x->space = v->space;
	x->time = s->time;
	if (generation(x, v, &u.space) || unwinder_for(x, s->regs_abi, &unwinder))
		return ERR_NOMEM;
	int rc = unwind_sample(unwinder, &u, &st, NULL);
	if (rc)
		return rc;
	x->counts.unwound++;
	x->counts.full += s->stack_dyn >= s->stack_size;
	x->counts.half += s->stack_dyn >= s->stack_size / 2;
	x->counts.by_end[st.end]++;
	x->counts.late[st.late]++;
	if (push(x, UNWOUND_USER))
		return ERR_NOMEM;
	for (size_t i = 0; i < st.n; i++) {
		if (unwind_guessed(st.frames[i].trust) && push(x, UNWOUND_GUESS))
			return ERR_NOMEM;
		if (push(x, st.frames[i].lookup))
			return ERR_NOMEM;
	}
	int cut = st.end == UNWIND_TRUNCATED || st.end == UNWIND_HOLE ||
		  st.end == UNWIND_OTHER_STACK || (st.end == UNWIND_DEPTH && !x->max_stack);
	return cut ? push(x, UNWOUND_CUT) : 0;
}

/* The caller of the user code at pc, by the link register; 0 if the CFI says otherwise, or
 * nothing. */
static int leaf_caller(struct expander *x, const struct sample *s, const struct thread_view *v,
		       uint64_t pc, int swap, uint64_t *caller)
{
	const struct arch *a = x->arch;
	const uint64_t lr = regs_bit(a, a->lr), sp = regs_bit(a, a->sp),
		       at = regs_bit(a, a->pc);
	uint64_t below = s->event->attr.sample_regs_user & (lr - 1);
	uint64_t regs[3] = {0}, mask = lr | sp | at;
	regs[__builtin_popcountll(mask & (lr - 1))] =
		load_u64(s->regs_user.p + __builtin_popcountll(below) * 8, swap);
	regs[__builtin_popcountll(mask & (at - 1))] = pc;
	struct unwind_stack st;
	struct unwind_sample u = {
		.regs = regs, .regs_mask = mask, .abi = s->regs_abi, .ctx = x};
	x->space = v->space;
	x->time = s->time;
	x->elf_machine = a->machine;
	if (generation(x, v, &u.space))
		return ERR_NOMEM;
	int rc = unwind_sample(x->unwinder, &u, &st, NULL);
	*caller = !rc && st.n > 1 && !unwind_guessed(st.frames[1].trust) ? st.frames[1].ip : 0;
	return rc;
}

/*
 * A leaf function has no frame record, so the recorded chain lacks its caller. perf
 * (get_leaf_frame_caller_aarch64()) inserts the caller unless it is there.
 */
static int with_leaf_caller(struct expander *x, const struct sample *s,
			    const struct thread_view *v, int swap)
{
	uint64_t n = s->callchain.n, leaf = user_part(s, swap) + 1, caller;
	const uint8_t *p = s->callchain.p;
	if (leaf >= n)
		return 0;
	int rc = leaf_caller(x, s, v, load_u64(p + leaf * 8, swap), swap, &caller);
	if (rc || !caller || (leaf + 1 < n && caller == load_u64(p + (leaf + 1) * 8, swap)))
		return rc;
	x->words.n = 0;
	for (uint64_t i = 0; i < n; i++)
		if (push(x, load_u64(p + i * 8, swap)) || (i == leaf && push(x, caller)))
			return ERR_NOMEM;
	return 1;
}

/*
 * 1 when the branch stack belongs to this sample, as in perf's resolve_lbr_callchain_sample():
 * in a sample without user code (a kernel thread's) the branches are another thread's.
 */
static int has_lbr_part(const struct sample *s, int swap)
{
	if (!s->branches.n)
		return 0;
	return s->callchain.p
		       ? user_part(s, swap) < s->callchain.n
		       : (s->misc & PERF_RECORD_MISC_CPUMODE_MASK) == PERF_RECORD_MISC_USER;
}

/*
 * The innermost user address: the sampled one; in the kernel, the first user address of the
 * callchain. If neither is known, the function entered last.
 */
static uint64_t lbr_leaf(const struct expander *x, const struct sample *s, int swap)
{
	uint16_t mode = s->misc & PERF_RECORD_MISC_CPUMODE_MASK;
	if (mode == PERF_RECORD_MISC_USER && s->event->attr.sample_type & PERF_SAMPLE_IP)
		return s->ip;
	return x->user.n ? x->user.v[0] : load_u64(s->branches.p + 8, swap);
}

/*
 * The branch stack of a call stack, innermost call first; split_chain has been called.
 *
 *	sampled ip    the leaf: somewhere in the function that entry 0 called, or in one that
 *	              this jumped to (a PLT entry, a tail call)
 *	entry 0 from  its caller, at the call
 *	entry 1 from  the caller's caller ...
 *
 * perf shows entry 0's target instead of the ip: the first byte of a function, which may have
 * been left by a jump since.
 */
static int lbr(struct expander *x, const struct sample *s, int swap)
{
	uint64_t n = s->branches.n / 3;
	if (push(x, UNWOUND_USER) || push(x, lbr_leaf(x, s, swap)))
		return ERR_NOMEM;
	for (uint64_t i = 0; i < n; i++)
		if (push(x, load_u64(s->branches.p + i * 24, swap)))
			return ERR_NOMEM;
	return 0;
}

int expander_join_deferred(struct expander *x, const uint8_t *chain, uint64_t n, int swap,
			   const uint64_t **words, size_t *nwords)
{
	int joined = 0;
	x->words.n = 0;
	for (uint64_t i = 0; i < n; i++) {
		uint64_t w = load_u64(chain + i * 8, swap);
		uint32_t at;
		if (w != PERF_CONTEXT_USER_DEFERRED) {
			if (push(x, w))
				return ERR_NOMEM;
			continue;
		}
		joined = 1;
		uint64_t cookie = ++i < n ? load_u64(chain + i * 8, swap) : 0;
		if (!u64map_get(&x->deferred->by_cookie, cookie, &at)) {
			x->counts.deferred_missing++;
			continue;
		}
		const struct deferred_chain *c = &x->deferred->chains.v[at];
		if ((!c->n || c->ips[0] != PERF_CONTEXT_USER) && push(x, PERF_CONTEXT_USER))
			return ERR_NOMEM;
		for (uint32_t k = 0; k < c->n; k++)
			if (push(x, c->ips[k]))
				return ERR_NOMEM;
		if (c->n - (c->n && c->ips[0] == PERF_CONTEXT_USER) >= DEFERRED_FRAMES &&
		    push(x, UNWOUND_CUT))
			return ERR_NOMEM;
	}
	*words = x->words.v;
	*nwords = x->words.n;
	return joined;
}

int expander_expand(void *expander, const struct sample *s, const struct thread_view *v,
		    int swap, const uint64_t **words, size_t *n)
{
	struct expander *x = expander;
	const struct event_attr *a = &s->event->attr;
	int rc = 0, expanded = 0;
	if (attr_flag(a, ATTR_DEFER_CALLCHAIN)) {
		expanded = expander_join_deferred(x, s->callchain.p, s->callchain.n, swap,
						  words, n);
		rc = expanded < 0 ? expanded : 0;
	} else if (has_dump(a) && x->unwinder && s->regs_abi) {
		expanded = 1;
		rc = split_chain(x, s, swap);
		if (!rc)
			rc = unwind(x, s, v, swap);
	} else if (has_link_register(a, x->arch) && x->unwinder && s->regs_abi) {
		expanded = with_leaf_caller(x, s, v, swap);
		rc = expanded < 0 ? expanded : 0;
	} else if (has_lbr_stack(a) && has_lbr_part(s, swap)) {
		expanded = 1;
		rc = split_chain(x, s, swap);
		if (!rc)
			rc = lbr(x, s, swap);
	}
	if (rc)
		return rc;
	*words = x->words.v;
	*n = x->words.n;
	return expanded;
}
