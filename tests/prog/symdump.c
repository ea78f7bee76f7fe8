/*
 * symdump RUNTIME [DEBUG] - print a module's symbol table as `start end name`, demangled.
 * symdump --at ADDRS RUNTIME [DEBUG] - name the file offsets (hex, one a line) in ADDRS as
 * perf script -F sym,symoff does. --kallsyms TEXT instead of a module: absolute addresses.
 */
#include "base/text/buf.h"
#include "libsym/name/demangle.h"
#include "libsym/elf/elf_file.h"
#include "libsym/elf/kallsyms.h"
#include "libsym/elf/read_file.h"
#include "libsym/elf/symtab.h"
#include "libsym/unwind/arch.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static struct buf text;

static const char *readable(const char *name)
{
	buf_clear(&text);
	return demangle(name, 0, &text) == 1 ? buf_cstr(&text) : name;
}

static void name_offsets(const char *path, const struct symtab *t, const struct elf_file *f)
{
	FILE *in = fopen(path, "r");
	uint64_t off, va;
	while (in && fscanf(in, "%" SCNx64, &off) == 1) {
		struct symbol_hit h;
		if ((!f || elf_file_vaddr(f, off, &va)) && symtab_find(t, f ? va : off, &h))
			printf("%s+0x%" PRIx64 "\n", readable(h.name),
			       (f ? va : off) - h.start);
		else
			printf("[unknown]\n");
	}
	if (in)
		fclose(in);
}

int main(int argc, char **argv)
{
	const char *at = NULL;
	struct elf_file *runtime = NULL, *debug = NULL;
	struct symtab *t = NULL;
	struct err e = {0};
	if (argc > 2 && !strcmp(argv[1], "--at")) {
		at = argv[2];
		argv += 2;
		argc -= 2;
	}
	if (argc < 2)
		return 2;
	struct kallsyms k = {0};
	int kernel = argc > 2 && !strcmp(argv[1], "--kallsyms"), rc;
	clock_t start = clock();
	if (kernel) {
		int fd;
		rc = file_open(argv[2], 0, &fd, &e);
		rc = rc ? rc : kallsyms_load(fd, argv[2], &k, &e);
		t = k.table;
	} else {
		rc = elf_file_open(argv[1], &runtime, &e);
	}
	if (!rc && !kernel && argc > 2)
		rc = elf_file_open(argv[2], &debug, &e);
	if (!rc && !kernel)
		rc = symtab_from_elf(runtime, debug, arch_plt(runtime), &t, &e);
	if (rc) {
		fprintf(stderr, "%s\n", e.msg);
		return 1;
	}
	if (getenv("SYMDUMP_TIME"))
		fprintf(stderr, "%zu symbols, %zu bytes of names, %.1f ms\n", t->n,
			t->names_size, 1e3 * (double)(clock() - start) / CLOCKS_PER_SEC);
	if (at)
		name_offsets(at, t, runtime);
	for (size_t i = 0; !at && i < t->n; i++)
		printf("%" PRIx64 " %" PRIx64 " %s\n", t->symbols[i].start,
		       t->symbols[i].start + t->symbols[i].size,
		       readable(t->names + t->symbols[i].name));
	if (!kernel)
		symtab_free(t);
	kallsyms_release(&k);
	elf_file_close(debug);
	elf_file_close(runtime);
	buf_release(&text);
	return 0;
}
