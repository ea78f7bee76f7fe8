/* fuzz_kallsyms - a kernel's symbol list. Input: its text. */
#include "tests/fuzz/fuzz.h"

#include "libsym/elf/kallsyms.h"

int LLVMFuzzerTestOneInput(const uint8_t *p, size_t n)
{
	struct kallsyms k;
	struct symbol_hit hit;
	const char *module;
	struct err e = {0};
	int rc = kallsyms_parse((const char *)p, n, "fuzz", &k, &e);
	if (rc) {
		fuzz_failed(rc, &e);
		return 0;
	}
	for (size_t i = 0; i < k.table->n; i++) {
		const struct symbol *s = &k.table->symbols[i];
		fuzz_must(!i || s[-1].start <= s->start, "symbols are sorted");
		if (kallsyms_find(&k, s->start + s->size / 2, &hit, &module)) {
			fuzz_text(hit.name);
			fuzz_text(module);
		}
	}
	kallsyms_release(&k);
	return 0;
}
