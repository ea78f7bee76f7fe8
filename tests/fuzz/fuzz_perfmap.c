/* fuzz_perfmap - names of JIT code from a perf-PID.map. Input: its text. */
#include "tests/fuzz/fuzz.h"

#include "libsym/jit/perf_map.h"

int LLVMFuzzerTestOneInput(const uint8_t *p, size_t n)
{
	struct perfmap m;
	struct symbol_hit hit;
	struct err e = {0};
	int rc = perfmap_parse((const char *)p, n, "fuzz", &m, &e);
	if (rc) {
		fuzz_failed(rc, &e);
		return 0;
	}
	for (size_t i = 0; i < m.pieces.n; i++) {
		const struct perfmap_piece *x = &m.pieces.v[i];
		fuzz_must(x->start < x->end, "a piece has a length");
		fuzz_must(!i || m.pieces.v[i - 1].end <= x->start, "pieces are disjoint");
		fuzz_must(perfmap_find(&m, x->start, &hit), "a piece is found");
		fuzz_text(hit.name);
	}
	perfmap_find(&m, 0, &hit);
	perfmap_find(&m, UINT64_MAX, &hit);
	perfmap_release(&m);
	return 0;
}
