#include "base/shortage.h"

#include <stdatomic.h>
#include <stdio.h>

/* NONE ──first note──► WRITING ──text complete──► NOTED */
enum { NONE, WRITING, NOTED };
static atomic_int state;
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

int shortage(struct err *e)
{
	int now = atomic_load(&state);
	if (now == NONE)
		return 0;
	return err_set(e, ERR_NOMEM, "%s", now == NOTED ? text : "out of memory");
}

void shortage_forget(void)
{
	atomic_store(&state, NONE);
}
