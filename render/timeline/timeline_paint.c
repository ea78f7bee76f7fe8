/* timeline_paint.c - the colours and names of a timeline's states and causes.
 */
#include "render/flame/palette.h"
#include "base/check.h"
#include "render/timeline/timeline_svg.h"
#include "libtime/causes/causes.h"

#include <string.h>

/* The cause of a blocked paint, unclear or not. */
static unsigned paint_cause(unsigned paint)
{
	return tl_paint_filled_as(paint) - TLP_BLOCKED;
}

uint32_t tl_paint_color(unsigned int paint)
{
	static const uint32_t cpu[TLP_CPU_COLORS] = {0x86bde3, 0xf4bd6a, 0xc3a6e0,
						     0xe99b7b, 0xd8d27c, 0x9fc5b8,
						     0xdba9cb, 0xb9a58c, 0xc4c4be};
	if (paint <= TLP_UNKNOWN)
		return palette_cause(tl_paint_name(paint), strlen(tl_paint_name(paint)));
	if (paint >= TLP_CPU)
		return cpu[paint < TLP_COUNT ? paint - TLP_CPU : TLP_CPU_COLORS - 1];
	if (tl_paint_is_line(paint))
		return 0xa9a9a2;
	const char *name = cause_name(paint_cause(paint));
	return palette_cause(name, strlen(name));
}

int tl_paint_pattern(unsigned int paint)
{
	if (paint < TLP_BLOCKED || paint >= TLP_IDLE)
		return 0;
	const char *name = cause_name(paint_cause(paint));
	return palette_cause_pattern(name, strlen(name));
}

unsigned tl_paint_filled_as(unsigned int paint)
{
	return tl_paint_is_unclear(paint) ? paint - TLP_UNCLEAR + TLP_BLOCKED : paint;
}

const char *tl_paint_name(unsigned int paint)
{
	static const char *const states[] = {"running", "runnable", "preempted", "unknown"};
	ENTRIES(states, TLP_UNKNOWN + 1);
	if (paint <= TLP_UNKNOWN)
		return states[paint];
	if (paint < TLP_IDLE && paint_cause(paint) == CAUSE_UNKNOWN)
		return "blocked";
	if (paint < TLP_IDLE)
		return cause_name(paint_cause(paint));
	return paint == TLP_IDLE ? "at rest" : paint == TLP_LEFT_OUT ? "unclear" : "";
}
