#include "render/flame/folded.h"
#include "base/mem.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

enum {
	BLOCK = 1 << 20,
	MAX_LINE = 64 << 20,
};

/* One parsed line. */
struct line {
	const char *stack;
	size_t len;
	uint64_t count[2]; /* in millionths when `decimal` */
	int counts;        /* 0: not a stack line */
	int decimal;
};

/* The frames made of one name: frame id + 1, 0 = not made yet. */
struct known {
	uint32_t plain, waker;
};

struct reader {
	struct flame *f;
	struct folded_stats *st;
	int columns, before;
	struct err *e;

	/* The previous line's stack: neighbours mostly share a long prefix. */
	VEC(char) prev;
	VEC(uint32_t) ends; /* offset in prev of the end of each frame */
	VEC(uint32_t) ids;

	VEC(struct known) known; /* by strings id */
};

/* --- one line ------------------------------------------------------------------------ */

static int is_blank(char c)
{
	return c == ' ' || c == '\t';
}

static int is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* digits[.digits] in s[0..n) as millionths if *decimal (or with a point), else as an
 * integer. */
static int parse_number(const char *s, size_t n, uint64_t *val, int *decimal)
{
	uint64_t x = 0;
	size_t i = 0;
	for (; i < n && is_digit(s[i]); i++)
		if (__builtin_mul_overflow(x, 10, &x) ||
		    __builtin_add_overflow(x, (uint64_t)(s[i] - '0'), &x))
			return 0;
	if (!i || (i < n && s[i] != '.'))
		return 0;
	*decimal = i < n;
	if (*decimal) {
		uint64_t unit = FLAME_DECIMALS;
		if (__builtin_mul_overflow(x, unit, &x))
			return 0;
		for (i++; i < n && is_digit(s[i]); i++) {
			unit /= 10;
			x += unit * (uint64_t)(s[i] - '0');
		}
	}
	*val = x;
	return i == n;
}

/* Take the last blank-delimited token of s[0..*n) as a number. 1 and the shorter *n, or 0. */
static int parse_count(const char *s, size_t *n, uint64_t *val, int *decimal)
{
	size_t end = *n, from;
	while (end && is_blank(s[end - 1]))
		end--;
	for (from = end; from && !is_blank(s[from - 1]);)
		from--;
	if (!from || !parse_number(s + from, end - from, val, decimal))
		return 0;
	while (from && is_blank(s[from - 1]))
		from--;
	*n = from;
	return 1;
}

static struct line parse_line(const char *s, size_t n, int columns)
{
	struct line l = {.stack = s};
	if (n && s[n - 1] == '\r')
		n--;
	int decimal[2] = {0};
	uint64_t last, before;
	if (parse_count(s, &n, &last, &decimal[0])) {
		l.count[0] = last;
		l.counts = 1;
		if (columns != 1 && parse_count(s, &n, &before, &decimal[1])) {
			l.count[1] = before;
			l.counts = 2;
		}
	}
	l.decimal = decimal[0] || decimal[1];
	for (int i = 0; l.decimal && i < l.counts; i++)
		if (!decimal[i] &&
		    __builtin_mul_overflow(l.count[i], FLAME_DECIMALS, &l.count[i]))
			l.counts = 0;
	while (n && s[n - 1] == ';') /* as Perl's split: no empty frames at the end */
		n--;
	l.len = n;
	return l;
}

/* --- stacks -------------------------------------------------------------------------- */

/* Bytes that a and b have in common at their beginning. */
static size_t common_prefix(const char *a, const char *b, size_t n)
{
	size_t i = 0;
	for (; i + 8 <= n; i += 8) {
		uint64_t x, y;
		memcpy(&x, a + i, 8);
		memcpy(&y, b + i, 8);
		if (x != y)
			break;
	}
	while (i < n && a[i] == b[i])
		i++;
	return i;
}

/* How many frames the stack shares with the previous one. */
static size_t shared_frames(const struct reader *r, const char *s, size_t n)
{
	size_t most = n < r->prev.n ? n : r->prev.n;
	size_t same = common_prefix(s, r->prev.v, most);
	size_t k = r->ends.n;
	while (k && r->ends.v[k - 1] >= same) /* the ';' after the frame must match, too */
		k--;
	return k;
}

/* The frame of one name; `waker` = it follows a "--". */
static int frame_of(struct reader *r, const char *name, size_t n, int waker, uint32_t *id)
{
	uint32_t str;
	if (strtab_intern_n(&r->f->strings, name, n, &str))
		return ERR_NOMEM;
	while (r->known.n <= str) {
		struct known none = {0};
		if (vec_push(&r->known, none))
			return ERR_NOMEM;
	}
	uint32_t *slot = waker ? &r->known.v[str].waker : &r->known.v[str].plain;
	if (!*slot) {
		if (flame_frame_named(r->f, name, n, id))
			return ERR_NOMEM;
		struct flame_frame fr = r->f->frames.v[*id];
		if (waker && fr.kind == FLAME_USER) {
			fr.kind = FLAME_WAKER;
			if (flame_frame(r->f, &fr, id))
				return ERR_NOMEM;
		}
		*slot = *id + 1;
	}
	*id = *slot - 1;
	return 0;
}

/* 1 when a "--" is among the first k frames of the previous line. */
static int waker_side(const struct reader *r, size_t k)
{
	for (size_t i = 0; i < k; i++) {
		size_t from = i ? r->ends.v[i - 1] + 1 : 0;
		if (r->ends.v[i] - from == 2 && !memcmp(r->prev.v + from, "--", 2))
			return 1;
	}
	return 0;
}

/* Set r->ids and r->ends to the frames of s[0..n), keeping the first `same`. */
static int split_frames(struct reader *r, const char *s, size_t n, size_t same)
{
	int waker = same && waker_side(r, same);
	size_t from = same ? r->ends.v[same - 1] + 1 : 0;
	r->ids.n = r->ends.n = same;
	while (from <= n) {
		const char *semi = memchr(s + from, ';', n - from);
		size_t end = semi ? (size_t)(semi - s) : n;
		uint32_t id;
		if (r->ids.n > FLAME_MAX_DEPTH)
			break; /* one more than allowed, so that the cut is noticed and counted
				*/
		if (frame_of(r, s + from, end - from, waker, &id) || vec_push(&r->ids, id) ||
		    vec_push(&r->ends, (uint32_t)end))
			return ERR_NOMEM;
		waker |= end - from == 2 && !memcmp(s + from, "--", 2);
		from = end + 1;
	}
	return 0;
}

/* Keep the text for the next line; only the difference is copied. */
static int keep_stack(struct reader *r, const char *s, size_t n, size_t from)
{
	r->prev.n = 0;
	if (vec_reserve(&r->prev, n + 1))
		return ERR_NOMEM;
	if (n > from)
		memcpy(r->prev.v + from, s + from, n - from);
	r->prev.n = n;
	return 0;
}

static int add_stack(struct reader *r, const struct line *l, uint64_t v0, uint64_t v1)
{
	if (!v0 && !v1)
		return 0;
	size_t same = shared_frames(r, l->stack, l->len);
	size_t from = same ? r->ends.v[same - 1] + 1 : 0;
	if (split_frames(r, l->stack, l->len, same) || keep_stack(r, l->stack, l->len, from))
		return err_nomem(r->e);
	if (r->f->reverse)
		return flame_add(r->f, r->ids.v, r->ids.n, v0, v1, r->e);
	return flame_add_suffix(r->f, same, r->ids.v, r->ids.n, v0, v1, r->e);
}

static int skip_line(struct reader *r, const char *s, size_t n)
{
	size_t keep = sizeof(r->st->first_skipped) - 1;
	if (!n || (n == 1 && *s == '\r'))
		return 0;
	if (!r->st->skipped++) {
		keep = n < keep ? n : keep;
		memcpy(r->st->first_skipped, s, keep);
		r->st->first_skipped[keep] = '\0';
	}
	return 0;
}

static int add_line(struct reader *r, const char *s, size_t n)
{
	struct line l = parse_line(s, n, r->columns);
	if (!l.counts)
		return skip_line(r, s, n);
	r->st->lines++;
	uint64_t v[2] = {l.count[0], 0};
	if (r->columns == 2)
		v[1] = l.counts == 2 ? l.count[1] : l.count[0];
	else if (r->before)
		v[0] = 0, v[1] = l.count[0];
	if (l.decimal && r->f->scale == 1) {
		int rc = flame_rescale(r->f, FLAME_DECIMALS, r->e);
		if (rc)
			return rc;
	}
	for (int i = 0; i < 2 && !l.decimal && r->f->scale != 1; i++)
		if (__builtin_mul_overflow(v[i], r->f->scale, &v[i]))
			return skip_line(r, s, n);
	return add_stack(r, &l, v[0], v[1]);
}

/* --- files --------------------------------------------------------------------------- */

/* 2 when all lines with counts have two, else 1. */
static int guess_columns(const char *p, size_t n)
{
	int any = 0;
	for (const char *end = p + n, *nl; p < end; p = nl + 1) {
		nl = memchr(p, '\n', (size_t)(end - p));
		if (!nl && any)
			break; /* ignore a cut line */
		if (!nl)
			nl = end;
		struct line l = parse_line(p, (size_t)(nl - p), 2);
		if (l.counts == 1)
			return 1;
		any |= l.counts == 2;
	}
	return any ? 2 : 1;
}

static ssize_t read_full(int fd, char *p, size_t n)
{
	size_t got = 0;
	while (got < n) {
		ssize_t k = read(fd, p + got, n - got);
		if (k < 0 && errno == EINTR)
			continue;
		if (k < 0)
			return -1;
		if (!k)
			break;
		got += (size_t)k;
	}
	return (ssize_t)got;
}

/* All whole lines of p[0..n); returns the bytes used or < 0. */
static int64_t add_lines(struct reader *r, const char *p, size_t n)
{
	const char *at = p, *end = p + n, *nl;
	while (at < end && (nl = memchr(at, '\n', (size_t)(end - at)))) {
		int rc = add_line(r, at, (size_t)(nl - at));
		if (rc)
			return rc;
		at = nl + 1;
	}
	return at - p;
}

struct window {
	char *v;
	size_t n, cap;
};

/* Read more into the window. 1 = got some, 0 = end. */
static int fill(struct reader *r, struct window *w, int fd, const char *name)
{
	if (w->cap - w->n < BLOCK) {
		size_t cap = w->cap * 2;
		if (w->n > MAX_LINE)
			return err_set(r->e, ERR_LIMIT, "%s: line %llu is longer than 64 MiB",
				       name,
				       (unsigned long long)(r->st->lines + r->st->skipped + 1));
		char *p = mem_resize(w->v, cap, 1);
		if (!p)
			return err_nomem(r->e);
		w->v = p;
		w->cap = cap;
	}
	ssize_t got = read_full(fd, w->v + w->n, BLOCK);
	if (got < 0)
		return err_sys(r->e, "%s: cannot read", name);
	w->n += (size_t)got;
	r->st->bytes += (uint64_t)got;
	return got > 0;
}

/* Begin with what the caller has already read. */
static int fill_head(struct reader *r, struct window *w, const struct folded_options *o)
{
	w->v = mem_alloc(o->head_n + 2 * (size_t)BLOCK);
	if (!w->v)
		return err_nomem(r->e);
	if (o->head_n)
		memcpy(w->v, o->head, o->head_n);
	w->n = r->st->bytes = o->head_n;
	w->cap = o->head_n + 2 * (size_t)BLOCK;
	return 0;
}

static int read_lines(struct reader *r, int fd, const char *name,
		      const struct folded_options *o)
{
	struct window w = {0};
	int rc = fill_head(r, &w, o);
	if (rc)
		return rc;
	for (int more = 1, first = 1; more > 0 && !rc; first = 0) {
		more = fill(r, &w, fd, name);
		if (first && w.n >= 3 &&
		    !memcmp(w.v, "\xef\xbb\xbf", 3)) /* a byte order mark */
			memmove(w.v, w.v + 3, w.n -= 3);
		if (more >= 0 && !r->columns)
			r->columns = guess_columns(w.v, w.n);
		int64_t used = more < 0 ? more : add_lines(r, w.v, w.n);
		if (used < 0) {
			rc = (int)used;
			break;
		}
		w.n -= (size_t)used;
		memmove(w.v, w.v + used, w.n);
	}
	if (!rc && w.n)
		rc = add_line(r, w.v, w.n);
	mem_free(w.v);
	return rc;
}

int folded_read_fd(struct flame *f, int fd, const char *name, const struct folded_options *o,
		   struct folded_stats *st, struct err *e)
{
	struct folded_stats own;
	st = st ? st : &own;
	*st = (struct folded_stats){0};
	struct reader r = {
		.f = f, .st = st, .columns = o->columns, .before = o->before, .e = e};
	f->path.n = 0; /* the first line has no previous one from an earlier file */
	int rc = read_lines(&r, fd, name, o);
	st->columns = r.columns ? r.columns : 1;
	vec_release(&r.prev);
	vec_release(&r.ends);
	vec_release(&r.ids);
	vec_release(&r.known);
	return rc;
}

int folded_read(struct flame *f, const char *path, const struct folded_options *o,
		struct folded_stats *st, struct err *e)
{
	if (!strcmp(path, "-"))
		return folded_read_fd(f, STDIN_FILENO, "stdin", o, st, e);
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return err_sys(e, "%s: cannot open", path);
	int rc = folded_read_fd(f, fd, path, o, st, e);
	close(fd);
	return rc;
}

int folded_sniff(const char *p, size_t n)
{
	if (memchr(p, '\0', n))
		return 0;
	for (const char *end = p + n, *nl; p < end; p = nl + 1) {
		nl = memchr(p, '\n', (size_t)(end - p));
		if (!nl)
			nl = end;
		if (parse_line(p, (size_t)(nl - p), 2).counts)
			return 1;
	}
	return 0;
}
