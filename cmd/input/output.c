#include "cmd/input/output.h"
#include "base/regular.h"
#include "base/text/buf.h"
#include "cmd/cli/say.h"
#include "cmd/input/budget.h"
#include "cmd/input/form.h"
#include "cmd/input/input_kind.h"
#include "render/export/gzip.h"
#include "render/text/table.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

/* 1 when `path` is a recording or a store. */
static int is_kept(const char *path)
{
	uint8_t head[512];
	struct stat st;
	int fd = strcmp(path, "-") ? regular_open(AT_FDCWD, path, 0, &st) : -1;
	ssize_t n = fd < 0 ? -1 : read(fd, head, sizeof(head));
	if (fd >= 0)
		close(fd);
	enum input_kind kind = n <= 0 ? INPUT_UNKNOWN : input_kind_of_bytes(head, (size_t)n);
	return (kind == INPUT_PERF_DATA || kind == INPUT_STORE) &&
	       !gzip_is_own(head, (size_t)n);
}

int output_open(struct outfile *o, const char *path, struct err *e)
{
	path = path ? path : "-";
	if (is_kept(path))
		return err_set(e, ERR_REFUSED,
			       "%s: exists and is a recording or a store; not replaced", path);
	int rc = outfile_open(o, path, e);
	o->most = budget_output();
	return rc;
}

size_t output_width(void)
{
	enum { LEAST = 80, MOST = 200 };
	struct winsize size = {0};
	const char *columns = getenv("COLUMNS");
	if (form_is_data())
		return TABLE_DATA;
	unsigned long width = columns ? strtoul(columns, NULL, 10) : 0;
	if (!width && !ioctl(STDOUT_FILENO, TIOCGWINSZ, &size))
		width = size.ws_col;
	return width < LEAST ? LEAST : width > MOST ? MOST : width;
}

int output_check(const char *path, struct err *e)
{
	struct stat st;
	struct buf dir = {0};
	const char *slash = path ? strrchr(path, '/') : NULL;
	if (!path || !strcmp(path, "-"))
		return 0;
	int there = !stat(path, &st);
	if (there && S_ISDIR(st.st_mode))
		return err_set(e, ERR_IO, "%s: cannot write: is a directory", path);
	if (there && !S_ISREG(st.st_mode))
		return 0; /* devices: outfile_open checks them */
	if (slash)
		buf_add(&dir, path, slash == path ? 1 : (size_t)(slash - path));
	else
		buf_char(&dir, '.');
	int rc = access(buf_cstr(&dir), W_OK | X_OK) ? err_sys(e, "%s: cannot write", path) : 0;
	buf_release(&dir);
	return rc;
}

int output_is_input(const char *output, const char *input)
{
	struct stat x, y;
	return !stat(output, &x) && !stat(input, &y) && x.st_dev == y.st_dev &&
	       x.st_ino == y.st_ino && S_ISREG(x.st_mode);
}

void output_say_written(const char *path, int quiet)
{
	if (path && strcmp(path, "-") && !quiet)
		say("wrote %s; open it in a browser", path);
}
