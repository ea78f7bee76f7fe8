/* prevstate: the state letters, as each kernel's own print fmt defines them. */
#include "tests/lib/unit.h"

#include "libtime/sched/prev_state.h"

#define HEAD                                                                                   \
	"print fmt: \"prev_comm=%s prev_pid=%d prev_prio=%d prev_state=%s%s ==> next_comm=%s " \
	"next_pid=%d next_prio=%d\", REC->prev_comm, REC->prev_pid, REC->prev_prio, "
#define TAIL ", REC->next_comm, REC->next_pid, REC->next_prio\n"

/* As /sys/kernel/debug/tracing/events/sched/sched_switch/format shows it. */
static const char v3_2[] =
	"print fmt: \"prev_comm=%s prev_pid=%d prev_prio=%d prev_state=%s ==> next_comm=%s "
	"next_pid=%d next_prio=%d\", REC->prev_comm, REC->prev_pid, REC->prev_prio, "
	"REC->prev_state ? __print_flags(REC->prev_state, \"|\", { 1, \"S\"} , { 2, \"D\" }, "
	"{ 4, \"T\" }, { 8, \"t\" }, { 16, \"Z\" }, { 32, \"X\" }, { 64, \"x\" }, { 128, \"W\" "
	"}) : "
	"\"R\"" TAIL;
static const char v3_10[] = HEAD
	"REC->prev_state & (512-1) ? __print_flags(REC->prev_state & (512-1), \"|\", { 1, "
	"\"S\"} , "
	"{ 2, \"D\" }, { 4, \"T\" }, { 8, \"t\" }, { 16, \"Z\" }, { 32, \"X\" }, { 64, \"x\" "
	"}, "
	"{ 128, \"K\" }, { 256, \"W\" }) : \"R\", REC->prev_state & 512 ? \"+\" : \"\"" TAIL;
static const char v4_4[] =
	HEAD "REC->prev_state & (2048-1) ? __print_flags(REC->prev_state & (2048-1), \"|\", { "
	     "1, \"S\"} "
	     ", { 2, \"D\" }, { 4, \"T\" }, { 8, \"t\" }, { 16, \"Z\" }, { 32, \"X\" }, { 64, "
	     "\"x\" }, "
	     "{ 128, \"K\"}, { 256, \"W\" }, { 512, \"P\" }, { 1024, \"N\" }) : \"R\", "
	     "REC->prev_state & 2048 ? \"+\" : \"\"" TAIL;
static const char v4_14[] = HEAD
	"(REC->prev_state & ((((0x0000 | 0x0001 | 0x0002 | 0x0004 | 0x0008 | 0x0010 | 0x0020 | "
	"0x0040) + 1) << 1) - 1)) ? __print_flags(REC->prev_state & ((((0x0000 | 0x0001 | "
	"0x0002 | "
	"0x0004 | 0x0008 | 0x0010 | 0x0020 | 0x0040) + 1) << 1) - 1), \"|\", { 0x01, \"S\" }, "
	"{ 0x02, \"D\" }, { 0x04, \"T\" }, { 0x08, \"t\" }, { 0x10, \"X\" }, { 0x20, \"Z\" }, "
	"{ 0x40, \"P\" }, { 0x80, \"I\" }) : \"R\", REC->prev_state & (((0x0000 | 0x0001 | "
	"0x0002 | "
	"0x0004 | 0x0008 | 0x0010 | 0x0020 | 0x0040) + 1) << 1) ? \"+\" : \"\"" TAIL;
static const char v6[] = HEAD
	"(REC->prev_state & ((((0x00000000 | 0x00000001 | 0x00000002 | 0x00000004 | 0x00000008 "
	"| "
	"0x00000010 | 0x00000020 | 0x00000040) + 1) << 1) - 1)) ? "
	"__print_flags(REC->prev_state & "
	"((((0x00000000 | 0x00000001 | 0x00000002 | 0x00000004 | 0x00000008 | 0x00000010 | "
	"0x00000020 | 0x00000040) + 1) << 1) - 1), \"|\", { 0x00000001, \"S\" }, { 0x00000002, "
	"\"D\" "
	"}, { 0x00000004, \"T\" }, { 0x00000008, \"t\" }, { 0x00000010, \"X\" }, { 0x00000020, "
	"\"Z\" "
	"}, { 0x00000040, \"P\" }, { 0x00000080, \"I\" }) : \"R\", REC->prev_state & "
	"(((0x00000000 | "
	"0x00000001 | 0x00000002 | 0x00000004 | 0x00000008 | 0x00000010 | 0x00000020 | "
	"0x00000040) + "
	"1) << 1) ? \"+\" : \"\"" TAIL;

static void expect(const struct prevstate *p, uint64_t value, const char *text,
		   enum state_class class)
{
	char out[PREVSTATE_TEXT];
	assert_string_equal(prevstate_text(p, value, out), text);
	assert_int_equal(prevstate_class(p, value), class);
}

static void parse(struct prevstate *p, const char *text)
{
	struct err e = {0};
	assert_int_equal(prevstate_parse(p, text, strlen(text), &e), 0);
}

static void kernel_3_2_has_no_plus(void **state)
{
	(void)state;
	struct prevstate p;
	parse(&p, v3_2);
	assert_int_equal(p.plus, 0);
	expect(&p, 0, "R", STATE_RUNNING);
	expect(&p, 2, "D", STATE_BLOCKED);
	expect(&p, 64, "x", STATE_DEAD);
}

static void kernel_3_10_marks_preemption_with_512(void **state)
{
	(void)state;
	struct prevstate p;
	parse(&p, v3_10);
	assert_int_equal(p.nflags, 9);
	expect(&p, 512, "R+", STATE_RUNNING);
	expect(&p, 1, "S", STATE_BLOCKED);
	expect(&p, 2 | 128, "D|K", STATE_BLOCKED);
	expect(&p, 64, "x", STATE_DEAD);
	expect(&p, 16, "Z", STATE_DEAD);
	expect(&p, 256, "W", STATE_BLOCKED);
}

static void kernel_4_4_marks_preemption_with_2048(void **state)
{
	(void)state;
	struct prevstate p;
	parse(&p, v4_4);
	expect(&p, 2048, "R+", STATE_RUNNING);
	expect(&p, 1026, "D|N", STATE_BLOCKED);
	expect(&p, 32, "X", STATE_DEAD);
}

static void kernel_4_14_swaps_x_and_z_and_marks_with_256(void **state)
{
	(void)state;
	struct prevstate p;
	parse(&p, v4_14);
	assert_int_equal(p.plus, 256);
	assert_int_equal(p.mask, 255);
	expect(&p, 256, "R+", STATE_RUNNING);
	expect(&p, 16, "X", STATE_DEAD);
	expect(&p, 64, "P", STATE_BLOCKED);
	expect(&p, 128, "I", STATE_BLOCKED);
}

static void kernel_6_reads_like_4_14(void **state)
{
	(void)state;
	struct prevstate p;
	parse(&p, v6);
	expect(&p, 0, "R", STATE_RUNNING);
	expect(&p, 0x100, "R+", STATE_RUNNING);
	expect(&p, 1, "S", STATE_BLOCKED);
	expect(&p, 0x20, "Z", STATE_DEAD);
}

static void values_without_a_name_are_shown_in_hex(void **state)
{
	(void)state;
	struct prevstate p;
	parse(&p, v3_2);
	expect(&p, 0x4000, "0x4000", STATE_BLOCKED);
}

static void other_formats_are_refused_whatever_their_cut(void **state)
{
	(void)state;
	struct prevstate p;
	struct err e = {0};
	static const char *const bad[] = {"", "print fmt: \"%s\", REC->comm", "__print_flags(",
					  "__print_flags(REC->prev_state, \"|\", {"};
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++)
		assert_int_equal(prevstate_parse(&p, bad[i], strlen(bad[i]), &e), ERR_FORMAT);
	for (size_t n = 0; n < sizeof(v6); n++) {
		char out[PREVSTATE_TEXT];
		if (!prevstate_parse(&p, v6, n, &e))
			prevstate_text(&p, 0x1ff, out);
	}
	char deep[600];
	memset(deep, '(', sizeof(deep));
	memcpy(deep, "__print_flags(REC->prev_state & ", 32);
	assert_int_equal(prevstate_parse(&p, deep, sizeof(deep), &e), ERR_FORMAT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(kernel_3_2_has_no_plus),
		cmocka_unit_test(kernel_3_10_marks_preemption_with_512),
		cmocka_unit_test(kernel_4_4_marks_preemption_with_2048),
		cmocka_unit_test(kernel_4_14_swaps_x_and_z_and_marks_with_256),
		cmocka_unit_test(kernel_6_reads_like_4_14),
		cmocka_unit_test(values_without_a_name_are_shown_in_hex),
		cmocka_unit_test(other_formats_are_refused_whatever_their_cut),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
