/*
 * machine.h - the recorded machine over time: threads, their comms, address spaces, DSOs.
 *
 * Side-band records go in (machine_apply) in any order; machine_advance applies those up to a
 * time, in time order. From then on every question is asked *for a time*: which thread was
 * tid 42 at t, what was it called, what was mapped at this address. Questions may be asked from
 * several threads at once as long as none advances the machine.
 *
 *	tid 42:   fork          comm            exec          (tid reused)
 *	          │             │               │             │
 *	thread    ╞═ instance 7 ═══════════════════════════╡  ╞═ instance 90 ═…
 *	comm      │ "sh" (inherited)            │ "ls"
 *	space     │ 3: sees space 1 as of the   │ 4: empty, filled by the
 *	          │    fork, plus own mmaps     │    mmaps that follow
 *
 * Unlike in perf, an exec drops all mappings (perf keeps stale ones). As in perf, a thread
 * keeps its comm after EXIT until the tid is reused; a thread never named is ":TID"; tid 0 is
 * "swapper", or "[pid 0]" once processes of other pid namespaces were met, which have it, too.
 */
#ifndef LIBSYM_PROCESS_MACHINE_H
#define LIBSYM_PROCESS_MACHINE_H

#include "base/hash.h"
#include "base/text/strtab.h"
#include "base/vec.h"
#include "libparse/recording.h"
#include "libsym/elf/elf_file.h"

#define TIME_END UINT64_MAX
#define NO_ID UINT32_MAX

enum dso_kind {
	DSO_FILE,    /* an ELF file by path */
	DSO_KERNEL,  /* [kernel.kallsyms] */
	DSO_MODULE,  /* a kernel module; __entry_SYSCALL_64_trampoline */
	DSO_VDSO,    /* path [vdso], or [vdso32]: of 32-bit programs under a 64-bit kernel */
	DSO_ANON,    /* executable memory without a file, or of /memfd: or /dev/shm without a
		       build-id: named by a perf map or jitdump */
	DSO_BPF,     /* one BPF program, trampoline or other KSYMBOL; its name is its symbol */
	DSO_SPECIAL, /* [stack], [heap], [vsyscall] … */
};

struct dso {
	uint32_t name; /* strings id, as perf prints it: path, [module], /tmp/perf-PID.map for
			  DSO_ANON but /memfd:, [kernel.kallsyms] or the vmlinux the build-id
			  table names, [vdso] */
	uint32_t path; /* strings id: as recorded; where to look for its file */
	uint8_t kind;  /* enum dso_kind */
	struct build_id id;  /* recorded: inline in MMAP2, else from the build-id table */
	struct file_id file; /* distinguishes two files that had the same path */
	int32_t pid;         /* DSO_ANON: of the process that has the memory; else -1 */
	uint32_t process;    /* … and that process: pids are used again; else NO_ID */
	uint32_t recorded;   /* strings id: name (DSO_VDSO: path) before the table gave one */
	uint8_t id_given;    /* id is not from the mappings, but from the table or a list */
	uint64_t first;      /* time of its earliest mapping; 0: before recording began */
	uint8_t at_start, later; /* mapped when recording began (from /proc); afterwards */
	uint8_t mixed;           /* mapped with and without generation */
	uint8_t mount;           /* where it was mapped: enum dso_mount, decided late */
	uint32_t same_path; /* DSO_FILE: the one before it that has its path; NO_ID: none */
};

/* The mount namespaces whose processes mapped a file. */
enum dso_mount {
	MOUNT_UNKNOWN,
	MOUNT_OWN,   /* perf's own: what its paths mean there, they meant for perf */
	MOUNT_OTHER, /* others only; perf reads a path there while the process lives */
	MOUNT_GONE,  /* the same, and the last process that mapped it had ended by then */
};

/* The files of one path. */
struct path_files {
	uint32_t dso[2];  /* of the first two files; NO_ID */
	uint32_t newest;  /* DSO */
	uint32_t with_id; /* first DSO whose mappings have a build-id; NO_ID */
	uint8_t more;     /* there are more than two files, or build-ids of mappings */
	uint8_t reused;   /* two had the same inode number */
	uint8_t several;  /* decided: no build-id of the table is any of theirs */
};

/* One mapping of a space. It never changes; where mappings overlap, the latest wins.
 */
struct map {
	uint64_t start, end; /* [start, end) */
	uint64_t pgoff;      /* DSO_VDSO: 0 */
	uint64_t since;      /* time when it came */
	uint64_t until;      /* time when it went: unregistered BPF programs; else TIME_END */
	uint32_t dso;
	uint16_t prot;
	uint16_t mount; /* of the machine's mounts: the process's then; 0: unknown */
};

/* The extent of the maps of a subtree, by which a search skips it. */
struct map_extent {
	uint64_t end;    /* highest */
	uint64_t since;  /* earliest */
	uint64_t until;  /* latest */
	uint64_t before; /* highest end of all maps before the middle, in the whole space */
	uint32_t last;   /* index of the latest */
};

/* The address space of one process image. */
struct space {
	uint32_t parent;    /* forked from: searched where this one has no mapping; or NO_ID */
	uint64_t fork_time; /* … as it was then */
	uint32_t process;   /* whose image it is; NO_ID for the kernel */
	uint32_t execed_from; /* the image that called execve; NO_ID if forked or first */
	uint64_t exec_time;
	/*
	 * Map indices: the first `sorted` by (start, order of arrival), with an implicit search
	 * tree over them; then the few that came since.
	 */
	VEC(uint32_t) by_start;
	VEC(struct map_extent) extents;
	size_t sorted;
	size_t changed;               /* maps added or ended since */
	VEC(uint64_t) changes;        /* times of mmaps and of BPF programs' ends; ascending */
	const uint64_t *code_changes; /* … and of replaced generated code; borrowed */
	size_t ncode_changes;
	uint32_t jitdump;   /* DSO: the last jitdump mapped; or NO_ID */
	uint8_t other_code; /* a file's that is not the program's was mapped before it */
	VEC(uint32_t) text; /* maps of the program's own code: machine_note_text */
};

struct thread_comm {
	uint64_t since;
	uint32_t comm; /* strings id */
};

/* A thread or process among those that had the same id before it. */
struct life {
	uint64_t start; /* fork, or 0 if it existed before */
	uint32_t older; /* the one before, or NO_ID */
	uint32_t skip;  /* skip link to one further back; itself: none */
	uint32_t index; /* how many came before it */
};

/* A thread: one life of a tid. */
struct thread {
	int32_t pid, tid;
	uint64_t exit;    /* EXIT record, or TIME_END */
	struct life life; /* among the threads with this tid */
	uint32_t process; /* index into processes */
	VEC(struct thread_comm) comms;
};

/* A process: one life of a pid, with its images (a new one at each exec). */
struct process {
	int32_t pid, ppid; /* ppid -1: not known */
	uint16_t mount;    /* as of the last record applied; see struct map */
	uint8_t has_code;  /* it had memory with generated code, or its parent when it forked */
	struct life life;
	VEC(struct process_image {
		uint64_t since;
		uint32_t space;
	})
	images;
};

enum { SPACE_KERNEL = 0 };

struct machine {
	struct strtab *strings; /* borrowed */
	VEC(struct thread) threads;
	VEC(struct process) processes;
	VEC(struct space) spaces; /* [SPACE_KERNEL] is the kernel's */
	VEC(struct map) maps;
	VEC(struct dso) dsos;
	struct u64map by_tid, by_pid; /* → newest thread / process */
	struct idmap dso_index;
	struct u64map by_path; /* strings id of a DSO_FILE's path → index of: */
	VEC(struct path_files) paths;
	uint32_t kernel_map;    /* of the kernel itself, the lowest one; or NO_ID */
	struct u64map bpf;      /* address → the map last made of a BPF program there */
	struct u64map cgroups;  /* cgroup id → strings id of its path */
	VEC(uint32_t) unsorted; /* spaces to sort before the next question */
	VEC(struct pending) pending;
	struct u64map
		mounts; /* mount namespaces, if recorded (perf record --namespaces) → 1, … */
	uint16_t own_mount; /* perf's own, as in struct map; 0: unknown */
	uint8_t own_unsure; /* there are two that may be */
	uint8_t hidden;     /* there are processes of other pid namespaces, with pid 0 */
	uint64_t seq;
	uint64_t applied; /* all records up to here are applied */
	uint8_t changing; /* set while a thread adds records or advances */
	uint32_t comm_swapper;
	/* Called for each jitdump that a process maps: the times at which code that it describes
	 * was replaced, ascending; they live as long as the machine. May be NULL. 0 or
	 * ERR_NOMEM. */
	int (*code_changes)(void *ctx, uint32_t dso, const uint64_t **times, size_t *n);
	void *code_changes_ctx;
	size_t ids_taken, dsos_with_ids; /* already handled by machine_set_build_ids */
	uint8_t mounts_decided;          /* … with all records known */
};

/* `strings` is borrowed for the machine's life. 0 or ERR_NOMEM. */
int machine_init(struct machine *m, struct strtab *strings, struct err *e);
void machine_release(struct machine *m);

/*
 * Queue one side-band record (mmap, comm, fork, exit, namespaces, ksymbol, cgroup) of `rec`.
 * `time` is the record's (0 when it has none: applied before all others, in order). ERR_FORMAT
 * for a record that breaks its layout (skip it), ERR_NOMEM.
 */
int machine_apply(struct machine *m, const struct recording *rec, const struct record *r,
		  uint64_t time, struct err *e);

/* Apply queued records with a time ≤ `until`, in time order. 0 or ERR_NOMEM. */
int machine_advance(struct machine *m, uint64_t until, struct err *e);

/* The earliest time of the records still queued after machine_advance; UINT64_MAX: none. */
uint64_t machine_next(const struct machine *m);

/* Give DSOs without a recorded build-id the one of their path in the recording's table; none if
 * it has several. */
int machine_set_build_ids(struct machine *m, const struct recording *rec, struct err *e);

/* The thread, comm and space of a sample of (pid, tid) at `time`. Valid in [since, until): a
 * caller may keep it that long, as far as side-band records have been applied.
 */
struct thread_view {
	uint32_t thread;  /* index, or NO_ID: a tid never seen in side-band records */
	uint32_t comm;    /* strings id, or NO_ID: never named, print ":TID" */
	uint32_t space;   /* index, or NO_ID */
	uint32_t version; /* number of mmaps and code changes of that space by then */
	uint64_t since, until;
};
void machine_thread_at(const struct machine *m, int32_t pid, int32_t tid, uint64_t time,
		       struct thread_view *out);

/* The last name of the first thread of the process that had `pid` last: a strings id, or NO_ID if
 * no record names it. */
uint32_t machine_program(const struct machine *m, int32_t pid);

/* The same for the kernel's space: its version at `time`, and how long it is valid. */
void machine_kernel_at(const struct machine *m, uint64_t time, struct thread_view *out);

/* 1 when the process ended: who has its pid later is another one. */
int machine_has_ended(const struct machine *m, uint32_t process);

/* 1 when two processes that had the pid of this one had generated code. */
int machine_is_pid_reused(const struct machine *m, uint32_t process);

/* Is it the kernel's page [uprobes], to which functions with a return probe return? */
int machine_is_uprobes(const struct machine *m, const struct dso *d);

/* The mapping of `space` that contains addr at `time`, or NULL. */
const struct map *machine_map_at(const struct machine *m, uint32_t space, uint64_t addr,
				 uint64_t time);

/* The same; if the mapping is inherited, *time becomes that of the fork. */
const struct map *machine_map_then(const struct machine *m, uint32_t space, uint64_t addr,
				   uint64_t *time);

/* 1 when any mapping of the thread's process was recorded: of its image at the time of the
 * view, inherited by a fork, or of its last image (perf's own child has none until it calls
 * exec).
 */
int machine_has_maps(const struct machine *m, const struct thread_view *v);

/*
 * The mapping that contained addr in the image whose execve made `space`, or NULL. For samples
 * taken inside execve: the user address on their stack is the old image's.
 */
const struct map *machine_map_before_exec(const struct machine *m, uint32_t space,
					  uint64_t addr);

#endif
