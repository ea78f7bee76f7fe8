#include "base/shortage.h"
#include "base/os/os.h"

#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>

/* NONE ──first note──► WRITING ──text complete──► NOTED */
enum { NONE, WRITING, NOTED };
static atomic_int state;
static atomic_int limited;
static char text[sizeof(((struct err *)0)->msg)];

void shortage_note(const char *fmt, ...)
{
	int expected = NONE;
	if (!atomic_compare_exchange_strong(&state, &expected, WRITING))
		return;
	va_list ap;
	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	atomic_store(&state, NOTED);
}

void shortage_note_memory(size_t bytes)
{
	enum { ROUNDING = 4 << 20 }; /* the C library's smallest request */
	if (atomic_load(&state) != NONE)
		return;
	uint64_t limit = os_limit_exceeded(bytes + ROUNDING);
	if (limit) {
		atomic_store(&limited, 1);
		shortage_note("more than %llu MB of memory would be needed (--max-memory SIZE "
			      "allows more, --force any amount)",
			      (unsigned long long)limit >> 20);
	}
	shortage_note("out of memory");
}

int shortage_is_limit(void)
{
	return atomic_load(&limited);
}

int shortage(struct err *e)
{
	int now = atomic_load(&state);
	if (now == NONE)
		return 0;
	return err_set(e, ERR_NOMEM, "%s", now == NOTED ? text : "out of memory");
}

void shortage_forget(void)
{
	atomic_store(&limited, 0);
	atomic_store(&state, NONE);
}
