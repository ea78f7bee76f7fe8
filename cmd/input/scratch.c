#include "cmd/input/scratch.h"
#include "base/os/os.h"
#include "libparse/archive/tar.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* Read by signal handlers; set before these are installed, or while they ignore them. */
static char scratch_path[4096], half_written[4096], also_path[4096];
static volatile pid_t scratch_owner, half_written_owner, also_owner;

/* Kept for removing when there are no other descriptors: a folder and its parent or child. */
enum { SPARES = 2 };
static int spares[SPARES] = {-1, -1};

enum { DEPTH_MAX = TAR_DEPTH_MAX + 8, LIST_BYTES = 2048 };

/* Folders of runs that were killed are recognized by the name, removed by the next run. Its run
 * locks a folder as soon as it has made it, for which YOUNG_S is time enough. */
#define RUN "perfkit.run-"
enum { YOUNG_S = 60, LISTED_MAX = 100000 };

/* The way from the folder that is removed down to the one that is being emptied. */
struct level {
	char name[256];      /* in the level above */
	unsigned int failed; /* folders of its list that cannot be emptied */
};

static int open_folder(int parent, const char *name)
{
	return openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
}

/*
 * Remove what a list of fd holds. Returns the descriptor of the first folder that stays, but for
 * the first `skip`, with its name; -1: there is none. *removed is set if anything was removed:
 * then the list may have left out entries.
 */
static int remove_listed(int fd, const char *list, long n, unsigned int *skip, char *name,
			 int *removed)
{
	for (long at = 0; at < n;) {
		const struct os_entry *d = (const void *)(list + at);
		at += d->size;
		if (!strcmp(d->name, ".") || !strcmp(d->name, ".."))
			continue;
		if (!unlinkat(fd, d->name, 0) || !unlinkat(fd, d->name, AT_REMOVEDIR)) {
			*removed = 1;
			continue;
		}
		int child = open_folder(fd, d->name);
		if (child < 0)
			continue;
		if (!*skip) {
			strcpy(name, d->name);
			return child;
		}
		--*skip;
		close(child);
	}
	return -1;
}

/* Empty the folder but for its folders. Returns the first of these to descend into, or -1. */
static int empty_folder(int fd, const struct level *here, char *name)
{
	char list[LIST_BYTES] __attribute__((aligned(8)));
	int removed, child = -1;
	do {
		unsigned int skip = here->failed;
		long n;
		removed = 0;
		lseek(fd, 0, SEEK_SET);
		while (child < 0 && (n = os_read_folder(fd, list, sizeof(list))) > 0)
			child = remove_listed(fd, list, n, &skip, name, &removed);
	} while (child < 0 && removed);
	return child;
}

/*
 * rm -rf with only system calls, so that a signal handler may call it (which then ends the
 * process: `way` is used once), and with two descriptors at a time. Names lead down, ".." up: the
 * folders are private.
 */
static void remove_tree(int parent, const char *name)
{
	static struct level way[DEPTH_MAX + 1];
	int depth = 0, fd = open_folder(parent, name);
	way[0].failed = 0;
	while (fd >= 0) {
		int child = -1;
		if (depth < DEPTH_MAX)
			child = empty_folder(fd, &way[depth], way[depth + 1].name);
		if (child >= 0) {
			way[++depth].failed = 0;
		} else if (depth) {
			child = open_folder(fd, "..");
			depth--;
			if (unlinkat(child, way[depth + 1].name, AT_REMOVEDIR))
				way[depth].failed++;
		}
		close(fd);
		fd = child;
	}
	unlinkat(parent, name, AT_REMOVEDIR);
}

static void drop_spares(void)
{
	for (int i = 0; i < SPARES; i++) {
		if (spares[i] >= 0)
			close(spares[i]);
		spares[i] = -1;
	}
}

/* 0, or -1 with errno if there are no descriptors left. */
static int keep_spares(void)
{
	for (int i = 0; i < SPARES; i++)
		if (spares[i] < 0 && (spares[i] = open("/", O_PATH | O_CLOEXEC)) < 0) {
			int error = errno;
			drop_spares();
			errno = error;
			return -1;
		}
	return 0;
}

void scratch_remove_tree(const char *path)
{
	remove_tree(AT_FDCWD, path);
}

static void remove_scratch(void)
{
	drop_spares();
	if (scratch_owner == getpid())
		remove_tree(AT_FDCWD, scratch_path);
	if (also_owner == getpid())
		remove_tree(AT_FDCWD, also_path);
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
	static const int ending[] = {SIGINT,  SIGTERM, SIGHUP,    SIGPIPE, SIGQUIT, SIGXCPU,
				     SIGALRM, SIGPROF, SIGVTALRM, SIGUSR1, SIGUSR2};
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
	if (keep_spares())
		drop_spares(); /* then it may stay, as a cache's rubbish that a later run removes */
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

/* The descriptor of a folder that a killed run has left, locked; -1: it is none. */
static int left_behind(int place, const char *name)
{
	struct stat st;
	if (strncmp(name, RUN, sizeof(RUN) - 1) != 0)
		return -1;
	int fd = open_folder(place, name);
	if (fd >= 0 && (fstat(fd, &st) || st.st_uid != geteuid() || (st.st_mode & 0077) ||
			time(NULL) - st.st_mtime < YOUNG_S || flock(fd, LOCK_EX | LOCK_NB))) {
		close(fd);
		return -1;
	}
	return fd;
}

static void sweep(const char *place)
{
	DIR *d = opendir(place);
	const struct dirent *x;
	for (int n = 0; d && n < LISTED_MAX && (x = readdir(d)); n++) {
		int fd = left_behind(dirfd(d), x->d_name);
		if (fd < 0)
			continue;
		remove_tree(dirfd(d), x->d_name);
		close(fd);
	}
	if (d)
		closedir(d);
}

/* Make the folder in this place and lock it until the process ends. -1 with errno. */
static int make_run(const char *place)
{
	char text[sizeof(scratch_path)], full[sizeof(scratch_path)];
	if (snprintf(text, sizeof(text), "%s/" RUN "XXXXXX", place) >= (int)sizeof(text)) {
		errno = ENAMETOOLONG;
		return -1;
	}
	if (!mkdtemp(text))
		return -1;
	int fd = open_folder(AT_FDCWD, text);
	if (fd < 0) {
		int error = errno;
		rmdir(text);
		errno = error;
		return -1;
	}
	flock(fd, LOCK_EX | LOCK_NB); /* without locks nobody finds it left behind */
	if (!realpath(text, full))
		snprintf(full, sizeof(full), "%s", text);
	memcpy(scratch_path, full, sizeof(full));
	return 0;
}

/* The same, and remove it when the process ends. No signal comes between the two. */
static int make_ours(const char *place)
{
	sigset_t all, before;
	sigfillset(&all);
	sigprocmask(SIG_BLOCK, &all, &before);
	int rc = make_run(place), error = errno;
	if (!rc) {
		scratch_owner = getpid();
		atexit(remove_scratch);
		catch_signals();
	}
	sigprocmask(SIG_SETMASK, &before, NULL);
	errno = error;
	return rc;
}

int scratch_dir(const char **path, struct err *e)
{
	const char *dirs[SCRATCH_PLACES];
	*path = scratch_path;
	if (scratch_owner == getpid())
		return 0;
	scratch_places(dirs);
	int rc = keep_spares();
	for (size_t i = 0; !rc && i < SCRATCH_PLACES; i++) {
		if (!make_ours(dirs[i])) {
			sweep(dirs[i]);
			return 0;
		}
		rc = errno == EMFILE || errno == ENFILE;
	}
	return err_sys(e, "cannot make a folder for temporary files in $TMPDIR, /tmp, "
			  "/var/tmp, /dev/shm or here");
}
