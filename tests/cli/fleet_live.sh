# perfkit fleet new: a program recorded twice, the second time with a function that computes and one that waits
# for a disk. The answer names both.
# live: records now, on this machine
set -eu
. "$SRC/tests/lib/readers.sh"
command -v cc >/dev/null || { echo "no cc here"; exit 77; }
has duckdb || { echo "no duckdb here (make readers)"; exit 77; }
perf record -q -a -e sched:sched_switch -o probe.data -- true >/dev/null 2>&1 ||
	{ echo "perf may not record the whole machine here"; exit 77; }
cat >bookshop.c <<'C'
#define _GNU_SOURCE
#include <pthread.h>
#include <sys/prctl.h>
#include <time.h>
#define KEEP __attribute__((noinline, noipa))
static pthread_mutex_t book = PTHREAD_MUTEX_INITIALIZER;
static volatile int done, x;
KEEP static long now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000 + t.tv_nsec;
}
KEEP static void work_ms(int ms)
{
	for (long end = now() + ms * 1000000; now() < end;)
		x++;
}
static void nap_ms(int ms)
{
	struct timespec t = {0, ms * 1000000};
	nanosleep(&t, 0);
}
KEEP static void price_order(void) { work_ms(2); x++; }
#ifdef PLANTED
KEEP static void sign_order(void) { work_ms(3); x++; }
KEEP static void log_order(void)
{
	struct timespec t = {0, 4000000};
	nanosleep(&t, 0); /* the disk */
	x++;
}
#endif
KEEP static void answer_order(void)
{
	pthread_mutex_lock(&book);
	price_order();
#ifdef PLANTED
	sign_order();
	log_order();
#endif
	pthread_mutex_unlock(&book);
	x++;
}
static void *clerk(void *a)
{
	prctl(PR_SET_NAME, "clerk");
	for (; !done; nap_ms(6))
		answer_order();
	return a;
}
int main(void)
{
	pthread_t t[2];
	for (int i = 0; i < 2; i++)
		pthread_create(&t[i], 0, clerk, 0);
	for (int i = 0; i < 10; i++)
		nap_ms(200);
	done = 1;
	for (int i = 0; i < 2; i++)
		pthread_join(t[i], 0);
	return 0;
}
C
mkdir old new
cc -O1 -g -fno-optimize-sibling-calls -pthread -o old/bookshop bookshop.c
cc -O1 -g -fno-optimize-sibling-calls -pthread -DPLANTED -o new/bookshop bookshop.c
for when in old new; do
	"$PERFKIT" record tail --no-lock-owner -o $when.data -- $when/bookshop >out 2>&1 || { echo "recording: $(tail -3 out)"; exit 1; }
done
host=$("$reader" -c "import os; print(os.uname().nodename[:60])")
"$reader" "$SRC/tests/bench_fleet.py" host new.data "$host" 86400 tomorrow.data
"$PERFKIT" export -q --to parquet -o tables old.data tomorrow.data
# other programs may crowd it out of the first 20 here
"$PERFKIT" fleet --sql duckdb new | sed "s/WHERE nth <= 20/WHERE program = 'bookshop'/" >new.sql
(cd tables && "$reader" -c "
import csv, duckdb, sys
csv.writer(sys.stdout).writerows(duckdb.connect().execute(open('../new.sql').read()).fetchall())") | tr -d '\r' >answer.csv
bad=0
for want in 'wait site,bookshop,clerk,log_order,sleep,1,[0-9]*,0,' 'function,bookshop,clerk,sign_order,running,1,[0-9]*,0,'; do
	grep -q "^$want" answer.csv || { echo "not named: $want"; bad=1; }
done
! grep '^function,bookshop.*price_order' answer.csv || { echo "price_order is as it was"; bad=1; }
[ $bad = 0 ] || cat answer.csv
exit $bad
