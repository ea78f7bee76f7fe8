#include "cmd/input/scratch.h"
#include "libparse/archive/tar.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Read by signal handlers; set before these are installed, or while they ignore them. */
static char scratch_path[4096], half_written[4096], also_path[4096];
static volatile pid_t scratch_owner, half_written_owner, also_owner;

enum { DEPTH_MAX = TAR_DEPTH_MAX + 8, LIST_BYTES = 2048 };

/* The entries of getdents64(2). */
struct linux_dirent64 {
	uint64_t d_ino;
	int64_t d_off;
	unsigned short d_reclen;
	unsigned char d_type;
	char d_name[];
};

/*
 * rm -rf with only system calls, so that a signal handler may call it. A listing from which
 * files were removed starts over until it is empty.
 */
static void remove_tree(int parent, const char *name, int depth)
{
	char list[LIST_BYTES] __attribute__((aligned(8)));
	int fd = openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	long n;
	if (fd < 0)
		return;
	while ((n = syscall(SYS_getdents64, fd, list, sizeof(list))) > 0) {
		for (long at = 0; at < n;) {
			const struct linux_dirent64 *d = (const void *)(list + at);
			at += d->d_reclen;
			if (!strcmp(d->d_name, ".") || !strcmp(d->d_name, ".."))
				continue;
			if (unlinkat(fd, d->d_name, 0) && depth < DEPTH_MAX)
				remove_tree(fd, d->d_name, depth + 1);
		}
	}
	close(fd);
	unlinkat(parent, name, AT_REMOVEDIR);
}

void scratch_remove_tree(const char *path)
{
	remove_tree(AT_FDCWD, path, 0);
}

static void remove_scratch(void)
{
	if (scratch_owner == getpid())
		remove_tree(AT_FDCWD, scratch_path, 0);
	if (also_owner == getpid())
		remove_tree(AT_FDCWD, also_path, 0);
}

void scratch_remove(void)
{
	remove_scratch();
	if (half_written_owner == getpid())
		unlink(half_written);
}

static void on_signal(int sig)
{
	scratch_remove();
	signal(sig, SIG_DFL);
	raise(sig);
}

static void catch_signals(void)
{
	static const int ending[] = {SIGINT, SIGTERM, SIGHUP, SIGPIPE, SIGQUIT};
	for (size_t i = 0; i < sizeof(ending) / sizeof(*ending); i++) {
		struct sigaction old, now = {.sa_handler = on_signal};
		sigemptyset(&now.sa_mask);
		/* signals that the caller ignores (nohup) stay ignored */
		if (!sigaction(ending[i], NULL, &old) && old.sa_handler == SIG_DFL)
			sigaction(ending[i], &now, NULL);
	}
}

void scratch_also(const char *path)
{
	static int registered;
	also_owner = 0;
	size_t n = path ? strlen(path) + 1 : 0;
	if (!n || n > sizeof(also_path))
		return;
	memcpy(also_path, path, n);
	also_owner = getpid();
	if (!registered++)
		atexit(remove_scratch);
	catch_signals();
}

void scratch_file(const char *path)
{
	half_written_owner = 0;
	size_t n = path ? strlen(path) + 1 : 0;
	if (!n || n > sizeof(half_written))
		return;
	memcpy(half_written, path, n);
	half_written_owner = getpid();
	catch_signals();
}

void scratch_places(const char *places[SCRATCH_PLACES])
{
	const char *own = getenv("TMPDIR");
	places[0] = own && *own ? own : "/tmp";
	places[1] = "/tmp";
	places[2] = "/var/tmp";
	places[3] = "/dev/shm";
	places[4] = ".";
}

int scratch_dir(const char **path, struct err *e)
{
	const char *dirs[SCRATCH_PLACES];
	*path = scratch_path;
	if (scratch_owner)
		return 0;
	scratch_places(dirs);
	for (size_t i = 0; i < SCRATCH_PLACES; i++) {
		char text[sizeof(scratch_path)], full[sizeof(scratch_path)];
		if (snprintf(text, sizeof(text), "%s/perfkit.XXXXXX", dirs[i]) >=
			    (int)sizeof(text) ||
		    !mkdtemp(text))
			continue;
		if (!realpath(text, full))
			snprintf(full, sizeof(full), "%s", text);
		memcpy(scratch_path, full, sizeof(full));
		scratch_owner = getpid();
		atexit(remove_scratch);
		catch_signals();
		return 0;
	}
	return err_sys(e, "cannot make a folder for temporary files in $TMPDIR, /tmp, "
			  "/var/tmp, /dev/shm or here");
}
