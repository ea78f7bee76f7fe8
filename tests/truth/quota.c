/*
 * quota LOG --stat FILE - compute for 30 ms of CPU time inside a control group that may use the
 * CPU for 1 ms in 20. "life": TID, wall time; "cpu": TID, 0, CPU time used; "throttled": TID,
 * 0, how often the kernel says it has put the group off (nr_throttled of FILE, its cpu.stat).
 */
#include "truth.h"

static uint64_t throttled(void)
{
	const char *path = truth_option("--stat");
	FILE *f = path ? fopen(path, "r") : NULL;
	unsigned long long n = 0;
	char line[128];
	while (f && fgets(line, sizeof(line), f))
		if (sscanf(line, "nr_throttled %llu", &n) == 1)
			break;
	if (f)
		fclose(f);
	return n;
}

int main(int argc, char **argv)
{
	truth_begin(argc, argv, "quota");
	uint64_t n = throttled(), t = now_ns(), c = cpu_ns();
	burn_ns(30 * MS);
	truth("life", t, now_ns());
	truth("cpu", 0, cpu_ns() - c);
	truth("throttled", 0, throttled() - n);
	truth_write();
	return 0;
}
