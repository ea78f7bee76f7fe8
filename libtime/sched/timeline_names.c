#include "libtime/sched/timeline_names.h"
#include "libtime/sched/timeline.h"
#include "base/check.h"

const char *waker_context_name(unsigned int context)
{
	static const char *const names[] = {"",        "task",    "softirq-inline",
					    "softirq", "hardirq", "idle"};
	ENTRIES(names, WAKER_IDLE + 1);
	return context < sizeof(names) / sizeof(*names) ? names[context] : "";
}

const char *unknown_reason_name(unsigned int reason)
{
	static const char *const names[] = {"", "hole", "lost", "open edge", "missing wakeup"};
	ENTRIES(names, UNKNOWN_NO_WAKE + 1);
	return reason < sizeof(names) / sizeof(*names) ? names[reason] : "";
}

const char *wait_arg_name(unsigned int kind)
{
	static const char *const names[] = {"",
					    "futex",
					    "fd",
					    "file",
					    "socket",
					    "accepted",
					    "listening",
					    "connected",
					    "pipe",
					    "eventfd",
					    "timerfd",
					    "epoll",
					    "epoll-accepted",
					    "epoll-connected"};
	ENTRIES(names, ARG_KINDS);
	return kind < ARG_KINDS ? names[kind] : "";
}

const char *loss_kind_name(unsigned int kind)
{
	static const char *const names[] = {"lost", "hole", "throttle", "disorder"};
	ENTRIES(names, LOSS_KINDS);
	return kind < sizeof(names) / sizeof(*names) ? names[kind] : "";
}

const char *site_verdict_name(unsigned int verdict)
{
	static const char *const names[] = {"work", "idle", "unclear"};
	ENTRIES(names, SITE_VERDICTS);
	return verdict < SITE_VERDICTS ? names[verdict] : "";
}

const char *site_reason_name(unsigned int reason)
{
	static const char *const names[] = {"cause",
					    "--work-frame",
					    "known work wait",
					    "inside work",
					    "connected socket",
					    "--idle-frame",
					    "takes work",
					    "program's loop",
					    "accepted socket",
					    "no frame",
					    "library's loop",
					    "frame pointers",
					    "asks, is answered",
					    "ended by packets",
					    "timer",
					    "few waits",
					    "no evidence"};
	ENTRIES(names, SITE_REASONS);
	return reason < SITE_REASONS ? names[reason] : "";
}

const char *stack_kind_name(unsigned int kind)
{
	static const char *const names[] = {"", "frame pointers", "dwarf", "lbr"};
	ENTRIES(names, STACK_KINDS);
	return kind < STACK_KINDS ? names[kind] : "";
}
