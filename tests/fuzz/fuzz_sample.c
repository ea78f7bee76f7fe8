/*
 * fuzz_sample - samples and side-band records decoded under any attribute.
 *
 * Input: HEADER bytes of attribute (one of flags: bit 0 other byte order, bit 1 sample_id_all;
 * a byte of branch_sample_type >> 10; four of stack size; then sample_type, read_format,
 * regs_user, regs_intr), then records.
 */
#include "tests/fuzz/fuzz.h"

#include <string.h>

enum { HEADER = 40 };

int LLVMFuzzerTestOneInput(const uint8_t *p, size_t n)
{
	struct event ev = {0};
	if (n < HEADER)
		return 0;
	int swap = p[0] & 1;
	ev.attr = (struct event_attr){
		.flags = p[0] & 2 ? UINT64_C(1) << ATTR_SAMPLE_ID_ALL : 0,
		.branch_sample_type = (uint64_t)p[1] << 10,
		.sample_stack_user = load_u32(p + 4, 0),
		.sample_type = load_u64(p + 8, 0),
		.read_format = load_u64(p + 16, 0),
		.sample_regs_user = load_u64(p + 24, 0),
		.sample_regs_intr = load_u64(p + 32, 0),
	};
	event_derive(&ev);
	for (size_t at = HEADER; n - at >= RECORD_HEADER_SIZE;) {
		struct record r = {
			.p = p + at,
			.type = load_u32(p + at, swap),
			.misc = load_u16(p + at + 4, swap),
			.size = load_u16(p + at + 6, swap),
			.offset = at,
		};
		if (r.size < RECORD_HEADER_SIZE || r.size > n - at)
			return 0;
		fuzz_record(&r, &ev, swap);
		at += r.size;
	}
	return 0;
}
