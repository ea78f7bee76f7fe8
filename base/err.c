#include "base/err.h"
#include "base/shortage.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

int err_set(struct err *e, int code, const char *fmt, ...)
{
	if (e) {
		va_list ap;
		va_start(ap, fmt);
		vsnprintf(e->msg, sizeof(e->msg), fmt, ap);
		va_end(ap);
		e->code = code;
	}
	return code;
}

int err_sys(struct err *e, const char *fmt, ...)
{
	int saved = errno;
	if (e) {
		va_list ap;
		va_start(ap, fmt);
		int n = vsnprintf(e->msg, sizeof(e->msg), fmt, ap);
		va_end(ap);
		if (n >= 0 && (size_t)n < sizeof(e->msg))
			snprintf(e->msg + n, sizeof(e->msg) - (size_t)n, ": %s",
				 strerror(saved));
		e->code = ERR_IO;
	}
	errno = saved;
	return ERR_IO;
}

int err_nomem(struct err *e)
{
	shortage_note_memory(0);
	return shortage(e);
}

int err_prefix(struct err *e, const char *fmt, ...)
{
	if (!e)
		return ERR_FORMAT;
	char tail[sizeof(e->msg)];
	memcpy(tail, e->msg, sizeof(tail));
	va_list ap;
	va_start(ap, fmt);
	int n = vsnprintf(e->msg, sizeof(e->msg), fmt, ap);
	va_end(ap);
	if (n >= 0 && (size_t)n + 2 < sizeof(e->msg)) {
		size_t room = sizeof(e->msg) - (size_t)n;
		snprintf(e->msg + n, room, ": %.*s", (int)room - 3, tail);
	}
	return e->code;
}
