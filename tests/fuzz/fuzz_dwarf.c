/*
 * fuzz_dwarf - DWARF: inlined frames and source lines of a module's addresses.
 *
 * Input: an ELF file with .debug_*; further parts are the files it may name (dwz file, .dwo,
 * .dwp): whatever path is asked for, they are tried one after the other.
 */
#include "tests/fuzz/fuzz.h"

#include "base/mem.h"
#include "libsym/dwarf/debug_info.h"
#include "libsym/elf/symtab.h"
#include "libsym/unwind/arch.h"

enum { ADDRESSES_MAX = 400, FRAMES = 40, OTHERS_MAX = 3 };

struct others {
	uint8_t *p[OTHERS_MAX];
	size_t size[OTHERS_MAX], n, next;
};

static int open_other(void *arg, const struct elf_file *of, const char *path,
		      struct elf_file **out, struct err *e)
{
	struct others *o = arg;
	(void)of;
	fuzz_text(path);
	if (!o->n)
		return err_set(e, ERR_NOTFOUND, "%s: not there", path);
	size_t i = o->next++ % o->n;
	return elf_file_open_mem(o->p[i], o->size[i], "fuzz.other", out, e);
}

static void ask(struct debuginfo *d, uint64_t va)
{
	struct debuginfo_frame frames[FRAMES];
	const char *file;
	uint32_t line;
	int n = debuginfo_frames(d, va, NULL, frames, FRAMES);
	fuzz_must(n >= 0 && n <= DEBUGINFO_FRAMES_MAX, "a chain is bounded");
	for (int i = 0; i < n && i < FRAMES; i++) {
		fuzz_text(frames[i].name);
		fuzz_text(frames[i].scope);
		fuzz_text(frames[i].file);
	}
	if (debuginfo_line(d, va, &file, &line) == 1)
		fuzz_text(file);
}

/* Symbols, and what lies between: steps through the executable segments. */
static void ask_everywhere(struct debuginfo *d, struct elf_file *f)
{
	struct symtab *t = NULL;
	if (!symtab_from_elf(f, NULL, arch_plt(f), &t, NULL))
		for (size_t i = 0; i < t->n && i < ADDRESSES_MAX / 4; i++)
			ask(d, t->symbols[i].start + t->symbols[i].size / 2);
	symtab_free(t);
	for (size_t i = 0, asked = 0; i < f->nsegments; i++) {
		const struct elf_segment *s = &f->segments[i];
		uint64_t size = s->memsz < 0x4000 ? s->memsz : 0x4000;
		if (!(s->flags & PF_X))
			continue;
		for (uint64_t at = 0; at < size && asked < ADDRESSES_MAX; at += 13, asked++)
			ask(d, s->vaddr + at);
	}
}

static int take_file(void *ctx, const struct elf_file *of, const struct elf_file *file,
		     const char *name)
{
	(void)ctx;
	(void)of;
	fuzz_text(file->path);
	fuzz_text(name);
	return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *p, size_t n)
{
	struct others o = {0};
	struct debuginfo_options opt = {open_other, &o};
	struct elf_file *f = NULL;
	struct debuginfo *d = NULL;
	struct err e = {0};
	size_t main_n;
	uint8_t *main_p = fuzz_part(&p, &n, &main_n);
	while (o.n < OTHERS_MAX && (o.p[o.n] = fuzz_part(&p, &n, &o.size[o.n])))
		o.n++;
	if (!elf_file_open_mem(main_p, main_n, "fuzz", &f, &e)) {
		int rc = debuginfo_open(f, NULL, &opt, &d, &e);
		if (rc)
			fuzz_failed(rc, &e);
	}
	if (d) {
		ask_everywhere(d, f);
		for (size_t i = 0; debuginfo_note(d, i); i++)
			fuzz_text(debuginfo_note(d, i));
		debuginfo_each_file(d, take_file, NULL);
	}
	debuginfo_close(d);
	elf_file_close(f);
	for (size_t i = 0; i < o.n; i++)
		mem_free(o.p[i]);
	mem_free(main_p);
	return 0;
}
