#include "base/text/nearest.h"

#include <ctype.h>
#include <string.h>

enum { LONGEST = 40 }; /* longer words do not occur */

static size_t least(size_t a, size_t b, size_t c)
{
	a = a < b ? a : b;
	return a < c ? a : c;
}

static int differ(char a, char b)
{
	return tolower((unsigned char)a) != tolower((unsigned char)b);
}

/* Optimal string alignment, ignoring case: three rows of the usual table. */
static size_t distance(const char *a, size_t na, const char *b, size_t nb)
{
	size_t rows[3][LONGEST + 1], *before = rows[0], *last = rows[1], *row = rows[2];
	for (size_t j = 0; j <= nb; j++)
		last[j] = j;
	for (size_t i = 1; i <= na; i++) {
		row[0] = i;
		for (size_t j = 1; j <= nb; j++) {
			row[j] = least(last[j] + 1, row[j - 1] + 1,
				       last[j - 1] + (size_t)differ(a[i - 1], b[j - 1]));
			if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] &&
			    before[j - 2] + 1 < row[j])
				row[j] = before[j - 2] + 1;
		}
		size_t *free_row = before;
		before = last;
		last = row;
		row = free_row;
	}
	return last[nb];
}

struct nearest nearest_to(const char *typed, size_t n)
{
	return (struct nearest){.typed = typed, .n = n};
}

static void offer(struct nearest *x, const char *word, size_t len)
{
	if (!len || len > LONGEST || !x->n || x->n > LONGEST)
		return;
	size_t most = (len > x->n ? len : x->n) / 3;
	size_t d = distance(x->typed, x->n, word, len);
	if (x->n > 1 && len > x->n && !memcmp(word, x->typed, x->n))
		d = 1;
	if (d > (most ? most : 1) || d >= len || (x->best && d >= x->distance))
		return;
	x->best = word;
	x->distance = d;
}

void nearest_offer(struct nearest *x, const char *word)
{
	offer(x, word, strlen(word));
}

const char *nearest_in(const char *words, const char *typed, char *out, size_t size)
{
	struct nearest x = nearest_to(typed, strlen(typed));
	for (const char *p = words; *p; p += strspn(p, " |")) {
		size_t n = strcspn(p, " |");
		offer(&x, p, n);
		p += n;
	}
	size_t n = x.best ? strcspn(x.best, " |") : size;
	if (n >= size)
		return NULL;
	memcpy(out, x.best, n);
	out[n] = '\0';
	return out;
}
