#include "cmd/input/input_kind.h"
#include "cmd/input/plain_input.h"
#include "libparse/archive/bundle.h"
#include "render/flame/folded.h"

#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int starts(const uint8_t *p, size_t n, const void *magic, size_t len)
{
	return n >= len && !memcmp(p, magic, len);
}

enum input_kind input_kind_of_bytes(const uint8_t *p, size_t n)
{
	if (starts(p, n, "PERFILE2", 8) || starts(p, n, "2ELIFREP", 8) ||
	    starts(p, n, "PERFFILE", 8) || starts(p, n, "ELIFFREP", 8) || bundle_detect(p, n))
		return INPUT_PERF_DATA;
	if (starts(p, n, "SQLite format 3", 16))
		return INPUT_STORE;
	return folded_sniff((const char *)p, n) ? INPUT_FOLDED : INPUT_UNKNOWN;
}

/* "perf 1234 [001] 12.345678: ...": a time in seconds with a colon, and not a folded stack. */
static int is_perf_script(const char *line, size_t n)
{
	for (size_t i = 1; i + 8 < n && !memchr(line, ';', n); i++) {
		size_t digits = line[i] == '.' ? strspn(line + i + 1, "0123456789") : 0;
		if ((digits == 6 || digits == 9) && line[i - 1] >= '0' && line[i - 1] <= '9' &&
		    i + 1 + digits < n && line[i + 1 + digits] == ':')
			return 1;
	}
	return 0;
}

/* "@[" or "@name[", as bpftrace prints maps. */
static int is_bpftrace(const char *line, size_t n)
{
	size_t i = 1;
	if (!n || *line != '@')
		return 0;
	while (i < n && (line[i] == '_' || (line[i] | 32) >= 'a') && line[i] != '[')
		i++;
	return i < n && line[i] == '[';
}

/* A message for text of another tool, with what to give instead; NULL for other text. */
static const char *foreign_text(const uint8_t *p, size_t n)
{
	char text[4096];
	n = n < sizeof(text) ? n : sizeof(text) - 1;
	memcpy(text, p, n);
	text[n] = '\0';
	if (strlen(text) < n)
		return NULL;
	for (const char *line = text; *line; line += strspn(line, "\r\n")) {
		size_t len = strcspn(line, "\r\n");
		if (is_bpftrace(line, len))
			return "output of bpftrace; give folded stacks instead, as "
			       "stackcollapse-bpftrace.pl makes them";
		if (*line != '#' && is_perf_script(line, len))
			return "output of perf script; give the perf.data that it was made "
			       "from instead";
		line += len;
	}
	return NULL;
}

static int is_file(const char *path)
{
	struct stat st;
	return strcmp(path, "-") != 0 && !stat(path, &st) && S_ISREG(st.st_mode);
}

/* An open stream that was not read yet. */
static struct source kept = {.fd = -1};
static const char *kept_path;

static int open_or_reuse(const char *path, struct source *src, struct err *e)
{
	if (!kept_path || strcmp(path, kept_path)) {
		int rc = source_open(src, path, e);
		return rc ? rc : plain_input_open(src, path, e);
	}
	*src = kept;
	kept_path = NULL;
	return 0;
}

void input_kind_close(const char *path, struct source *src)
{
	if (is_file(path)) {
		source_close(src);
		return;
	}
	kept = *src;
	kept_path = path;
	*src = (struct source){.fd = -1};
}

void input_keep_private(const char *path)
{
	struct stat st;
	int there = strcmp(path, "-") ? !stat(path, &st) : !fstat(STDIN_FILENO, &st);
	if (!there || (!S_ISREG(st.st_mode) && !S_ISDIR(st.st_mode)))
		return;
	mode_t was = umask(S_IRWXG | S_IRWXO);
	umask(was | (st.st_mode & S_IRGRP ? 0 : S_IRWXG) |
	      (st.st_mode & S_IROTH ? 0 : S_IRWXO));
}

int input_kind_open(const char *path, struct source *src, enum input_kind *kind, struct err *e)
{
	struct stat st;
	const uint8_t *p;
	size_t n;
	*src = (struct source){.fd = -1};
	*kind = INPUT_PERF_DATA;
	input_keep_private(path);
	if (strcmp(path, "-") && !stat(path, &st) && S_ISDIR(st.st_mode))
		return 0;
	int rc = open_or_reuse(path, src, e);
	if (rc && !strcmp(path, "perf.data") && access(path, F_OK))
		return err_set(e, rc,
			       "perf.data: no such file: name a recording, or make one "
			       "(perfkit record cpu -- ./prog)");
	if (!rc)
		rc = source_peek(src, &p, &n, e);
	if (!rc) {
		*kind = input_kind_of_bytes(p, n);
		const char *foreign = *kind == INPUT_FOLDED || *kind == INPUT_UNKNOWN
					      ? foreign_text(p, n)
					      : NULL;
		if (foreign)
			rc = err_set(e, ERR_UNSUPPORTED, "%s: %s", path, foreign);
		if (*kind == INPUT_STORE && plain_input_file(path))
			rc = err_set(e, ERR_UNSUPPORTED,
				     "%s: a compressed store: decompress it first", path);
		else if (*kind == INPUT_STORE && !is_file(path))
			rc = err_set(e, ERR_UNSUPPORTED,
				     "%s: a store is read in place, not as a stream: give its "
				     "file",
				     path);
	}
	if (rc)
		source_close(src);
	return rc;
}
