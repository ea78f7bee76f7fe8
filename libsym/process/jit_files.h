/*
 * jit_files.h - finds the files that name generated code.
 *
 *	perf-PID.map	SYMFS/tmp, next to the recording, /tmp if the recording was made here;
 *			for a process in a container, whose file has the pid of
 *			its namespace: SYMFS/proc/PID/root/tmp, or /proc/PID/root/tmp
 *			while it still runs
 *	jit-PID.dump	the path it was mapped from, below SYMFS or here; next to the recording
 *
 * PID is the recorded pid. The pid inside a namespace is that of proc/PID/status (NSpid,
 * proc(5)); without it (in a copy), the folder's only perf-*.map is used.
 */
#ifndef LIBSYM_PROCESS_JIT_FILES_H
#define LIBSYM_PROCESS_JIT_FILES_H

#include "libsym/elf/dso_find.h"
#include "libsym/jit/jitdump.h"
#include "libsym/jit/perf_map.h"
#include "libsym/process/machine.h"

/* A recorded process, whose files are looked for. */
struct jit_process {
	int32_t pid;
	int ended;        /* while it was recorded: it is not the one that has this pid here */
	int64_t began_ns; /* since 1970: an older map is that of another process; 0: not known */
};

/* Load the perf map of a process; `map_dir` may be NULL. *path is the file's, on the heap;
 * NULL, with an empty *out, when there is none. 0 or ERR_NOMEM; if the map cannot be read,
 * `why` has the reason. */
int jitfiles_perfmap(const struct dso_options *opt, const char *map_dir,
		     const struct jit_process *p, struct perfmap *out, char **path,
		     struct err *why);

/* 1 when a file of this path is a jitdump, by its name. */
int jitfiles_is_jitdump(const char *path);

/* 1 when it is what perf inject --jit makes of one piece of generated code. */
int jitfiles_is_injected(const char *path);

/* Does what a process wrote fit the memory in which it had such code (plausible.h)? *fits; 0 or
 * ERR_NOMEM. The machine must know all records. */
int jitfiles_map_fits(const struct machine *m, uint32_t process, const struct perfmap *map,
		      int *fits);
int jitfiles_jitdump_fits(const struct machine *m, uint32_t process, const struct jitdump *j,
			  int *fits);

/* Which process mapped which jitdumps, by the recording. */
struct jit_mappings {
	VEC(struct jit_mapping {
		uint32_t process; /* of the machine's */
		uint32_t dso;
	})
	of; /* sorted, each once */
};

/* Find them all, when the machine knows all records; *j is empty before. 0 or ERR_NOMEM. */
int jit_mappings_find(struct jit_mappings *j, const struct machine *m);

/* Free the table; it is empty then. */
void jit_mappings_release(struct jit_mappings *j);

/* Where a jitdump may be. */
struct jit_found {
	char *path;                   /* where it may be opened, on the heap */
	const char *recorded;         /* the path it was mapped from; lives with the machine */
	const char *dir;              /* the recording's folder, if it is beside it */
	const struct file_id *mapped; /* lives until the machine takes another mapping */
};

/*
 * A place of the jitdump that a process mapped, in *found; all NULL when there is none.
 * `skip` candidates are skipped. 1, 0 when there are no more, ERR_NOMEM.
 */
int jitfiles_jitdump(const struct dso_options *opt, const char *map_dir,
		     const struct machine *m, const struct jit_mappings *j, uint32_t process,
		     size_t *skip, struct jit_found *found);

/* Open it if it may be read (claimed_file.h). As claimed_open, claimed_check, jitdump_open_fd. */
int jitfiles_open_jitdump(const struct dso_options *opt, const struct jit_found *found,
			  struct jitdump **out, struct err *e);

#endif
