#include "render/text/units.h"

#include "base/count.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

static const struct unit {
	const char *name;
	uint64_t ns;
} units[] = {{"ns", 1}, {"us", 1000}, {"ms", 1000000}, {"s", 1000000000}};

static const struct unit *unit_of(uint64_t ns)
{
	/* a value that rounds to 1000.0 of a unit is 1.0 of the next */
	return ns < 1000        ? &units[0]
	       : ns < 999500    ? &units[1]
	       : ns < 999500000 ? &units[2]
				: &units[3];
}

static void in_unit(struct buf *b, uint64_t ns, const struct unit *u)
{
	uint64_t tenths = u->ns > 1 ? ns / (u->ns / 10) + (ns % (u->ns / 10) >= u->ns / 20) : 0;
	if (u->ns == 1)
		buf_u64(b, ns);
	else if (tenths < 1000)
		buf_fmt(b, "%u.%u", (unsigned)(tenths / 10), (unsigned)(tenths % 10));
	else
		buf_u64(b, ns / u->ns + (ns % u->ns >= u->ns / 2));
	buf_char(b, ' ');
	buf_str(b, u->name);
}

void units_duration(struct buf *b, uint64_t ns)
{
	in_unit(b, ns, unit_of(ns));
}

void units_range(struct buf *b, uint64_t low_ns, uint64_t high_ns)
{
	const struct unit *u = unit_of(high_ns), *own = low_ns ? unit_of(low_ns) : u;
	struct buf low = {0}, high = {0};
	in_unit(&low, low_ns, own);
	in_unit(&high, high_ns, u);
	b->failed |= low.failed | high.failed;
	if (!b->failed && strcmp(buf_cstr(&low), buf_cstr(&high)) != 0) {
		/* the unit once, if it is the same */
		buf_add(b, low.v, own == u ? strcspn(buf_cstr(&low), " ") : low.n);
		buf_str(b, "–");
	}
	buf_add(b, high.v, high.n);
	buf_release(&low);
	buf_release(&high);
}

void units_part(struct buf *b, uint64_t ns, uint64_t whole)
{
	const struct unit *u = unit_of(whole);
	in_unit(b, ns, ns && ns < u->ns / 20 ? unit_of(ns) : u);
}

void units_seconds(struct buf *b, uint64_t ns)
{
	buf_u64(b, ns / 1000000000);
	buf_fmt(b, ".%06u", (unsigned)(ns % 1000000000 / 1000));
}

void units_since(struct buf *b, uint64_t ns, uint64_t origin_ns)
{
	buf_char(b, ns < origin_ns ? '-' : '+');
	units_seconds(b, ns < origin_ns ? origin_ns - ns : ns - origin_ns);
}

void units_stretch(struct buf *b, uint64_t from_ns, uint64_t to_ns, uint64_t origin_ns)
{
	units_since(b, from_ns, origin_ns);
	buf_str(b, " s (");
	units_seconds(b, from_ns);
	buf_str(b, " to ");
	units_seconds(b, to_ns);
	buf_char(b, ')');
}

void units_wall_clock(struct buf *b, uint64_t wall_ns, int exact)
{
	time_t s = (time_t)(wall_ns / 1000000000);
	struct tm tm;
	if (!gmtime_r(&s, &tm))
		return;
	buf_fmt(b, "%s%04d-%02d-%02d %02d:%02d:%02d.%06u UTC", exact ? "" : "\xe2\x89\x88 ",
		tm.tm_year + 1900, tm.tm_mon + 1, tm.tm_mday, tm.tm_hour, tm.tm_min, tm.tm_sec,
		(unsigned)(wall_ns % 1000000000 / 1000));
}

void units_count(struct buf *b, uint64_t n)
{
	buf_str(b, DIGITS(n));
}

void units_plural(struct buf *b, uint64_t n, const char *one, const char *many)
{
	buf_fmt(b, "%s %s", DIGITS(n), n == 1 ? one : many);
}

/* Decimal digits with at most `places` after a point, as an integer of the last place. */
static const char *decimal(const char *s, int places, uint64_t *out)
{
	uint64_t x = 0;
	int seen = 0;
	for (; *s >= '0' && *s <= '9'; s++, seen = 1) {
		if (x > UINT64_MAX / 100)
			return NULL;
		x = x * 10 + (uint64_t)(*s - '0');
	}
	int point = *s == '.';
	for (s += point; places > 0; places--) {
		int digit = point && *s >= '0' && *s <= '9' ? *s++ - '0' : 0;
		if (x > UINT64_MAX / 100)
			return NULL;
		x = x * 10 + (uint64_t)digit;
		seen |= s[-1] != '.';
	}
	*out = x;
	return seen && !(*s >= '0' && *s <= '9') ? s : NULL;
}

int units_parse_duration(const char *text, uint64_t *ns)
{
	static const struct {
		const char *name;
		int places;
		uint64_t by;
	} names[] = {{"ns", 0, 1}, {"us", 3, 1}, {"µs", 3, 1},
		     {"ms", 6, 1}, {"s", 9, 1},  {"m", 9, 60}};
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		uint64_t x;
		const char *end = decimal(text, names[i].places, &x);
		if (end && !strcmp(end, names[i].name) && x <= UINT64_MAX / names[i].by) {
			*ns = x * names[i].by;
			return 0;
		}
	}
	return -1;
}

int units_parse_percent(const char *text, uint32_t *millipercent)
{
	uint64_t x;
	const char *end = decimal(text, 3, &x);
	if (!end || *end || !x || x > 100000)
		return -1;
	*millipercent = (uint32_t)x;
	return 0;
}

void units_percent(struct buf *b, uint32_t millipercent)
{
	unsigned frac = millipercent % 1000;
	buf_u64(b, millipercent / 1000);
	if (!frac)
		return;
	char text[8];
	snprintf(text, sizeof(text), ".%03u", frac);
	for (size_t n = strlen(text); text[n - 1] == '0';)
		text[--n] = '\0';
	buf_str(b, text);
}
