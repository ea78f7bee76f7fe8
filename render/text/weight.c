#include "render/text/weight.h"
#include "render/text/units.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

double weight_unit_ns(const char *countname)
{
	static const struct {
		const char *name;
		double ns;
	} units[] = {{"ns", 1},          {"nsecs", 1},   {"us", 1e3},
		     {"\xc2\xb5s", 1e3}, {"usecs", 1e3}, {"ms", 1e6},
		     {"msecs", 1e6},     {"s", 1e9},     {"seconds", 1e9}};
	for (size_t i = 0; i < sizeof(units) / sizeof(*units); i++)
		if (!strcmp(units[i].name, countname))
			return units[i].ns;
	return 0;
}

/* x with as many decimals as give three digits. */
static void put_short(struct buf *b, double x, const char *unit)
{
	double a = fabs(x);
	buf_fmt(b, "%.*f %s", a >= 99.95 ? 0 : a >= 9.995 ? 1 : 2, x, unit);
}

/* As units_duration; centuries in seconds. */
static void put_time(struct buf *b, double ns)
{
	double a = fabs(ns);
	if (ns < 0)
		buf_char(b, '-');
	if (a < 9e18)
		units_duration(b, (uint64_t)llround(a));
	else
		buf_fmt(b, "%.0f s", a / 1e9);
}

static void put_bytes(struct buf *b, double x)
{
	static const char *const unit[] = {"bytes", "KiB", "MiB", "GiB", "TiB"};
	size_t i = 0;
	for (; fabs(x) >= 1023.5 && i < 4; i++)
		x /= 1024;
	if (i)
		put_short(b, x, unit[i]);
	else
		buf_fmt(b, "%.0f bytes", x);
}

/* Digits with a comma between groups of three. */
static void put_grouped(struct buf *b, double x)
{
	char digits[512];
	int n = snprintf(digits, sizeof(digits), "%.0f", fabs(x));
	if (x < 0 && strcmp(digits, "0"))
		buf_char(b, '-');
	for (int i = 0; i < n; i++) {
		if (i && (n - i) % 3 == 0)
			buf_char(b, ',');
		buf_char(b, digits[i]);
	}
}

void weight_text(struct buf *b, double ticks, double scale, double factor,
		 const char *countname)
{
	double x = ticks / scale * factor, ns = weight_unit_ns(countname);
	if (ns > 0) {
		put_time(b, x * ns);
	} else if (!strcmp(countname, "bytes")) {
		put_bytes(b, x);
	} else {
		put_grouped(b, x);
		int one = fabs(x) >= 0.5 && fabs(x) < 1.5 && !strcmp(countname, "samples");
		buf_fmt(b, " %s", one ? "sample" : countname);
	}
}
