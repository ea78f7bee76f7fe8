#include "libtime/explain/wait_object.h"
#include "libsym/name/frame_table.h"

#include <string.h>

static const char *name_of(const struct timeline *tl, uint32_t path)
{
	const struct stacks *s = tl->stacks;
	return strtab_get(&s->strings, s->frames.v[s->paths.v[path].frame].name);
}

static int is_kernel(const struct timeline *tl, uint32_t path)
{
	const struct stacks *s = tl->stacks;
	return s->frames.v[s->paths.v[path].frame].kind == FRAME_KERNEL;
}

/* Is a function with that role among the kernel's and the runtime's innermost frames? */
static int waits_in(const struct timeline *tl, uint32_t path, unsigned role)
{
	for (; path; path = tl->stacks->paths.v[path].parent) {
		unsigned roles = timeline_roles(tl, tl->stacks->paths.v[path].frame);
		if (roles & role)
			return 1;
		if (!is_kernel(tl, path) && !(roles & ROLE_RUNTIME))
			return 0;
	}
	return 0;
}

int waited_to_send(const struct timeline *tl, uint32_t path)
{
	return waits_in(tl, path, ROLE_SENDS);
}

int waited_for_exec(const struct timeline *tl, uint32_t path)
{
	return waits_in(tl, path, ROLE_SPAWNS);
}

struct wait_words words_of_wait(const struct timeline *tl, unsigned cause, uint32_t path)
{
	static const struct wait_words words[CAUSE_COUNT] = {
		[CAUSE_COND] = {"a condition", "signalled"},
		[CAUSE_SEMAPHORE] = {"a semaphore", "posted"},
		[CAUSE_FUTEX] = {"a futex", "woke"},
		[CAUSE_BARRIER] = {"a barrier", "reached last"},
		[CAUSE_NET] = {"data on a socket", "sent"},
		[CAUSE_PIPE] = {"data in a pipe", "wrote"},
		[CAUSE_POLL] = {"an event in poll", "caused"},
		[CAUSE_SAFEPOINT] = {"a safepoint to end", "held"},
	};
	static const struct wait_words room = {"room to write", "made"};
	int sends = (cause == CAUSE_NET || cause == CAUSE_PIPE) && waited_to_send(tl, path);
	return sends ? room : cause < CAUSE_COUNT ? words[cause] : words[0];
}

/* The function of the kernel that took the lock which a stack waits for; 0: not known. */
static uint32_t taken_in(const struct timeline *tl, uint32_t path)
{
	int lock = 0;
	for (; path && is_kernel(tl, path); path = tl->stacks->paths.v[path].parent) {
		uint32_t frame = tl->stacks->paths.v[path].frame;
		int takes = !!(timeline_roles(tl, frame) & ROLE_TAKES_LOCK);
		if (lock && !takes)
			return frame;
		lock |= takes;
	}
	return 0;
}

void told_lock_name(struct told *to, const struct timeline *tl, uint32_t offcpu, uint32_t path)
{
	uint32_t function = taken_in(tl, path);
	const struct offcpu *o = offcpu != TL_NONE ? &tl->offcpu.v[offcpu] : NULL;
	const char *variable = o && o->arg_kind == ARG_FUTEX ? offcpu_variable(tl, o) : "";
	const char *symbol = strstr(variable, ": ");
	symbol = symbol ? symbol + 2 : variable;
	if (function)
		TELL(to, LOCK_NAME, arg_frame("function", TOLD_SHORT, function));
	else if (*symbol)
		TELL(to, LOCK_NAME, arg_text("lock", symbol, strcspn(symbol, "+")));
}

/* The name of the system call whose kernel function this is, or NULL. */
static const char *syscall_of(const char *name)
{
	static const char *const prefixes[] = {"__x64_sys_", "__arm64_sys_", "__ia32_sys_",
					       "__se_sys_",  "__do_sys_",    "ksys_",
					       "__sys_",     "SyS_"};
	for (size_t i = 0; i < sizeof(prefixes) / sizeof(*prefixes); i++) {
		size_t n = strlen(prefixes[i]);
		if (!strncmp(name, prefixes[i], n))
			return name + n;
	}
	return NULL;
}

void told_syscall(struct told *to, const struct timeline *tl, uint32_t path, uint32_t said)
{
	const struct stacks *s = tl->stacks;
	const char *call = NULL;
	for (; path && is_kernel(tl, path); path = s->paths.v[path].parent) {
		const char *outer = syscall_of(name_of(tl, path));
		call = outer ? outer : call;
	}
	size_t n = call ? strcspn(call, ".") : 0;
	const char *before = said ? strtab_get(&s->strings, s->frames.v[said].name) : "";
	size_t before_n = strlen(before);
	if (n && (before_n < n || strncmp(before + before_n - n, call, n)))
		TELL(to, SYSCALL, arg_text("call", call, n));
}

void told_waiting(struct told *to, const struct timeline *tl, unsigned cause, uint32_t path,
		  const struct mechanism *m)
{
	static const enum told_form wanted[CAUSE_COUNT] = {
		[CAUSE_LOCK] = TOLD_FOR_LOCK,   [CAUSE_RWLOCK] = TOLD_FOR_LOCK,
		[CAUSE_SLEEP] = TOLD_ASLEEP,    [CAUSE_IO] = TOLD_FOR_DEVICE,
		[CAUSE_FAULT] = TOLD_FOR_PAGE,  [CAUSE_NET] = TOLD_FOR_NETWORK,
		[CAUSE_CHILD] = TOLD_FOR_CHILD,
	};
	const char *object = words_of_wait(tl, cause, path).object;
	if (m)
		told_mechanism(to, m);
	else if (wanted[cause])
		told_say(to, wanted[cause], NULL, 0);
	else if (object)
		TELL(to, WAITING_FOR, arg_word("what", object));
	else
		TELL(to, BLOCKED, arg_word("cause", cause_name(cause)));
}
