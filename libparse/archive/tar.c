#include "libparse/archive/tar.h"
#include "base/mem.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* struct posix_header of <tar.h>: offsets of its fields. */
enum {
	AT_NAME = 0,
	AT_MODE = 100,
	AT_UID = 108,
	AT_GID = 116,
	AT_SIZE = 124,
	AT_MTIME = 136,
	AT_SUM = 148,
	AT_TYPE = 156,
	AT_MAGIC = 257,
	AT_PREFIX = 345,
	NAME_FIELD = 100,
	PREFIX_FIELD = 155,
	SUM_FIELD = 8,
	EXTRA_MAX = 1 << 16, /* content of a pax or long-name header */
};

#define OCTAL_SIZE_MAX 077777777777ull

/* --- names ------------------------------------------------------------------------------- */

int tar_name_is_safe(const char *name)
{
	if (!*name || strlen(name) > TAR_NAME_MAX)
		return 0;
	int depth = 0;
	for (const char *p = name;; p++) {
		size_t n = strcspn(p, "/");
		if (++depth > TAR_DEPTH_MAX || !n || n > 255 || (n == 1 && p[0] == '.') ||
		    (n == 2 && p[0] == '.' && p[1] == '.'))
			return 0;
		p += n;
		if (!*p)
			return 1;
	}
}

/* "./a/" becomes "a": tar writes directories with a leading "./" and a trailing slash. */
static const char *plain_name(struct buf *b)
{
	buf_cstr(b); /* ends in a NUL */
	while (b->n > 1 && b->v[b->n - 1] == '/')
		b->v[--b->n] = '\0';
	const char *s = buf_cstr(b);
	while (s[0] == '.' && s[1] == '/')
		s += 2;
	return s;
}

/* --- reading ------------------------------------------------------------------------------ */

static int is_zero_block(const uint8_t *h)
{
	for (int i = 0; i < TAR_BLOCK; i++)
		if (h[i])
			return 0;
	return 1;
}

/* Octal with blanks around, or base-256 (first byte 0x80). 0 or ERR_FORMAT. */
static int number(const uint8_t *p, size_t n, uint64_t *out)
{
	uint64_t x = 0;
	size_t i = 0;
	if (p[0] == 0x80) {
		for (i = 1; i < n; i++) {
			if (x >> 55)
				return ERR_FORMAT;
			x = x << 8 | p[i];
		}
		*out = x;
		return 0;
	}
	while (i < n && p[i] == ' ')
		i++;
	for (; i < n && p[i] >= '0' && p[i] <= '7'; i++)
		x = x << 3 | (uint64_t)(p[i] - '0');
	*out = x;
	return i == n || p[i] == ' ' || !p[i] ? 0 : ERR_FORMAT;
}

static int checksum_is_right(const uint8_t *h)
{
	uint64_t want, sum = 0;
	for (int i = 0; i < TAR_BLOCK; i++)
		sum += i >= AT_SUM && i < AT_SUM + SUM_FIELD ? ' ' : h[i];
	return !number(h + AT_SUM, SUM_FIELD, &want) && want == sum;
}

static int skip(struct tar_reader *t, uint64_t n, struct err *e)
{
	uint8_t waste[16384];
	while (n) {
		size_t k = n < sizeof(waste) ? (size_t)n : sizeof(waste);
		int rc = t->read(t->ctx, waste, k, e);
		if (rc != 1)
			return rc ? rc
				  : err_set(e, ERR_TRUNCATED, "%s: ends inside a file",
					    t->name);
		n -= k;
	}
	return 0;
}

/* The content of a header that describes the next entry. */
static int read_extra(struct tar_reader *t, uint64_t size, struct buf *to, struct err *e)
{
	char text[TAR_BLOCK];
	buf_clear(to);
	to->max = EXTRA_MAX + 1;
	if (size > EXTRA_MAX)
		return err_set(e, ERR_LIMIT, "%s: an extended header of %" PRIu64 " bytes",
			       t->name, size);
	for (uint64_t left = size; left;) {
		size_t k = left < sizeof(text) ? (size_t)left : sizeof(text);
		int rc = t->read(t->ctx, text, sizeof(text), e);
		if (rc != 1)
			return rc ? rc
				  : err_set(e, ERR_TRUNCATED, "%s: ends inside a header",
					    t->name);
		buf_add(to, text, k);
		left -= k;
	}
	return buf_failed(to) ? err_nomem(e) : 0;
}

/* One "LENGTH KEY=VALUE\n" of a pax header; its length in bytes, or 0 if it is broken. */
static size_t parse_pax_record(struct tar_reader *t, const char *p, size_t n)
{
	size_t len = 0, i = 0;
	for (; i < n && p[i] >= '0' && p[i] <= '9' && len <= EXTRA_MAX; i++)
		len = len * 10 + (size_t)(p[i] - '0');
	if (!i || i >= n || p[i] != ' ' || len > n || len < i + 3 || p[len - 1] != '\n')
		return 0;
	const char *key = p + i + 1, *end = p + len - 1;
	const char *eq = memchr(key, '=', (size_t)(end - key));
	if (!eq)
		return 0;
	size_t nkey = (size_t)(eq - key), nvalue = (size_t)(end - eq - 1);
	if (nkey == 4 && !memcmp(key, "path", 4)) {
		if (memchr(eq + 1, 0, nvalue))
			return 0;
		buf_clear(&t->path);
		buf_add(&t->path, eq + 1, nvalue);
		t->has_path = 1;
	} else if (nkey == 4 && !memcmp(key, "size", 4)) {
		uint64_t x = 0;
		for (size_t k = 1; k <= nvalue; k++) {
			if (eq[k] < '0' || eq[k] > '9' || x > UINT64_MAX / 16)
				return 0;
			x = x * 10 + (uint64_t)(eq[k] - '0');
		}
		t->pax_size = x;
		t->has_size = 1;
	}
	return len;
}

static int parse_pax(struct tar_reader *t, uint64_t size, struct err *e)
{
	int rc = read_extra(t, size, &t->link_name, e);
	const char *p = buf_cstr(&t->link_name);
	for (size_t left = rc ? 0 : t->link_name.n, k; left; p += k, left -= k) {
		k = parse_pax_record(t, p, left);
		if (!k)
			return err_set(e, ERR_FORMAT, "%s: a broken pax header", t->name);
	}
	return rc;
}

static int read_long_name(struct tar_reader *t, uint64_t size, struct err *e)
{
	int rc = read_extra(t, size, &t->path, e);
	if (rc)
		return rc;
	t->path.n = strnlen(buf_cstr(&t->path), t->path.n);
	t->has_path = 1;
	return 0;
}

static void read_name(struct tar_reader *t, const uint8_t *h)
{
	const char *name = (const char *)h + AT_NAME, *prefix = (const char *)h + AT_PREFIX;
	if (t->has_path)
		return;
	buf_clear(&t->path);
	/* With GNU's magic "ustar  " the prefix is something else. */
	if (!memcmp(h + AT_MAGIC, "ustar", 6) && *prefix) {
		buf_add(&t->path, prefix, strnlen(prefix, PREFIX_FIELD));
		buf_char(&t->path, '/');
	}
	buf_add(&t->path, name, strnlen(name, NAME_FIELD));
}

static int refuse(const struct tar_reader *t, const char *name, const char *why, struct err *e)
{
	return err_set(e, ERR_REFUSED, "%s: refused: '%.200s' %s", t->name, name, why);
}

static int note_name(struct tar_reader *t, const char *name, struct err *e)
{
	uint32_t id;
	if (!t->lenient && strtab_find(&t->seen, name, &id))
		return refuse(t, name, "is in it twice", e);
	if (++t->entries > TAR_ENTRIES_MAX)
		return err_set(e, ERR_LIMIT, "%s: more than %d files", t->name,
			       TAR_ENTRIES_MAX);
	return strtab_intern(&t->seen, name, &id) ? err_nomem(e) : 0;
}

/* The entry that header h (with the headers before it) describes. 1, 0 for the directory ".",
 * or < 0. */
static int read_entry(struct tar_reader *t, const uint8_t *h, uint64_t size,
		      struct tar_entry *out, struct err *e)
{
	char type = (char)h[AT_TYPE];
	read_name(t, h);
	size_t raw = t->path.n;
	int is_dir = type == '5' || (raw && t->path.v[raw - 1] == '/');
	const char *name = plain_name(&t->path);
	if (t->has_size)
		size = t->pax_size;
	t->has_path = t->has_size = 0;
	if (buf_failed(&t->path))
		return err_nomem(e);
	int is_link = type == '1' || type == '2';
	if (type != '0' && type != '\0' && type != '5' && !(is_link && t->lenient))
		return refuse(t, name, is_link ? "is a link" : "is neither file nor directory",
			      e);
	if (size > INT64_MAX)
		return err_set(e, ERR_FORMAT, "%s: a file of an absurd size", t->name);
	if ((is_dir || is_link) && size)
		return err_set(e, ERR_FORMAT, "%s: a directory or link with content", t->name);
	if (is_dir && (!*name || !strcmp(name, ".")))
		return 0;
	if (!tar_name_is_safe(name))
		return refuse(t, name, "is not a name below the directory", e);
	int rc = note_name(t, name, e);
	if (rc)
		return rc;
	t->left = size;
	t->padding = (TAR_BLOCK - size % TAR_BLOCK) % TAR_BLOCK;
	*out = (struct tar_entry){
		.name = name, .size = size, .is_dir = is_dir, .is_link = is_link};
	return 1;
}

int tar_next(struct tar_reader *t, struct tar_entry *out, struct err *e)
{
	uint8_t h[TAR_BLOCK];
	uint64_t size;
	int rc = skip(t, t->left, e);
	if (!rc)
		rc = skip(t, t->padding, e);
	t->left = t->padding = 0;
	while (!rc) {
		rc = t->read(t->ctx, h, sizeof(h), e);
		if (!rc)
			return err_set(e, ERR_TRUNCATED, "%s: ends without an end mark",
				       t->name);
		if (rc < 0 || is_zero_block(h))
			return rc < 0 ? rc : 0;
		if (!checksum_is_right(h) || number(h + AT_SIZE, 12, &size) || size > INT64_MAX)
			return err_set(e, ERR_FORMAT, "%s: a broken tar header", t->name);
		switch (h[AT_TYPE]) {
		case 'x':
			rc = parse_pax(t, size, e);
			break;
		case 'L':
			rc = read_long_name(t, size, e);
			break;
		case 'K': /* the target of the next entry, a link */
			rc = t->lenient ? read_extra(t, size, &t->link_name, e)
					: read_entry(t, h, size, out, e);
			break;
		case 'g': /* global pax header: comments of other tools */
			rc = read_extra(t, size, &t->link_name, e);
			break;
		default:
			rc = read_entry(t, h, size, out, e);
			break;
		}
	}
	return rc;
}

int64_t tar_read(struct tar_reader *t, void *to, size_t n, struct err *e)
{
	if (n > t->left)
		n = (size_t)t->left;
	if (!n)
		return 0;
	int rc = t->read(t->ctx, to, n, e);
	if (rc != 1)
		return rc ? rc : err_set(e, ERR_TRUNCATED, "%s: ends inside a file", t->name);
	t->left -= n;
	return (int64_t)n;
}

void tar_reader_release(struct tar_reader *t)
{
	buf_release(&t->path);
	buf_release(&t->link_name);
	strtab_release(&t->seen);
}

/* --- writing ------------------------------------------------------------------------------ */

static void octal(char *field, size_t n, uint64_t x)
{
	char text[32];
	snprintf(text, sizeof(text), "%0*" PRIo64, (int)n - 1, x);
	memcpy(field, text, n - 1);
	field[n - 1] = '\0';
}

/* Split at a slash so that both halves fit their fields; 0 when no slash does. */
static int split_name(const char *name, size_t n, size_t *prefix)
{
	*prefix = 0;
	if (n <= NAME_FIELD)
		return 1;
	for (size_t i = n - NAME_FIELD - 1; i <= PREFIX_FIELD && i < n; i++) {
		if (name[i] == '/' && i) {
			*prefix = i;
			return 1;
		}
	}
	return 0;
}

static void header_block(struct buf *out, const char *name, size_t n, size_t prefix,
			 uint64_t size, char type)
{
	char h[TAR_BLOCK] = {0};
	unsigned sum = 0;
	const char *rest = prefix ? name + prefix + 1 : name;
	size_t nrest = n - (size_t)(rest - name);
	memcpy(h + AT_NAME, rest, nrest < NAME_FIELD ? nrest : NAME_FIELD);
	memcpy(h + AT_PREFIX, name, prefix);
	octal(h + AT_MODE, 8, type == '5' ? 0700 : 0600);
	octal(h + AT_UID, 8, 0);
	octal(h + AT_GID, 8, 0);
	octal(h + AT_SIZE, 12, size > OCTAL_SIZE_MAX ? 0 : size);
	octal(h + AT_MTIME, 12, 0);
	h[AT_TYPE] = type;
	memcpy(h + AT_MAGIC,
	       "ustar\0"
	       "00",
	       8);
	memset(h + AT_SUM, ' ', SUM_FIELD);
	for (int i = 0; i < TAR_BLOCK; i++)
		sum += (uint8_t)h[i];
	octal(h + AT_SUM, 7, sum);
	buf_add(out, h, sizeof(h));
}

/* "LENGTH KEY=VALUE\n", where LENGTH counts its own digits. */
static void pax_record(struct buf *to, const char *key, const char *value)
{
	size_t rest = strlen(key) + strlen(value) + 3, len = rest + 1;
	char digits[24];
	while (len != rest + (size_t)snprintf(digits, sizeof(digits), "%zu", len))
		len++;
	buf_fmt(to, "%zu %s=%s\n", len, key, value);
}

int tar_header(struct buf *out, const char *name, uint64_t size, int is_dir, struct err *e)
{
	static const char zeroes[TAR_BLOCK];
	struct buf pax = {0};
	size_t prefix, n = strlen(name);
	if (!tar_name_is_safe(name))
		return err_set(e, ERR_USAGE, "'%.200s' cannot be a name in a bundle", name);
	if (!split_name(name, n, &prefix))
		pax_record(&pax, "path", name);
	if (size > OCTAL_SIZE_MAX) {
		char text[24];
		snprintf(text, sizeof(text), "%" PRIu64, size);
		pax_record(&pax, "size", text);
	}
	if (pax.n) {
		header_block(out, "pax", 3, 0, pax.n, 'x');
		buf_add(out, pax.v, pax.n);
		buf_add(out, zeroes, (TAR_BLOCK - pax.n % TAR_BLOCK) % TAR_BLOCK);
	}
	header_block(out, name, n, prefix, size, is_dir ? '5' : '0');
	int failed = buf_failed(&pax) || buf_failed(out);
	buf_release(&pax);
	return failed ? err_nomem(e) : 0;
}
