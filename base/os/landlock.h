/*
 * landlock.h - which files a process may open, and which places outside it may reach, as far as
 * this kernel's Landlock can say it (Linux 5.13 and later, more with each ABI level).
 */
#ifndef BASE_OS_LANDLOCK_H
#define BASE_OS_LANDLOCK_H

#include <stdint.h>

/* What a verb may do beside computing and changing the files it was asked for. */
enum sandbox_ability {
	MAY_READ = 1 << 0,    /* any file that the user may read */
	MAY_EXECUTE = 1 << 1, /* run programs, which inherit the sandbox */
	MAY_CONNECT = 1 << 2, /* to servers */
	MAY_FORK = 1 << 3,    /* have children, which may end by their own signals */
	/* Look into the folders of other processes: then there is no Landlock, which forbids
	 * that, and files can be written anywhere. */
	MAY_SEE_PROCESSES = 1 << 4,
	/* Not an ability: Landlock is new enough for O_TRUNC. */
	HELD_TRUNCATE = 1 << 5,
};

/* Being filled; `shortage` is an errno if descriptors or memory ran out. */
struct landlock {
	int rules, shortage;
	uint64_t reads, writes; /* rights that are forbidden but for what is allowed */
};

/* The ABI level of this kernel; 0: it has no Landlock, or it is not enabled. */
int landlock_abi(void);

/* Begin with nothing allowed but what the abilities in `may` say. 1; 0 if the kernel
 * cannot, or if s->shortage says why. */
int landlock_begin(struct landlock *s, unsigned may);

/* Allow changing a file, or all below a folder; reading too, where that is forbidden. A path
 * that does not exist is ignored. */
void landlock_allow_writing(struct landlock *s, const char *path);

/* The same for reading. */
void landlock_allow_reading(struct landlock *s, const char *path);

/* Allow removing empty folders below this one. */
void landlock_allow_rmdir(struct landlock *s, const char *path);

/* Enter it permanently, with all threads made later, unless s->shortage is set: 1 if it holds. */
int landlock_enter(struct landlock *s);

#endif
