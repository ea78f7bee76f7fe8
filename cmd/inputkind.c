#include "cmd/inputkind.h"
#include "cmd/plaininput.h"
#include "libparse/bundle.h"
#include "render/folded.h"

#include <string.h>
#include <sys/stat.h>

static int starts(const uint8_t *p, size_t n, const void *magic, size_t len)
{
	return n >= len && !memcmp(p, magic, len);
}

enum input_kind input_kind_of_bytes(const uint8_t *p, size_t n)
{
	if (starts(p, n, "PERFILE2", 8) || starts(p, n, "2ELIFREP", 8) ||
	    starts(p, n, "PERFFILE", 8) || starts(p, n, "ELIFFREP", 8) || bundle_told(p, n))
		return INPUT_PERF_DATA;
	if (starts(p, n, "SQLite format 3", 16))
		return INPUT_STORE;
	return folded_sniff((const char *)p, n) ? INPUT_FOLDED : INPUT_UNKNOWN;
}

static int is_file(const char *path)
{
	struct stat st;
	return strcmp(path, "-") != 0 && !stat(path, &st) && S_ISREG(st.st_mode);
}

int input_kind_open(const char *path, struct source *src, enum input_kind *kind, struct err *e)
{
	struct stat st;
	const uint8_t *p;
	size_t n;
	*src = (struct source){.fd = -1};
	*kind = INPUT_PERF_DATA;
	if (strcmp(path, "-") && !stat(path, &st) && S_ISDIR(st.st_mode))
		return 0;
	int rc = source_open(src, path, e);
	if (!rc)
		rc = plain_input_open(src, path, e);
	if (!rc)
		rc = source_peek(src, &p, &n, e);
	if (!rc) {
		*kind = input_kind_of_bytes(p, n);
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
