/* What descriptors are, by the snapshots that a recording's host gave. */
#include "tests/lib/unit.h"

#include "libtime/build/fd_context.h"

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

static void damage_is_survived(void **state)
{
	static const char whole[] = "perfkit-context 1\nof 1\nsnapshot\n" FDS TCP UNIX;
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
		cmocka_unit_test(a_snapshot),       cmocka_unit_test(snapshots_that_differ),
		cmocka_unit_test(late_snapshots),   cmocka_unit_test(damage_is_survived),
		cmocka_unit_test(kinds_have_names),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
