/* stubs.c - the clock and the thread's number, for names.ml. */
#define _GNU_SOURCE
#include <caml/mlvalues.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

value tn_now(value unit);
value tn_tid(value unit);

value tn_now(value unit)
{
	(void)unit;
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return Val_long(t.tv_sec * 1000000000L + t.tv_nsec);
}

value tn_tid(value unit)
{
	(void)unit;
	return Val_long(syscall(SYS_gettid));
}
