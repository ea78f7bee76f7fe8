/*
 * code_at - print where the instructions of a file's functions begin, so that tests can compare them
 * with objdump's:
 *
 *	code_at FILE <ranges
 *
 * A range is START END (hex), one a line. Prints an address a line.
 */
#include "libsym/source/disassemble.h"

#include <stdio.h>
#include <stdlib.h>

static int show(void *ctx, const struct instruction *i)
{
	(void)ctx;
	printf("%llx\n", (unsigned long long)i->va);
	return 0;
}

int main(int argc, char **argv)
{
	struct elf_file *f = NULL;
	struct err e = {0};
	char line[128], *end;
	if (argc != 2)
		return 2;
	int rc = elf_file_open(argv[1], &f, &e);
	while (!rc && fgets(line, sizeof(line), stdin)) {
		uint64_t from = strtoull(line, &end, 16), to = strtoull(end, NULL, 16);
		struct code_bytes code;
		if (code_bytes_of(f, from, to, &code))
			rc = disassemble(&code, show, NULL, &e);
		else
			rc = err_set(&e, ERR_FORMAT, "%s: no code at 0x%llx", argv[1],
				     (unsigned long long)from);
	}
	if (rc)
		fprintf(stderr, "code_at: %s\n", e.msg);
	elf_file_close(f);
	return rc != 0;
}
