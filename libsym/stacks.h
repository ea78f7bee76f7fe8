/*
 * stacks.h - frames and call paths, interned: what libsym passes to all libraries above it.
 *
 * A frame is one line of a stack as a person reads it. A call path is a node of one tree, root
 * (outermost caller) first; its id identifies a whole stack. Ids are dense, start at 1, and 0
 * means "no frame" / "no stack". Nothing is removed.
 *
 *	 0 ── 1 main ── 2 serve ── 3 read_request
 *	                 └──────── 4 write_reply
 */
#ifndef LIBSYM_STACKS_H
#define LIBSYM_STACKS_H

#include "base/hash.h"
#include "base/text/strtab.h"
#include "base/vec.h"

enum frame_kind {
	FRAME_USER,
	FRAME_KERNEL,
	FRAME_JIT,  /* named by a perf-PID.map or a jitdump, or in anonymous memory */
	FRAME_MARK, /* not code: [truncated], [running, no sample] */
};

enum frame_flag {
	FRAME_INLINED = 1, /* inlined into its caller's code */
	FRAME_GUESSED = 2, /* found by frame pointer or scan where CFI was missing */
	FRAME_OFFSET = 4,  /* not looked up: `addr` is a file offset to be named later; a
			      caller's is inside the call (names_options.offsets) */
};

struct frame {
	uint32_t name;    /* strings id: demangled symbol; 0 = address without a name */
	uint32_t dso;     /* strings id: path or [name] of the mapping; 0 = unknown */
	uint32_t srcfile; /* strings id; 0 = unknown */
	uint32_t line;    /* 0 = unknown */
	uint64_t addr;    /* named frames: the symbol's start; unnamed: perf script's ip: file
			     offset for user code of a file, else the absolute address; outside of
			     mappings perhaps only its upper 4 bits, above FRAME_MERGED, which no
			     address has */
	uint32_t at;      /* bytes from `addr` to the instruction (names_options.places); a
			   * caller's is inside the call. 0 for inlined frames */
	uint8_t kind;     /* enum frame_kind */
	uint8_t flags;    /* enum frame_flag bits */
};

#define FRAME_MERGED 0x00ffffffffffffffu

struct call_path {
	uint32_t parent; /* 0 = root */
	uint32_t frame;
};

/* Zero-initialised is valid and empty. */
struct stacks {
	struct strtab strings;
	VEC(struct frame) frames;    /* index 0 is a dummy */
	VEC(struct call_path) paths; /* index 0 is a dummy */
	struct idmap frame_index;
	struct u64map path_index; /* parent << 32 | frame → path */
	size_t indexed;           /* paths in it; the rest are added by the next push */
	struct u64map build_ids;  /* strings id of a DSO → its build-id's; 0: several */
};

/* The id of an equal frame, made when new. 0 or ERR_NOMEM. */
int stacks_frame(struct stacks *s, const struct frame *f, uint32_t *id);

/* The call path `parent` + one frame deeper. 0 or ERR_NOMEM. */
int stacks_push(struct stacks *s, uint32_t parent, uint32_t frame, uint32_t *path);

/* The same for a path that the caller knows to be new: it needs no lookup. */
int stacks_append(struct stacks *s, uint32_t parent, uint32_t frame, uint32_t *path);

/* The last stack that stacks_path was given. Zero-initialised is empty. */
struct last_stack {
	VEC(struct last_frame { uint32_t frame, path; }) v;
};

/* The call path of n frames, root first. Consecutive stacks are often one thread's and share
 * their callers, which are not looked up again. 0 or ERR_NOMEM. */
int stacks_path(struct stacks *s, struct last_stack *last, const uint32_t *frames, size_t n,
		uint32_t *path);

/* Extend *path by a frame that is not code: [open], [running, no sample]. 0 or ERR_NOMEM. */
int stacks_mark(struct stacks *s, const char *text, uint32_t *path);

/* Note the recorded build-id, in hex, of the DSO that frames call `dso` (strings id). A DSO
 * name with several build-ids has none from then on. 0 or ERR_NOMEM. */
int stacks_note_build_id(struct stacks *s, uint32_t dso, const char *hex);

/* The build-id of a DSO in hex; "" if it is not known. Lives as long as the stacks. */
const char *stacks_build_id(const struct stacks *s, uint32_t dso);

/* Number of frames of a path. */
size_t stacks_depth(const struct stacks *s, uint32_t path);

/* The frame ids of a path, root first, into out[0..max); returns the full depth. */
size_t stacks_frames(const struct stacks *s, uint32_t path, uint32_t *out, size_t max);

/* Free everything; the object is empty and usable again. */
void stacks_release(struct stacks *s);

/* Which frames of stacks are shown. */
enum stack_side { BOTH_SIDES, USER_SIDE, KERNEL_SIDE };

/* 1 for a frame that has a name, or an offset to be named later. */
static inline int frame_is_named(const struct frame *f)
{
	return f->name || f->flags & FRAME_OFFSET;
}

/* 1 when only the upper bits of an address outside of mappings were kept. */
static inline int frame_is_merged(const struct frame *f)
{
	return !f->name && !f->dso && f->addr << 4 == FRAME_MERGED << 4;
}

static inline int frame_is_on(const struct frame *f, enum stack_side side)
{
	return side == BOTH_SIDES || (f->kind == FRAME_KERNEL) == (side == KERNEL_SIDE);
}

#endif
