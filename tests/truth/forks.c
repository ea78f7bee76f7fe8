/*
 * forks LOG [--rounds N] - forks and executes /bin/true, a prime number of times, and waits for
 * each. "child": CHILD's pid in place of the tid, from fork to the end of waitpid.
 */
#include "truth.h"

#include <sys/wait.h>

int main(int argc, char **argv)
{
	truth_begin(argc, argv, "forks");
	for (int i = 0; i < truth_int("--rounds", 101); i++) {
		uint64_t t = now_ns();
		pid_t pid = fork();
		if (!pid) {
			execl("/bin/true", "truechild", (char *)NULL);
			_exit(1);
		}
		waitpid(pid, NULL, 0);
		truth("child", t, now_ns());
		truth_lines[atomic_load(&truth_n) - 1].tid = pid;
	}
	truth_write();
	return 0;
}
