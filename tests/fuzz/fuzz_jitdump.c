/*
 * fuzz_jitdump - a jit-PID.dump: code by address and time, lines, unwind tables. Input: the
 * file; its own addresses and times are looked up, and its unwind tables opened.
 */
#include "tests/fuzz/fuzz.h"

#include "libsym/unwind/cfi.h"
#include "libsym/jit/jitdump.h"

#include <elf.h>

enum { RECORDS_MAX = 64, AT_ADDR = 16 + 8, AT_TIME = 8 };

static void open_cfi(const struct jit_code *c)
{
	struct cfi_bytes b = {.machine = EM_X86_64,
			      .eh_frame = c->eh_frame,
			      .eh_frame_size = c->eh_frame_size,
			      .eh_frame_va = c->start + (c->size + 7) / 8 * 8,
			      .code = c->code,
			      .code_size = c->code ? c->size : 0,
			      .code_va = c->start};
	struct cfi *cfi;
	struct cfi_hit hit;
	if (!c->eh_frame || cfi_open_bytes(&b, &cfi, NULL))
		return;
	for (uint64_t at = 0; at < c->size && at < 64; at += 7)
		cfi_find(cfi, c->start + at, &hit, NULL);
	cfi_close(cfi);
}

static void look(const struct jitdump *j, uint64_t addr, uint64_t time)
{
	const struct jit_code *c;
	const char *file;
	uint32_t line;
	if (!jitdump_find(j, addr, time, &c))
		return;
	fuzz_must(addr - c->start < c->size, "the code covers the address");
	fuzz_text(c->name);
	if (c->code)
		fuzz_touch(c->code, c->size);
	if (c->eh_frame)
		fuzz_touch(c->eh_frame, c->eh_frame_size);
	if (c->eh_frame_hdr)
		fuzz_touch(c->eh_frame_hdr, c->eh_frame_hdr_size);
	if (jitdump_line(j, c, addr, &file, &line))
		fuzz_text(file);
	open_cfi(c);
}

int LLVMFuzzerTestOneInput(const uint8_t *p, size_t n)
{
	struct jitdump *j;
	struct err e = {0};
	int rc = jitdump_open_mem(p, n, "fuzz", &j, &e);
	if (rc) {
		fuzz_failed(rc, &e);
		return 0;
	}
	struct jitdump_info info = jitdump_info(j);
	fuzz_must(info.codes <= n, "no more codes than bytes");
	int swap = n >= 4 && p[0] != 0x44;
	size_t at = n >= 12 ? load_u32(p + 8, swap) : n;
	for (int i = 0; i < RECORDS_MAX && at < n && n - at >= AT_ADDR + 8; i++) {
		uint64_t addr = load_u64(p + at + AT_ADDR, swap);
		look(j, addr, load_u64(p + at + AT_TIME, swap));
		look(j, addr + 1, UINT64_MAX);
		uint32_t size = load_u32(p + at + 4, swap);
		at = size > n - at || size < 16 ? n : at + size;
	}
	jitdump_close(j);
	return 0;
}
