/*
 * gaps LOG GAPS CSV - a thread that spins on CPU 1 and notes every gap in its clock of 1 us and
 * more: all of them in GAPS ("perfkit-gaps v1", CLOCK_MONOTONIC), and in CSV the longest of
 * each 10 ms, as samplers do (CLOCK_REALTIME). LOG says what took the CPU from it, and when, on
 * CLOCK_MONOTONIC:
 *
 *	disturber  another thread, of real-time priority, that burnt CPU time there
 *	itself     the spinner did not look at the clock for a while: nothing else had the CPU
 *	asleep     the spinner slept
 */
#include "truth.h"

#include <sched.h>
#include <string.h>

enum { CPU = 1, ROUNDS = 20, INTERVAL = 10 * MS, THRESHOLD = 1000 };

static FILE *log_file, *gap_file, *csv_file;
static _Atomic int done;

static uint64_t real_ns(void)
{
	struct timespec t;
	clock_gettime(CLOCK_REALTIME, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static void *disturbs(void *arg)
{
	(void)arg;
	name_thread("disturber");
	pin_to(CPU);
	struct sched_param p = {.sched_priority = 60};
	if (sched_setscheduler(0, SCHED_FIFO, &p))
		exit(1);
	for (int i = 0; i < ROUNDS; i++) {
		struct timespec pause = {0, 11 * MS};
		nanosleep(&pause, NULL);
		uint64_t from = now_ns();
		while (now_ns() - from < (uint64_t)(300 + i * 50) * 1000)
			;
		fprintf(log_file, "disturber %llu %llu\n", (unsigned long long)from,
			(unsigned long long)now_ns());
	}
	sleep_ns(5 * MS); /* the spinner notes the last one, too */
	done = 1;
	return NULL;
}

static void note_gap(uint64_t from, uint64_t to)
{
	fprintf(gap_file, "gap %d %llu %llu\n", CPU, (unsigned long long)from,
		(unsigned long long)to);
}

/* Every 50 ms, by turns: compute without looking at the clock, and sleep. */
static void spin(void)
{
	uint64_t last = now_ns(), planned = last + 25 * MS, report = real_ns() + INTERVAL,
		 max = 0;
	for (int turn = 0; !done;) {
		if (last >= planned) {
			uint64_t from = now_ns();
			volatile unsigned x = 0;
			struct timespec pause = {0, 3 * MS};
			if (turn % 2)
				nanosleep(&pause, NULL);
			else
				for (unsigned i = 0; i < 200000; i++)
					x += i;
			fprintf(log_file, "%s %llu %llu\n", turn++ % 2 ? "asleep" : "itself",
				(unsigned long long)from, (unsigned long long)now_ns());
			planned += 50 * MS;
		}
		uint64_t now = now_ns(), gap = now - last;
		if (gap >= THRESHOLD)
			note_gap(last, now);
		max = gap > max ? gap : max;
		uint64_t real = real_ns();
		if (real >= report) {
			fprintf(csv_file, "%llu,%llu\n", (unsigned long long)real,
				(unsigned long long)max);
			report += INTERVAL;
			max = 0;
		}
		last = now; /* what all this took is in the next gap */
	}
}

int main(int argc, char **argv)
{
	if (argc != 4 || !(log_file = fopen(argv[1], "w")) ||
	    !(gap_file = fopen(argv[2], "w")) || !(csv_file = fopen(argv[3], "w")))
		return 1;
	setvbuf(log_file, NULL, _IOFBF, 1 << 20);
	setvbuf(gap_file, NULL, _IOFBF, 1 << 20);
	setvbuf(csv_file, NULL, _IOFBF, 1 << 20);
	name_thread("spinner");
	pin_to(CPU);
	fprintf(gap_file, "perfkit-gaps v1\nclock mono\nspinner %d %d\n", CPU, (int)gettid());
	fprintf(csv_file, "time,delay\n");
	pthread_t t = start(disturbs, NULL);
	spin();
	pthread_join(t, NULL);
	return fclose(log_file) || fclose(gap_file) || fclose(csv_file);
}
