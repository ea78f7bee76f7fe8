/*
 * formulas - what pictures compute in C, at first, and their scripts in JavaScript, when
 * zoomed: one line a value, "name arguments = result". tests/cli/js_formulas.sh has the scripts
 * say theirs.
 */
#include "render/flame/palette.h"
#include "render/text/units.h"

#include <stdio.h>

static void durations(void)
{
	for (uint64_t ns = 0; ns < 40000000000000; ns = ns * 13 / 12 + 1) {
		struct buf b = {0};
		units_duration(&b, ns);
		printf("duration %llu = %s\n", (unsigned long long)ns, buf_cstr(&b));
		buf_release(&b);
	}
}

static void colors(void)
{
	static const uint32_t some[] = {0xf5934e, 0x000000, 0xffffff, 0x12ab7f, 0xe0662a};
	for (int i = -48; i <= 48; i++)
		printf("delta %d = %06x\n", i, palette_delta(i / 48.0));
	for (int i = -1; i < 300; i++)
		printf("ipc %d = %06x\n", i, palette_ipc(i / 48.0));
	for (size_t k = 0; k < sizeof(some) / sizeof(*some); k++)
		for (int i = 0; i <= 48; i++)
			printf("heat %06x %d = %06x\n", some[k], i,
			       palette_heat(some[k], i / 48.0));
	for (size_t k = 0; k < sizeof(some) / sizeof(*some); k++)
		for (uint32_t own = 0; own < 8; own++)
			printf("below %06x %06x = %06x\n", some[k], own << 8,
			       palette_below_cause(some[k], own << 8));
}

int main(void)
{
	durations();
	colors();
	return 0;
}
