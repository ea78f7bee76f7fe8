/*
 * plant.c - LD_PRELOAD: what code of a stranger would try once it runs in the program, tried as
 * the program ends: a file made at $PLANT, $PLANT.old written to, removed, renamed; a
 * set-user-id program's rights. Says on stderr what worked.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

static void worked(const char *what)
{
	dprintf(STDERR_FILENO, "planted: %s\n", what);
}

__attribute__((destructor)) static void end(void)
{
	const char *path = getenv("PLANT");
	char old[4096], dir[4096];
	if (!path)
		return;
	snprintf(old, sizeof(old), "%s.old", path);
	snprintf(dir, sizeof(dir), "%s.dir", path);
	if (open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600) >= 0)
		worked("made");
	if (open(old, O_WRONLY | O_CLOEXEC) >= 0)
		worked("written");
	if (!truncate(old, 0))
		worked("truncated");
	if (!mkdir(dir, 0700))
		worked("folder");
	if (!symlink("/", dir))
		worked("link");
	if (!rename(old, path))
		worked("renamed");
	if (!unlink(old))
		worked("removed");
	if (prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 0)
		worked("privileges");
	if (open(old, O_RDONLY | O_CLOEXEC) < 0)
		worked("nothing to read");
}
