/*
 * Continues along the recorded frame-pointer chain.
 *
 * The kernel's chain is pc, then the return address above each saved frame pointer. It misses
 * functions without a frame pointer, above all the caller of a leaf such as memcpy; CFI finds
 * those, up to the end of the copied bytes:
 *
 *	CFI    memcpy  copy_row  print ┆ (bytes end)
 *	chain  memcpy            print   main  __libc_start_call_main
 *	                         └ covered     └ appended from here
 *
 * Which entries are covered follows from their addresses: the frame pointers are followed
 * through the copy, and a return address below the walk's sp belongs to a frame that was found.
 * Beyond the copy, equal addresses decide.
 */
#include "libsym/unwind/unwind_internal.h"

/* Follow frame pointers through the copy: how many chain entries are below the last frame's sp;
 * 0 when the chain and the bytes do not agree. */
static size_t covered_by_place(const struct walk *w)
{
	const struct unwind_sample *s = w->s;
	const struct arch *a = w->u->arch;
	size_t j = 1;
	uint64_t fp, next, ra;
	if (w->u->at[a->fp] == ARCH_NONE)
		return 0;
	fp = load_u64((const uint8_t *)s->regs + 8 * w->u->at[a->fp], 0);
	if (fp < w->low)
		return 0;
	while (j < s->nchain && record_word(fp, a->record_fp) < w->frame_sp &&
	       walk_read(w, record_word(fp, a->record_ra), &ra)) {
		ra = strip(w, ra);
		/* newer kernels add the word at sp if pc is at a function's first byte */
		if (s->chain[j] != ra && j + 1 < s->nchain && s->chain[j + 1] == ra)
			j++;
		if (strip(w, s->chain[j]) != ra)
			return 0;
		j++;
		if (!walk_read(w, record_word(fp, a->record_fp), &next) || next <= fp)
			return j;
		fp = next;
	}
	return j;
}

/* The chain is a subsequence of the frames: match in order. */
static size_t covered_by_value(const struct walk *w)
{
	size_t j = 0;
	for (size_t i = 0; i < w->n && j < w->s->nchain; i++)
		if (w->u->frames[i].ip == strip(w, w->s->chain[j]))
			j++;
	return j ? j : 1;
}

enum unwind_end append_chain(struct walk *w, enum unwind_end stopped)
{
	const struct unwind_sample *s = w->s;
	struct unwinder *u = w->u;
	size_t j = w->n;
	if (stopped != UNWIND_NO_REGS) {
		j = covered_by_place(w);
		size_t by_value = covered_by_value(w);
		if (!j)
			j = by_value;
	}
	if (j >= s->nchain)
		return stopped;
	for (; j < s->nchain; j++) {
		if (w->n == u->o.max_depth)
			return UNWIND_DEPTH;
		uint64_t ip = strip(w, s->chain[j]);
		const struct cached_rule *k = rule_at(w, ip, j == 0);
		if (!k)
			return stopped;
		int exact = j == 0 || (k->rule.flags & RULE_EXACT);
		uint8_t signal = k->rule.kind != RULE_NONE && (k->rule.flags & RULE_SIGNAL);
		u->frames[w->n++] = (struct unwind_frame){.ip = ip,
							  .lookup = ip - !exact,
							  .module = k->module,
							  .trust = UNWIND_RECORDED,
							  .signal = signal};
		if (k->rule.kind == RULE_END)
			return UNWIND_COMPLETE;
	}
	return UNWIND_CHAIN;
}
