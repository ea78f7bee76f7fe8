/* What descriptors are, by the snapshots that a recording's host gave. */
#include "tests/lib/unit.h"

#include "libtime/build/fd_context.h"
#include "libtime/sched/facts.h"
#include "libtime/sched/timeline_names.h"

#define SPACE "net:[4026531840]"
/* 1F90 is listened on; B000, B001, B002 are ephemeral */
#define TCP                                                                                   \
	"net " SPACE " tcp\n"                                                                 \
	"\t0: 00000000:1F90 00000000:0000 0A 00000000:00000000 00:00000000 00000000 0 0 100 " \
	"1\n"                                                                                 \
	"\t1: 0100007F:1F90 0100007F:B000 01 00000000:00000000 00:00000000 00000000 0 0 101 " \
	"1\n"                                                                                 \
	"\t2: 0100007F:B000 0100007F:1F90 01 00000000:00000000 00:00000000 00000000 0 0 102 " \
	"1\n"                                                                                 \
	"\t3: 0100007F:B001 08080808:0050 01 00000000:00000000 00:00000000 00000000 0 0 103 " \
	"1\n"                                                                                 \
	"\t4: 0100007F:B002 00000000:0000 07 00000000:00000000 00:00000000 00000000 0 0 104 " \
	"1\n"
#define UNIX                                                                       \
	"net " SPACE " unix\n"                                                     \
	"\tNum       RefCount Protocol Flags    Type St Inode Path\n"              \
	"\t0000000000000000: 00000002 00000000 00010000 0001 01 200 /run/x.sock\n" \
	"\t0000000000000000: 00000003 00000000 00000000 0001 03 201 /run/x.sock\n" \
	"\t0000000000000000: 00000003 00000000 00000000 0001 03 202\n"             \
	"\t0000000000000000: 00000003 00000000 00000000 0001 03 203 /run/client.sock\n"
#define FDS                                                                                \
	"process 7 " SPACE "\n"                                                            \
	"fd 0 /dev/null\nfd 1 pipe:[9]\nfd 2 anon_inode:[eventfd]\n"                       \
	"fd 3 anon_inode:[timerfd]\nfd 4 socket:[100]\nfd 5 socket:[101]\n"                \
	"fd 6 socket:[103]\nfd 7 socket:[104]\nfd 8 socket:[999]\n"                        \
	"fd 9 anon_inode:[eventpoll]\ntfd 9 4\ntfd 9 5\ntfd 9 2\n"                         \
	"fd 10 anon_inode:[eventpoll]\ntfd 10 5\ntfd 10 6\n"                               \
	"fd 11 anon_inode:[eventpoll]\ntfd 11 7\n"                                         \
	"fd 12 socket:[200]\nfd 13 socket:[201]\nfd 14 socket:[202]\nfd 15 socket:[203]\n" \
	"process 8 " SPACE "\n"                                                            \
	"fd 4 socket:[102]\n"

static struct fd_context *parse(const char *text)
{
	struct fd_context *c;
	struct err e = {0};
	if (fd_context_parse(&c, text, strlen(text), "x.context", &e))
		fail_msg("%s", e.msg);
	return c;
}

static void expect(const struct fd_context *c, int pid, uint64_t fd, unsigned kind)
{
	unsigned got = fd_context_kind(c, pid, fd);
	if (got != kind)
		fail_msg("fd %llu of %d: %s, not %s", (unsigned long long)fd, pid,
			 wait_arg_name(got), wait_arg_name(kind));
}

/* A path with a line break makes a row of a socket that is another's. */
static void a_row_in_a_path(void **state)
{
	(void)state;
	struct fd_context *c =
		parse("perfkit-context 1\nof 1\nsnapshot\n" FDS TCP UNIX
		      "\t0000000000000000: 00000002 00000000 00010000 0001 01 204 /tmp/evil\n"
		      "\t0000000000000000: 00000003 00000000 00000000 0001 03 202 /run/x.sock\n"
		      "\t0000000000000000: 00000003 00000000 00010000 0001 01 103 /tmp/evil\n");
	expect(c, 7, 14, ARG_SOCKET);
	expect(c, 7, 6, ARG_SOCKET);
	expect(c, 7, 13, ARG_ACCEPTED);
	fd_context_free(c);
}

static void a_snapshot(void **state)
{
	struct fd_context *c = parse("perfkit-context 1\nof 1\nsnapshot\n" FDS TCP UNIX);
	static const uint8_t kinds[] = {
		ARG_FILE,      ARG_PIPE,           ARG_EVENTFD,         ARG_TIMERFD,
		ARG_LISTENING, ARG_ACCEPTED,       ARG_CONNECTED,       ARG_SOCKET,
		ARG_SOCKET,    ARG_EPOLL_ACCEPTED, ARG_EPOLL_CONNECTED, ARG_EPOLL,
		ARG_LISTENING, ARG_ACCEPTED,       ARG_SOCKET,          ARG_SOCKET};
	(void)state;
	for (unsigned i = 0; i < sizeof(kinds); i++)
		expect(c, 7, i, kinds[i]);
	expect(c, 8, 4, ARG_CONNECTED);
	expect(c, 7, 99, ARG_FD);
	expect(c, 9, 4, ARG_FD);
	expect(c, -1, 4, ARG_FD);
	expect(c, 7, UINT64_MAX, ARG_FD);
	fd_context_free(c);
}

/* A descriptor that one snapshot lacks, or that was something else, may have been anything. */
static void snapshots_that_differ(void **state)
{
	struct fd_context *c = parse("perfkit-context 1\nof 1\nsnapshot\n" FDS TCP
				     "snapshot\nprocess 7 " SPACE "\nfd 1 pipe:[10]\n"
				     "fd 4 socket:[100]\nfd 5 pipe:[3]\nfd 5 pipe:[3]\n"
				     "fd 9 anon_inode:[eventpoll]\ntfd 9 5\n" TCP);
	(void)state;
	expect(c, 7, 1, ARG_PIPE);
	expect(c, 7, 4, ARG_LISTENING);
	expect(c, 7, 5, ARG_FD);
	expect(c, 7, 6, ARG_FD);
	expect(c, 7, 9, ARG_EPOLL);
	fd_context_free(c);
}

/* What was seen when all was over hides nothing, unless it was so before, too. */
static void late_snapshots(void **state)
{
	struct fd_context *c =
		parse("perfkit-context 1\nof 1\nsnapshot\nlate 37\n" FDS TCP UNIX);
	(void)state;
	expect(c, 7, 1, ARG_PIPE);
	expect(c, 7, 4, ARG_SOCKET);
	expect(c, 7, 5, ARG_SOCKET);
	expect(c, 7, 6, ARG_CONNECTED);
	expect(c, 7, 9, ARG_EPOLL);
	expect(c, 7, 10, ARG_EPOLL_CONNECTED);
	fd_context_free(c);
	c = parse("perfkit-context 1\nof 1\nsnapshot\n" FDS TCP UNIX
		  "snapshot\nlate 37\nprocess 7 " SPACE
		  "\nfd 5 socket:[101]\nfd 6 pipe:[1]\n" TCP);
	expect(c, 7, 5, ARG_ACCEPTED);
	expect(c, 7, 6, ARG_FD);
	fd_context_free(c);
}

static void expect_target(const struct fd_context *c, int pid, uint64_t fd, const char *want)
{
	const char *got = fd_context_target(c, pid, fd);
	if (!want != !got || (want && strcmp(got, want) != 0))
		fail_msg("fd %llu of %d: %s, not %s", (unsigned long long)fd, pid,
			 got ? got : "-", want ? want : "-");
}

#define ENDS                                                                         \
	"process 7 " SPACE " web server\nfd 5 socket:[101]\nfd 6 socket:[103]\n"     \
	"fd 7 socket:[104]\nfd 8 /var/lib/my file\nfd 9 socket:[105]\n"              \
	"process 8 " SPACE " client\nfd 4 socket:[102]\n" TCP "net " SPACE " tcp6\n" \
	"\t1: B80D0120000000000000000001000000:B003 "                                \
	"B80D0120000000000000000002000000:01BB 01 0:0 00:0 0 0 0 105 1\n"

static void what_descriptors_lead_to(void **state)
{
	struct fd_context *c = parse("perfkit-context 1\nof 1\nsnapshot\n" ENDS
				     "snapshot\n" ENDS "fd 8 /var/lib/my file\n");
	(void)state;
	expect_target(c, 7, 5, "127.0.0.1:45056 (client)");
	expect_target(c, 8, 4, "127.0.0.1:8080 (web server)");
	expect_target(c, 7, 6, "8.8.8.8:80");
	expect_target(c, 7, 7, NULL);
	expect_target(c, 7, 8, "/var/lib/my file");
	expect_target(c, 7, 9, "[2001:db8::2]:443");
	fd_context_free(c);
	/* another file in the second snapshot */
	c = parse("perfkit-context 1\nof 1\nsnapshot\nprocess 7 " SPACE "\nfd 8 /a\n"
		  "snapshot\nprocess 7 " SPACE "\nfd 8 /b\n");
	expect(c, 7, 8, ARG_FILE);
	expect_target(c, 7, 8, NULL);
	fd_context_free(c);
	/* of a host with the other byte order */
	c = parse("perfkit-context 1\nof 1\nsnapshot\norder big\nprocess 7 " SPACE "\n"
		  "fd 6 socket:[103]\nnet " SPACE " tcp\n\t3: 7F000001:B001 "
		  "08080404:0050 01 0:0 00:0 0 0 0 103 1\n");
	expect_target(c, 7, 6, "8.8.4.4:80");
	fd_context_free(c);
}

/* --- facts, as a timeline has them ------------------------------------------------------ */

#define HOST(throttled)                                                        \
	"snapshot\nfact process\t7\tcgroup\t/pods/a/b\n"                       \
	"fact process\t9\tcgroup\t/elsewhere\n"                                \
	"fact cgroup\t/pods/a/b\tcpu.max\t50000 100000\n"                      \
	"fact cgroup\t/pods/a\tcpu.max\t20000 100000\n"                        \
	"fact cgroup\t/pods/a\tnr_throttled\t" throttled "\n"                  \
	"fact cgroup\t/pods/a\tnr_periods\t40\n"                               \
	"fact cgroup\t/pods/a\tname\tshop/web-1/nginx\n"                       \
	"fact irq\t25 virtio0\t0\t7\nfact softirq\tNET_RX\t0\t" throttled "\n" \
	"fact disk\t8:1\tname\tsda1\nfact mount\t/\tdevice\t0:30\n"            \
	"fact mount\t/\tsource\toverlay\nfact mount\t/var\tdevice\t8:1\n"      \
	"fact mount\t/var\tsource\t/dev/sda1\n"                                \
	"fact no tabs\nfact x\ty\tz\nfact x\t\tz\t1\nfact x\ty\tz\t1\tmore\n"

static const struct tl_fact *kept(const struct timeline *tl, const char *kind,
				  const char *subject)
{
	const struct strtab *s = &tl->stacks->strings;
	for (size_t i = 0; i < tl->facts.n; i++)
		if (!strcmp(strtab_get(s, tl->facts.v[i].kind), kind) &&
		    !strcmp(strtab_get(s, tl->facts.v[i].subject), subject))
			return &tl->facts.v[i];
	return NULL;
}

static void facts_of_a_host(void **state)
{
	struct fd_context *c = parse("perfkit-context 1\nof 1\n" HOST("3") HOST("12"));
	struct stacks names = {0};
	struct timeline tl;
	struct fact_quota q;
	(void)state;
	assert_int_equal(timeline_init(&tl, &names), 0);
	struct tl_thread t = {.pid = 7, .tid = 7};
	assert_int_equal(vec_push(&tl.threads, t), 0);
	assert_int_equal(fact_table_apply(fd_context_facts(c), &tl), 0);
	fd_context_free(c);
	const struct strtab *s = &names.strings;
	assert_string_equal(strtab_get(s, fact_cgroup(&tl, 0)), "/pods/a/b");
	/* the one that was used up, not the thread's own */
	assert_int_equal(fact_quota(&tl, 0, &q), 1);
	assert_string_equal(strtab_get(s, q.cgroup), "/pods/a");
	assert_int_equal(q.quota_ns, 20000000);
	assert_int_equal(q.period_ns, 100000000);
	assert_int_equal(q.throttled, 9);
	assert_int_equal(q.periods, 0); /* did not grow */
	assert_string_equal(strtab_get(s, fact_container(&tl, 0, fact_cgroup(&tl, 0))),
			    "shop/web-1/nginx");
	assert_string_equal(fact_device(&tl, 0, "/var/lib/db"), "sda1");
	assert_string_equal(fact_device(&tl, 0, "/variety"), "overlay");
	assert_null(fact_device(&tl, 0, "relative"));
	/* other processes, interrupts that did not come, and what is no fact are left out */
	assert_null(kept(&tl, "process", "9"));
	assert_null(kept(&tl, "irq", "25 virtio0"));
	assert_null(kept(&tl, "x", "y"));
	const struct tl_fact *softirq = kept(&tl, "softirq", "NET_RX");
	assert_non_null(softirq);
	assert_string_equal(strtab_get(s, softirq->before), "3");
	assert_string_equal(strtab_get(s, softirq->after), "12");
	timeline_release(&tl);
	stacks_release(&names);
}

static void damage_is_survived(void **state)
{
	static const char whole[] =
		"perfkit-context 1\nof 1\nsnapshot\n" FDS TCP UNIX HOST("3") ENDS;
	struct fd_context *c;
	struct err e = {0};
	char text[sizeof(whole)];
	(void)state;
	assert_int_equal(fd_context_parse(&c, "x", 1, "x.context", &e), ERR_FORMAT);
	for (size_t n = sizeof("perfkit-context 1"); n < sizeof(whole) - 1; n++) {
		memcpy(text, whole, sizeof(whole));
		text[n] = (char)(text[n] ^ 0x15);
		assert_int_equal(fd_context_parse(&c, text, n + 1, "x.context", &e), 0);
		fd_context_free(c);
		assert_int_equal(fd_context_parse(&c, text, sizeof(whole) - 1, "x", &e), 0);
		fd_context_free(c);
	}
}

static void kinds_have_names(void **state)
{
	(void)state;
	assert_string_equal(wait_arg_name(ARG_EPOLL_CONNECTED), "epoll-connected");
	assert_string_equal(wait_arg_name(ARG_NONE), "");
	assert_string_equal(wait_arg_name(ARG_KINDS), "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_snapshot),
		cmocka_unit_test(a_row_in_a_path),
		cmocka_unit_test(snapshots_that_differ),
		cmocka_unit_test(late_snapshots),
		cmocka_unit_test(what_descriptors_lead_to),
		cmocka_unit_test(facts_of_a_host),
		cmocka_unit_test(damage_is_survived),
		cmocka_unit_test(kinds_have_names),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
