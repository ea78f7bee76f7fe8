#include "base/child.h"
#include "base/os/landlock.h"
#include "base/os/os.h"
#include "base/os/syscall_filter.h"

#include <errno.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

extern char **environ;

/* 1 for a folder in which only root and the caller can put programs; a group of its own, as
 * /usr/local has on Debian, is the administrator's decision. */
static int is_safe_folder(const char *dir)
{
	struct stat st;
	return *dir == '/' && !stat(dir, &st) && S_ISDIR(st.st_mode) &&
	       (!st.st_uid || st.st_uid == geteuid()) && !(st.st_mode & S_IWOTH);
}

static int is_program(const char *path)
{
	struct stat st;
	return !stat(path, &st) && S_ISREG(st.st_mode) && !access(path, X_OK);
}

/* The absolute path of a program; -1 and errno. */
static int find(const char *name, char *out, size_t size)
{
	char dir[PATH_MAX], real[PATH_MAX];
	const char *path = getenv("PATH");
	if (strchr(name, '/')) {
		if (!realpath(name, real))
			return -1;
		/* not the link's target: programs look at the name by which they were called */
		if (*name == '/')
			return snprintf(out, size, "%s", name) < (int)size ? 0 : -1;
		return getcwd(dir, sizeof(dir)) &&
				       (size_t)snprintf(out, size, "%s/%s", dir, name) < size
			       ? 0
			       : -1;
	}
	for (const char *p = path ? path : "/usr/local/bin:/usr/bin:/bin"; p;) {
		size_t n = strcspn(p, ":");
		if (n < sizeof(dir)) {
			memcpy(dir, p, n);
			dir[n] = '\0';
			if ((size_t)snprintf(out, size, "%s/%s", dir, name) < size &&
			    is_safe_folder(dir) && is_program(out))
				return 0;
		}
		p = p[n] ? p + n + 1 : NULL;
	}
	errno = ENOENT;
	return -1;
}

static int is_kept(const char *variable)
{
	static const char *const kept[] = {"PATH=",
					   "HOME=",
					   "USER=",
					   "LOGNAME=",
					   "LANG=",
					   "LC_",
					   "TZ=",
					   "TMPDIR=",
					   "TERM=",
					   "AWS_",
					   "http_proxy=",
					   "https_proxy=",
					   "no_proxy=",
					   "HTTP_PROXY=",
					   "HTTPS_PROXY=",
					   "NO_PROXY=",
					   "SSL_CERT_",
					   "GIT_ALLOW_PROTOCOL=",
					   "GIT_NO_LAZY_FETCH="};
	for (size_t i = 0; i < sizeof(kept) / sizeof(*kept); i++)
		if (!strncmp(variable, kept[i], strlen(kept[i])))
			return 1;
	return 0;
}

/* Remove the other variables. */
static void clean_environment(void)
{
	char **to = environ;
	for (char **v = environ; v && *v; v++)
		if (is_kept(*v))
			*to++ = *v;
	if (to)
		*to = NULL;
}

/* -1 if the kernel has a sandbox but cannot enter it now. */
static int confine(void)
{
	const unsigned may = MAY_READ | MAY_EXECUTE | MAY_FORK;
	struct landlock s = {0};
	if (os_no_new_privileges())
		return 0;
	if (landlock_begin(&s, may)) {
		landlock_allow_writing(&s, "/dev/null");
		landlock_enter(&s);
	}
	if (s.shortage) {
		errno = s.shortage;
		return -1;
	}
	syscall_filter_enter(may);
	return 0;
}

void child_become(const char *const *argv, const char *dir, enum child_environment env)
{
	char program[PATH_MAX];
	if (find(argv[0], program, sizeof(program)) || (dir && chdir(dir)))
		return;
	if (env != CHILD_CALLERS)
		clean_environment();
	if (env == CHILD_READER && confine())
		return;
	execv(program, (char *const *)(uintptr_t)argv);
}
