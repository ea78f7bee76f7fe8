#include "libtime/side/when.h"

#define SECOND 1000000000u

static int is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* Digits after a decimal point, in units of `scale`. 0, or -1 if there is anything else. */
static int fraction(const char *s, size_t n, uint64_t scale, uint64_t *ns)
{
	for (size_t i = 0; i < n; i++) {
		if (!is_digit(s[i]))
			return -1;
		scale /= 10;
		*ns += (uint64_t)(s[i] - '0') * scale;
	}
	return n ? 0 : -1;
}

int when_number(const char *s, size_t n, uint64_t scale, uint64_t *ns)
{
	uint64_t x = 0, part = 0;
	size_t i = 0;
	for (; i < n && is_digit(s[i]); i++) {
		if (x > INT64_MAX / 10 - 1)
			return -1;
		x = x * 10 + (uint64_t)(s[i] - '0');
	}
	if (!i || x > (INT64_MAX - scale) / scale)
		return -1;
	if (i < n && (s[i] != '.' || fraction(s + i + 1, n - i - 1, scale, &part)))
		return -1;
	*ns = x * scale + part;
	return 0;
}

/* The number of `digits` digits at s, which must be in low..high. */
static int field(const char *s, int digits, int low, int high, int *out)
{
	*out = 0;
	for (int i = 0; i < digits; i++) {
		if (!is_digit(s[i]))
			return -1;
		*out = *out * 10 + (s[i] - '0');
	}
	return *out < low || *out > high ? -1 : 0;
}

/* Days from 1970-01-01 to a Gregorian date. Counts years from March, so that the leap day is
 * the last of its year. */
static int64_t days_of(int year, int month, int day)
{
	int y = year - (month <= 2), m = (month + 9) % 12;
	return 365ll * y + y / 4 - y / 100 + y / 400 + (153 * m + 2) / 5 + day - 1 - 719468;
}

/* "Z", "+01:00", "-0530", "+02": seconds east of Greenwich. */
static int zone(const char *s, size_t n, int *seconds)
{
	int h, m = 0;
	*seconds = 0;
	if (n == 1 && (*s == 'Z' || *s == 'z'))
		return 0;
	if (n < 3 || (*s != '+' && *s != '-') || field(s + 1, 2, 0, 14, &h))
		return -1;
	size_t at = n > 3 && s[3] == ':' ? 4 : 3;
	if (n != 3 && (n != at + 2 || field(s + at, 2, 0, 59, &m)))
		return -1;
	*seconds = (*s == '-' ? -1 : 1) * (h * 3600 + m * 60);
	return 0;
}

int when_iso(const char *s, size_t n, uint64_t *ns)
{
	int year, month, day, hour, min, sec, east;
	uint64_t part = 0;
	size_t i = 19;
	if (n < 20 || s[4] != '-' || s[7] != '-' || s[13] != ':' || s[16] != ':' ||
	    (s[10] != 'T' && s[10] != 't' && s[10] != ' '))
		return -1;
	if (field(s, 4, 1970, 2200, &year) || field(s + 5, 2, 1, 12, &month) ||
	    field(s + 8, 2, 1, 31, &day) || field(s + 11, 2, 0, 23, &hour) ||
	    field(s + 14, 2, 0, 59, &min) || field(s + 17, 2, 0, 60, &sec))
		return -1;
	if (s[i] == '.' || s[i] == ',') {
		size_t from = ++i;
		while (i < n && is_digit(s[i]))
			i++;
		if (fraction(s + from, i - from, SECOND, &part))
			return -1;
	}
	if (i >= n || zone(s + i, n - i, &east))
		return -1;
	int64_t t = days_of(year, month, day) * 86400 + hour * 3600 + min * 60 + sec - east;
	if (t < 0)
		return -1;
	*ns = (uint64_t)t * SECOND + part;
	return 0;
}
