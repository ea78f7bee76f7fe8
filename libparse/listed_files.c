#include "libparse/listed_files.h"
#include "base/mem.h"
#include "base/regular.h"
#include "base/text/hex.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { TEXT_MAX = 64 << 20, LINE_MOST = 8192 };

static int parse_id(const char *hex, struct listed_file *f)
{
	size_t n = strspn(hex, "0123456789abcdef");
	if (hex[n] || n % 2 || !n || n / 2 > sizeof(f->id))
		return 0;
	for (size_t i = 0; i < n / 2; i++)
		f->id[i] = (uint8_t)(hex_digit(hex[2 * i]) << 4 | hex_digit(hex[2 * i + 1]));
	f->size = (uint8_t)(n / 2);
	return 1;
}

static int parse_line(struct recording *rec, const char *line)
{
	struct listed_file f = {0};
	char id[64];
	int at = 0;
	if (sscanf(line, "file %" SCNu32 ":%" SCNu32 " %" SCNu64 " %" SCNu64 " %63s %n",
		   &f.dev_major, &f.dev_minor, &f.ino, &f.generation, id, &at) != 5 ||
	    line[at] != '/' || !parse_id(id, &f))
		return 0;
	f.path = arena_strndup(&rec->strings, line + at, strlen(line + at));
	return f.path ? vec_push(&rec->files, f) : ERR_NOMEM;
}

/* Append the lines of a text that ends in a NUL; `size` of the recording. */
static int listed_files_parse(struct recording *rec, const char *text, uint64_t size,
			      struct err *e)
{
	char line[LINE_MOST];
	uint64_t of = 0;
	if (sscanf(text, "perfkit-context 1\nof %" SCNu64, &of) != 1 || of != size)
		return 0;
	while ((text = strchr(text, '\n')) && *++text) {
		size_t n = strcspn(text, "\n");
		if (strncmp(text, "file ", 5) != 0 || n >= sizeof(line))
			continue;
		memcpy(line, text, n);
		line[n] = '\0';
		if (parse_line(rec, line))
			return err_nomem(e);
	}
	return 0;
}

/* The context's text, or NULL; *nomem is set when memory is short. */
static char *read_context(const char *path, int *nomem)
{
	struct stat st;
	int fd = regular_open(AT_FDCWD, path, 0, &st);
	char *text = NULL;
	size_t n = 0;
	if (fd >= 0 && st.st_size > 0 && st.st_size <= TEXT_MAX) {
		text = mem_alloc((size_t)st.st_size + 1);
		*nomem = !text;
	}
	while (text && n < (size_t)st.st_size) {
		ssize_t got = read(fd, text + n, (size_t)st.st_size - n);
		if (got <= 0)
			break;
		n += (size_t)got;
	}
	if (text)
		text[n] = '\0';
	if (fd >= 0)
		close(fd);
	return text;
}

int listed_files_load(struct recording *rec, const char *path, struct err *e)
{
	struct stat st;
	char name[4096];
	int nomem = 0;
	if ((size_t)snprintf(name, sizeof(name), "%s.context", path) >= sizeof(name) ||
	    !strcmp(path, "-") || stat(path, &st) || !S_ISREG(st.st_mode))
		return 0;
	char *text = read_context(name, &nomem);
	int r = nomem  ? err_nomem(e)
		: text ? listed_files_parse(rec, text, (uint64_t)st.st_size, e)
		       : 0;
	mem_free(text);
	return r;
}
