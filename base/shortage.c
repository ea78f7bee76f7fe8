#include "base/shortage.h"

#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/resource.h>
#include <unistd.h>

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

/* This process's private memory in bytes, as RLIMIT_DATA counts it; 0: not known. */
static uint64_t data_bytes(void)
{
	unsigned long pages = 0;
	FILE *f = fopen("/proc/self/statm", "re");
	if (f && fscanf(f, "%*u %*u %*u %*u %*u %lu", &pages) != 1)
		pages = 0;
	if (f)
		fclose(f);
	return (uint64_t)pages * (uint64_t)sysconf(_SC_PAGESIZE);
}

void shortage_note_memory(size_t bytes)
{
	enum { ROUNDING = 4 << 20 }; /* the C library's smallest request */
	struct rlimit data;
	if (atomic_load(&state) != NONE)
		return;
	if (!getrlimit(RLIMIT_DATA, &data) && data.rlim_cur != RLIM_INFINITY &&
	    data_bytes() + bytes + ROUNDING > data.rlim_cur) {
		atomic_store(&limited, 1);
		shortage_note("more than %llu MB of memory would be needed (--max-memory SIZE "
			      "allows more, --force any amount)",
			      (unsigned long long)data.rlim_cur >> 20);
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
