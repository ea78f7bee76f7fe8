#include "libtime/sched/syscalls.h"
#include "libsym/unwind/arch.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The futex operations of uapi/linux/futex.h, without FUTEX_PRIVATE_FLAG and
 * FUTEX_CLOCK_REALTIME. */
static const char *const futex_ops[] = {"wait",           "wake",        "fd",
					"requeue",        "cmp_requeue", "wake_op",
					"lock_pi",        "unlock_pi",   "trylock_pi",
					"wait_bitset",    "wake_bitset", "wait_requeue_pi",
					"cmp_requeue_pi", "lock_pi2"};
enum { FUTEX_OPS = sizeof(futex_ops) / sizeof(*futex_ops), FUTEX_CMD_MASK = 127 };

int syscall_name(const char *arch, int64_t number, char out[SYSCALL_TEXT])
{
	int64_t at = 0;
	const struct arch *a = arch_named(arch);
	const char *p = a ? a->syscalls : "";
	*out = '\0';
	while (*p) {
		size_t n = strcspn(p, " ");
		if (*p >= '0' && *p <= '9') {
			at = strtoll(p, NULL, 10);
		} else if (at++ == number && n < SYSCALL_TEXT) {
			memcpy(out, p, n);
			out[n] = '\0';
			return 1;
		}
		p += n + strspn(p + n, " ");
	}
	return 0;
}

void syscall_text(const char *name, int64_t number, int64_t futex_op, char out[SYSCALL_TEXT])
{
	int64_t op = futex_op < 0 ? -1 : futex_op & FUTEX_CMD_MASK;
	if (!*name)
		snprintf(out, SYSCALL_TEXT, "%lld", (long long)number);
	else if (!strcmp(name, "futex") && op >= 0 && op < FUTEX_OPS)
		snprintf(out, SYSCALL_TEXT, "futex:%s", futex_ops[op]);
	else
		snprintf(out, SYSCALL_TEXT, "%s", name);
}
