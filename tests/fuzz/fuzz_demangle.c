/* fuzz_demangle - a linker's name to a person's. Input: the name, up to a NUL. */
#include "tests/fuzz/fuzz.h"

#include "base/mem.h"
#include "libsym/name/demangle.h"

int LLVMFuzzerTestOneInput(const uint8_t *p, size_t n)
{
	char *name = mem_strndup((const char *)p, n);
	for (int flags = 0; name && flags <= DEMANGLE_PARAMS; flags++) {
		struct buf out = {0};
		if (demangle(name, flags, &out) == 1)
			fuzz_touch(out.v, out.n);
		fuzz_must(out.n <= DEMANGLE_OUTPUT_MAX + 16, "a name is bounded");
		buf_release(&out);
	}
	mem_free(name);
	return 0;
}
