/* schema.c - the declarations; schema.h explains them, schema_sql.c turns them into SQL. */
#include "libtime/store/schema.h"
#include "libtime/store/schema_words.h"
#include "base/check.h"
#include "libsym/elf/dso_find.h"
#include "libsym/process/machine.h"
#include "libtime/sched/timeline_names.h"
#include "libtime/store/file_facts.h"
#include "libtime/store/finding_rows.h"
#include "libtime/store/kept_source.h"

#include <stddef.h>
#include <string.h>

#define COUNT_OF(a) (sizeof(a) / sizeof(*(a)))

/* name, kind, field of ROW, unit, meaning */
#define PLAIN(name, kind, field, unit, meaning)                             \
	{                                                                   \
		name, kind, offsetof(ROW, field), 0, NULL, 0, unit, meaning \
	}
#define ARGUED(name, kind, field, arg, unit, meaning)                         \
	{                                                                     \
		name, kind, offsetof(ROW, field), arg, NULL, 0, unit, meaning \
	}
#define WORD(name, field, word, words, meaning)                                      \
	{                                                                            \
		name, COLUMN_WORD, offsetof(ROW, field), 0, word, words, "", meaning \
	}
#define KEY(meaning)                                        \
	{                                                   \
		"id", COLUMN_ID, 0, 0, NULL, 0, "", meaning \
	}
#define RECORDING                                                                   \
	{                                                                           \
		"recording_id", COLUMN_RECORDING, 0, 0, NULL, 0, "→ recordings", "" \
	}

#define FIRST(name, table, meaning)                                \
	{                                                          \
		name, COLUMN_FIRST, 0, table, NULL, 0, "", meaning \
	}

#define ROW struct timeline
#define HAS(name, bit, meaning) ARGUED(name, COLUMN_BIT32, flags, bit, "0, 1", meaning)
#define RECORDING_COLUMNS                                                                      \
	KEY(""), PLAIN("host", COLUMN_TEXT_OR_EMPTY, rec.host, "", "where it was recorded"),   \
		PLAIN("file", COLUMN_TEXT_OR_EMPTY, rec.file, "", "as given to `import`"),     \
		PLAIN("clock", COLUMN_TEXT_OR_EMPTY, rec.clock, "",                            \
		      "`CLOCK_MONOTONIC`, …, or `perf` for perf's own clock"),                 \
		PLAIN("kernel", COLUMN_TEXT_OR_EMPTY, rec.kernel, "", "its release"),          \
		PLAIN("arch", COLUMN_TEXT_OR_EMPTY, rec.arch, "", "of the machine"),           \
		PLAIN("cmdline", COLUMN_LINE, rec.cmdline, "", "perf's command line"),         \
		PLAIN("origin_ns", COLUMN_U64, rec.origin_ns, "ns",                            \
		      "time of the first record"),                                             \
		PLAIN("end_ns", COLUMN_U64, rec.end_ns, "ns", "time of the last record"),      \
		PLAIN("wall_ns", COLUMN_U64_OR_0, rec.wall_ns, "ns since 1970",                \
		      "at origin_ns"),                                                         \
		PLAIN("wall_exact", COLUMN_U8, rec.wall_exact, "0, 1",                         \
		      "to a microsecond (`perf record -k`)"),                                  \
		PLAIN("ncpus", COLUMN_U32_OR_0, rec.ncpus, "", "CPUs of the host"),            \
		HAS("per_task", TL_PER_TASK, "recorded without `-a` or `-C`"),                 \
		HAS("has_switch", TL_HAS_SWITCH, "`sched_switch` was recorded"),               \
		HAS("has_records", TL_HAS_RECORDS, "SWITCH records were (`--switch-events`)"), \
		HAS("has_waking", TL_HAS_WAKING, "`sched_waking` was"),                        \
		HAS("has_wakeup", TL_HAS_WAKEUP, "`sched_wakeup` was"),                        \
		HAS("sampled", TL_SAMPLED,                                                     \
		    "`sched_switch` was sampled, so waits are missing"),                       \
		HAS("has_totals", TL_HAS_TOTALS, "`perf record --off-cpu`: sums per stack"),   \
		HAS("has_direct", TL_HAS_DIRECT, "`perf record --off-cpu`: single intervals"), \
		HAS("some_cpus", TL_SOME_CPUS,                                                 \
		    "switches of some CPUs only were recorded (`-C`)"),                        \
		PLAIN("stray_samples", COLUMN_U64, stray_samples, "",                          \
		      "samples outside the running intervals of their thread")
static const struct column recordings[] = {
	RECORDING_COLUMNS,
	PLAIN("hash", COLUMN_U64_OR_0, rec.hash, "",
	      "of its bytes: its id in [tables](parquet.md); NULL of a stream"),
	FIRST("first_frame_id", TABLE_FRAMES, "its frames have ids from here on"),
	FIRST("first_call_path_id", TABLE_CALL_PATHS, "and its call paths"),
	FIRST("first_folded_path_id", TABLE_FOLDED_PATHS, "and its folded paths"),
};
#undef ROW

#define ROW struct store_name
static const struct column comms[] = {
	KEY(""),
	PLAIN("comm", COLUMN_TEXT, name, "", "a thread's name"),
};
static const struct column dsos[] = {
	KEY(""),
	RECORDING,
	PLAIN("name", COLUMN_TEXT, name, "", "path, or `[name]`"),
	PLAIN("build_id", COLUMN_TEXT_OR_EMPTY, build_id, "hex",
	      "NULL: not recorded, or several files of that name"),
};
static const struct column symbols[] = {
	KEY(""),
	PLAIN("dso_id", COLUMN_DSO, dso, "→ dsos", ""),
	PLAIN("name", COLUMN_TEXT, name, "", "the function"),
};
static const struct column files[] = {
	KEY(""),
	PLAIN("name", COLUMN_TEXT, name, "", "path of a source file"),
};
#undef ROW

#define ROW struct tl_thread
#define IS(name, bit, meaning) ARGUED(name, COLUMN_BIT32, flags, bit, "0, 1", meaning)
static const struct column threads[] = {
	KEY(""),
	RECORDING,
	PLAIN("pid", COLUMN_I32_OR_NEGATIVE, pid, "", "its process; NULL if no record has it"),
	PLAIN("tid", COLUMN_I32, tid, "", ""),
	PLAIN("comm_id", COLUMN_COMM, comm, "→ comms", "its last name"),
	PLAIN("program_id", COLUMN_COMM, program, "→ comms",
	      "the last name of its process's first thread"),
	PLAIN("first_ns", COLUMN_U64, first_ns, "ns", "the first record that shows its state"),
	PLAIN("last_ns", COLUMN_U64, last_ns, "ns", "its exit or the recording's end"),
	PLAIN("first_cpu", COLUMN_CPU, first_cpu, "",
	      "where it ran at first_ns; NULL: it did not"),
	PLAIN("first_prio", COLUMN_I16_OR_NEGATIVE, first_prio, "", "its priority then"),
	PLAIN("offcpu_first", COLUMN_FIRST_OFF, offcpu_first, "",
	      "its intervals have ids from here on"),
	PLAIN("offcpu_count", COLUMN_U32, offcpu_n, "", "and are so many"),
	IS("kernel", THREAD_KERNEL, "a kernel thread"),
	IS("recorder", THREAD_RECORDER, "perf, or the `sleep` that set the duration"),
	IS("born", THREAD_BORN, "its creation was recorded"),
	IS("exited", THREAD_EXITED, "its end was recorded"),
	IS("lifeless", THREAD_IDLE_TASK,
	   "stands for samples of the idle task (tid 0), of threads whose tid perf no longer "
	   "knew (-1), or of a tid that damaged records give to several processes"),
};
#undef ROW

#define ROW struct tl_event
static const struct column events[] = {
	KEY(""),
	RECORDING,
	PLAIN("name", COLUMN_TEXT, name, "", "as perf names it"),
	PLAIN("tracepoint", COLUMN_U8, tracepoint, "0, 1", "a tracepoint or probe"),
	PLAIN("sched", COLUMN_U8, sched, "0, 1", "its records became intervals"),
	WORD("stacks", stacks, stack_kind_name, STACK_KINDS,
	     "how user stacks were taken: `frame pointers`, `dwarf`, `lbr`"),
	WORD("skid", skid, event_skid_text, EVENT_SKIDS, "how late samples fall"),
	WORD("counts", counts, event_role_word, EVENT_ROLES, "`cycles`, `instructions`"),
	PLAIN("event_group", COLUMN_U32_OR_0, group, "",
	      "events with the same number were read in each other's samples"),
};
#undef ROW

#define FRAME_COLUMNS                                                                        \
	KEY(""),                                                                             \
		ARGUED("symbol_id", COLUMN_SYMBOL, name, offsetof(struct frame, dso),        \
		       "→ symbols", "NULL for an address without a name"),                   \
		PLAIN("dso_id", COLUMN_DSO, dso, "→ dsos", ""),                              \
		PLAIN("address", COLUMN_BITS, addr, "",                                      \
		      "the symbol's start; without one, the offset in the file, or outside " \
		      "of files the address itself (in no mapping only its upper 4 bits, "   \
		      "unless imported with `--addrs`)"),                                    \
		PLAIN("instruction", COLUMN_U32_OR_0, at, "bytes",                           \
		      "from address to the instruction; a caller's is inside the call"),     \
		PLAIN("file_id", COLUMN_FILE, srcfile, "→ files", ""),                       \
		PLAIN("line", COLUMN_U32_OR_0, line, "", ""),                                \
		ARGUED("inlined", COLUMN_BIT8, flags, FRAME_INLINED, "0, 1",                 \
		       "into its caller"),                                                   \
		ARGUED("guessed", COLUMN_BIT8, flags, FRAME_GUESSED, "0, 1",                 \
		       "found without call-frame information"),                              \
		WORD("kind", kind, frame_kind_word, FRAME_MARK + 1,                          \
		     "`kernel`, `jit`, `mark` (no code: `[truncated]`); NULL: user code")
#define ROW struct frame
static const struct column frames[] = {FRAME_COLUMNS};
#undef ROW

#define CALL_PATH_COLUMNS                                                                  \
	KEY("parents have smaller ones"),                                                  \
		PLAIN("parent_id", COLUMN_PATH, parent, "→ call_paths", "NULL at a root"), \
		PLAIN("frame_id", COLUMN_FRAME, frame, "→ frames", "")
#define ROW struct call_path
static const struct column call_paths[] = {CALL_PATH_COLUMNS};
#undef ROW

#define ROW struct wait_frame
static const struct column wait_frames[] = {
	PLAIN("call_path_id", COLUMN_PATH, path, "→ call_paths", "the stack of a switch-out"),
	PLAIN("frame_id", COLUMN_FRAME, frame, "→ frames", "where the thread waited"),
};
#undef ROW

#define SITE_COLUMNS                                                                           \
	KEY(""), RECORDING,                                                                    \
		PLAIN("program", COLUMN_TEXT, program, "",                                     \
		      "name of the process: of its first thread"),                             \
		PLAIN("role", COLUMN_TEXT, role, "",                                           \
		      "the thread's outermost application function, else its name"),           \
		WORD("cause", cause, cause_name, CAUSE_COUNT, "as in offcpu"),                 \
		PLAIN("frame_id", COLUMN_FRAME, frame, "→ frames", "the function that waits"), \
		WORD("verdict", verdict, site_verdict_name, SITE_VERDICTS,                     \
		     "`work`, `idle` or `unclear`"),                                           \
		WORD("reason", reason, site_reason_name, SITE_REASONS,                         \
		     "which line of the rule said so"),                                        \
		PLAIN("loop", COLUMN_U8, loop, "0, 1",                                         \
		      "unclear, but looks like its thread's loop"),                            \
		PLAIN("waits", COLUMN_U64, waits, "", "those with blocked time"),              \
		PLAIN("wait_ns", COLUMN_U64, wait_ns, "ns", "of all"),                         \
		PLAIN("max_ns", COLUMN_U64, max_ns, "ns", "the longest")
#define ROW struct tl_site
static const struct column sites[] = {SITE_COLUMNS};
#undef ROW

/* The columns that offcpu_rows and offcpu_kinds share with `offcpu`, which has them in one row.
 * F(x) is the field x of struct offcpu. */
#define KIND_COLUMNS                                                                         \
	PLAIN("prev_state", COLUMN_STATE, F(state), "",                                      \
	      "what perf prints: `S`, `D`, `R`, `R+` …; NULL for SWITCH records and the "  \
	      "first wait of a new thread"),                                                 \
		WORD("cause", F(cause), cause_name, CAUSE_COUNT,                             \
		     "`lock` `rwlock` `semaphore` `cond` `join` `barrier` `futex` `sleep` "  \
		     "`poll` `net` "                                                         \
		     "`pipe` `io` `fault` `child` `signal` `throttle` `preempt` `runqueue` " \
		     "`yield` "                                                              \
		     "`stopped` `exit` `safepoint` `unknown`; `throttle`: by a CPU quota, "  \
		     "before Linux "                                                         \
		     "6.18 like `preempt`"),                                                 \
		WORD("waker_context", F(waker_context), waker_context_name, WAKER_IDLE + 1,  \
		     "`task`, `softirq-inline`, `softirq`, `hardirq`, `idle`; NULL: no "     \
		     "wakeup"),                                                              \
		WORD("unknown_reason", F(unknown), unknown_reason_name, UNKNOWN_NO_WAKE + 1, \
		     "`hole`, `lost`, `open edge`, `missing wakeup`; blocked and runnable "  \
		     "time are then 0"),                                                     \
		ARGUED("open", COLUMN_BIT8, F(flags), OFF_OPEN, "0, 1",                      \
		       "cut by the recording's edge"),                                       \
		ARGUED("suspect", COLUMN_BIT8, F(flags), OFF_SUSPECT, "0, 1",                \
		       "touched by lost records, a hole, a throttled event or differing "    \
		       "clocks"),                                                            \
		ARGUED("running", COLUMN_BIT8, F(flags), OFF_RUNNING, "0, 1",                \
		       "switched out in a running state"),                                   \
		ARGUED("no_stack", COLUMN_BIT8, F(flags), OFF_NO_STACK, "0, 1",              \
		       "the switch-out carried no callchain"),                               \
		ARGUED("rest", COLUMN_BIT8, F(flags), OFF_REST, "0, 1",                      \
		       "the wait before ended somewhere in this time, because records are "  \
		       "missing"),                                                           \
		PLAIN("syscall", COLUMN_SYSCALL, F(syscall), "",                             \
		      "with the operation of futex (`futex:wait`); NULL: none, or not "      \
		      "recorded"),                                                           \
		PLAIN("arg0", COLUMN_ARG, F(arg), "",                                        \
		      "what it waited on: the call's first argument; NULL without the "      \
		      "thread's registers ([recording.md](recording.md))"),                  \
		WORD("arg0_kind", F(arg_kind), wait_arg_name, ARG_KINDS,                     \
		     "`futex` (an address, which tells locks apart) or a descriptor: "       \
		     "`accepted`, "                                                          \
		     "`listening`, `connected` (sockets, by which side began), `socket`, "   \
		     "`pipe`, "                                                              \
		     "`eventfd`, `timerfd`, `epoll`, `epoll-accepted` (of no others), "      \
		     "`epoll-connected`, `file`, `fd` (unknown)"),                           \
		PLAIN("arg0_variable", COLUMN_VARIABLE, F(arg), "",                          \
		      "the variable at a futex's address: `orders: book`, `libfoo.so: "      \
		      "table+0x28`")
#define OFF_WHEN                                                                        \
	PLAIN("thread_id", COLUMN_THREAD_KEY, offcpu.thread, "→ threads", ""),          \
		PLAIN("start_ns", COLUMN_U64, offcpu.start_ns, "ns", "the switch-out"), \
		ARGUED("off_ns", COLUMN_LENGTH, offcpu.end_ns,                          \
		       offsetof(struct offcpu_row, offcpu.start_ns), "ns",              \
		       "until the switch-in"),                                          \
		PLAIN("blocked_ns", COLUMN_U64, offcpu.blocked_ns, "ns",                \
		      "switch-out → wakeup: it slept; the rest was run-queue delay")
#define OFF_WHERE                                                                             \
	PLAIN("site_id", COLUMN_SITE, offcpu.site, "→ sites", ""),                            \
		PLAIN("call_path_id", COLUMN_PATH, offcpu.path, "→ call_paths",               \
		      "of the switch-out"),                                                   \
		PLAIN("comm_id", COLUMN_COMM, offcpu.comm, "→ comms",                         \
		      "the thread's name at start_ns"),                                       \
		PLAIN("waker_thread_id", COLUMN_THREAD, offcpu.waker, "→ threads",            \
		      "who woke it; NULL: an interrupt, or unknown"),                         \
		PLAIN("waker_call_path_id", COLUMN_PATH, offcpu.waker_path, "→ call_paths",   \
		      "of the wakeup"),                                                       \
		PLAIN("slack_ns", COLUMN_U32_OR_0, offcpu.slack_ns, "ns",                     \
		      "it may have been this much shorter (4294967295: of no length); NULL: " \
		      "it is exact"),                                                         \
		PLAIN("cpu_out", COLUMN_CPU, offcpu.cpu_out, "", "of the switch-out"),        \
		PLAIN("cpu_in", COLUMN_CPU, offcpu.cpu_in, "", "of the switch-in"),           \
		PLAIN("cpu_wake", COLUMN_CPU, offcpu.cpu_wake, "", "of the wakeup"),          \
		PLAIN("cpu_queue", COLUMN_CPU, offcpu.cpu_queue, "",                          \
		      "whose run queue the wakeup put it in; NULL without a `sched_wakeup`"), \
		PLAIN("prio_in", COLUMN_I16_OR_NEGATIVE, offcpu.prio_in, "",                  \
		      "kernel priority when it came back (120: nice 0, below 100: real-time)")

#define ROW struct offcpu_kind
#define F(x) x
static const struct column kinds[] = {
	KEY(""),
	KIND_COLUMNS,
};
#undef F
#undef ROW

#define ROW struct offcpu_row
static const struct column offcpu[] = {
	KEY("ascends by thread, then by time"),
	OFF_WHEN,
	PLAIN("kind_id", COLUMN_KIND, kind, "→ offcpu_kinds", ""),
	OFF_WHERE,
};
#undef ROW

static const char *verdict_word(unsigned int verdict)
{
	return verdict ? site_verdict_name(verdict - 1) : "";
}

#define ROW struct flat_offcpu
#define F(x) offcpu.x
static const struct column flat_offcpu[] = {
	OFF_WHEN,
	PLAIN("runnable_ns", COLUMN_U64, runnable_ns, "ns",
	      "wakeup → switch-in: it waited for a CPU; preempted, if `running`"),
	PLAIN("wait_ns", COLUMN_U64, wait_ns, "ns",
	      "what counts as waiting: all but the idle part"),
	PLAIN("work_ns", COLUMN_U64, work_ns, "ns", "the same without the unclear part"),
	WORD("verdict", verdict, verdict_word, SITE_VERDICTS + 1,
	     "of its site; NULL: it has none"),
	PLAIN("system", COLUMN_U8, system, "0, 1", "of a kernel thread or the recorder"),
	KIND_COLUMNS,
	OFF_WHERE,
};
#undef F
#undef ROW

#define ROW struct tl_offcpu_total
static const struct column totals[] = {
	KEY(""),
	PLAIN("thread_id", COLUMN_THREAD_KEY, thread, "→ threads", ""),
	PLAIN("comm_id", COLUMN_COMM, comm, "→ comms", ""),
	PLAIN("call_path_id", COLUMN_PATH, path, "→ call_paths", ""),
	PLAIN("ns", COLUMN_U64, ns, "ns", "off CPU, at no known time"),
	PLAIN("count", COLUMN_U64, count, "", "samples"),
};
#undef ROW

#define ROW struct sample_task
static const struct column tasks[] = {
	KEY(""),
	PLAIN("event_id", COLUMN_EVENT, event, "→ selected_events", ""),
	PLAIN("thread_id", COLUMN_THREAD, thread, "→ threads",
	      "NULL for tracepoints, probes and `--off-cpu`"),
	PLAIN("pid", COLUMN_I32, pid, "", "-1: unknown"),
	PLAIN("tid", COLUMN_I32, tid, "", "-1: of a thread so near its end"),
	PLAIN("comm_id", COLUMN_COMM, comm, "→ comms", "its name then"),
	PLAIN("tracepoint", COLUMN_U8, tracepoint, "0, 1",
	      "rows are in event_sample_rows, not in sample_rows"),
	PLAIN("first_ns", COLUMN_TIME_OR_MAX, first_ns, "ns",
	      "the first sample; NULL: at no known time"),
	PLAIN("last_ns", COLUMN_U64_OR_0, last_ns, "ns", "the last"),
	PLAIN("period", COLUMN_U64, period, "the event's", "of its first sample"),
};
#undef ROW

#define ROW struct sample_sum
static const struct column sums[] = {
	KEY(""),
	PLAIN("task_id", COLUMN_TASK, task, "→ sample_tasks", ""),
	PLAIN("call_path_id", COLUMN_PATH, path, "→ call_paths", ""),
	PLAIN("samples", COLUMN_U64, samples, "", "how many"),
	PLAIN("weight", COLUMN_U64, weight, "the event's",
	      "sum of their periods (ns for cpu-clock)"),
};
#undef ROW

#define ROW struct sample_row
static const struct column samples[] = {
	PLAIN("time_ns", COLUMN_U64, time_ns, "ns", ""),
	PLAIN("nth", COLUMN_U64, nth, "", "tells samples of one time apart"),
	PLAIN("sum_id", COLUMN_SUM, sum, "→ sample_sums", "thread, event and stack"),
	PLAIN("cpu", COLUMN_CPU, cpu, "", ""),
	PLAIN("period", COLUMN_TIME_OR_MAX, period, "the event's",
	      "NULL: that of sample_tasks; of `-e '{a,b}:S'` each counter that moved has a "
	      "row"),
};
static const struct column event_samples[] = {
	KEY(""),
	PLAIN("time_ns", COLUMN_TIME_OR_MAX, time_ns, "ns",
	      "NULL for the sums that `--off-cpu` writes at the end"),
	PLAIN("sum_id", COLUMN_SUM, sum, "→ sample_sums", "thread, event and stack"),
	PLAIN("cpu", COLUMN_CPU, cpu, "", ""),
	PLAIN("period", COLUMN_TIME_OR_MAX, period, "the event's",
	      "NULL: that of sample_tasks"),
};
#undef ROW

#define ROW struct folded_path
static const struct column folded_paths[] = {
	KEY("parents have smaller ones"),
	PLAIN("parent_id", COLUMN_FOLDED, path.parent, "→ folded_paths", "NULL at a root"),
	PLAIN("frame_id", COLUMN_FRAME, path.frame, "→ frames", "of unnamed ones, the first"),
	PLAIN("first_id", COLUMN_FOLDED, first, "→ folded_paths",
	      "the first one with the same text; NULL: this one"),
};
#undef ROW

#define ROW struct folded_sum
static const struct column folded_sums[] = {
	KEY(""),
	PLAIN("event_id", COLUMN_EVENT, event, "→ selected_events", ""),
	PLAIN("comm_id", COLUMN_COMM, comm, "→ comms", "the threads' name"),
	PLAIN("folded_path_id", COLUMN_FOLDED, path, "→ folded_paths", ""),
	PLAIN("samples", COLUMN_U64, samples, "", "how many"),
	PLAIN("weight", COLUMN_U64, weight, "the event's", "sum of their periods"),
};
#undef ROW

#define ROW struct tl_span
static const struct column spans[] = {
	KEY(""),
	RECORDING,
	PLAIN("name", COLUMN_TEXT, name, "", ""),
	PLAIN("thread_id", COLUMN_THREAD, thread, "→ threads",
	      "NULL: a file given by `--with` names none that was recorded"),
	PLAIN("end_thread_id", COLUMN_THREAD, end_thread, "→ threads", "where it ended"),
	PLAIN("start_ns", COLUMN_U64, start_ns, "ns", ""),
	PLAIN("end_ns", COLUMN_U64, end_ns, "ns", "latency is end_ns − start_ns"),
	PLAIN("key", COLUMN_BITS, key, "", "as recorded"),
	PLAIN("key_text", COLUMN_TEXT_OR_EMPTY, key_text, "", "the same of a file's"),
	PLAIN("pid", COLUMN_I32_OR_NEGATIVE, pid, "", "its process, without a thread"),
	PLAIN("parent_id", COLUMN_SPAN, parent, "→ spans", "the one it is nested in"),
	PLAIN("run_ns", COLUMN_U64, run_ns, "ns", "the parts of its wall time"),
	PLAIN("blocked_ns", COLUMN_U64, blocked_ns, "ns", ""),
	PLAIN("runnable_ns", COLUMN_U64, runnable_ns, "ns", ""),
	PLAIN("preempted_ns", COLUMN_U64, preempted_ns, "ns", "the part of runnable_ns"),
	PLAIN("unknown_ns", COLUMN_U64, unknown_ns, "ns", ""),
	PLAIN("interrupted_ns", COLUMN_U64, interrupted_ns, "ns",
	      "the part of run_ns that interrupts took"),
	PLAIN("handed_ns", COLUMN_U64_OR_0, handed_ns, "ns",
	      "when end_thread got it; NULL: one thread did it all"),
	ARGUED("open", COLUMN_BIT32, flags, OFF_OPEN, "0, 1", "cut by the recording's edge"),
	ARGUED("suspect", COLUMN_BIT32, flags, OFF_SUSPECT, "0, 1", "records were lost in it"),
	ARGUED("overlapped", COLUMN_BIT32, flags, SPAN_OVERLAPPED, "0, 1",
	       "its thread worked on other spans meanwhile"),
	ARGUED("call", COLUMN_BIT32, flags, SPAN_CALL, "0, 1",
	       "a function call, from a file given by `--with`"),
};
#undef ROW

#define ROW struct tl_label
static const struct column labels[] = {
	KEY(""),
	PLAIN("key", COLUMN_TEXT, key, "", ""),
	PLAIN("value", COLUMN_TEXT, value, "", ""),
	PLAIN("span_id", COLUMN_SPAN_KEY, span, "→ spans", "what it is said of"),
};
#undef ROW

#define ROW struct tl_counter
static const struct column counters[] = {
	KEY(""),
	PLAIN("span_id", COLUMN_SPAN_KEY, span, "→ spans", ""),
	PLAIN("event", COLUMN_TEXT, event, "", "`page-faults`, `task-clock` …"),
	PLAIN("value", COLUMN_U64, value, "the event's", "too low by `error` at most"),
	PLAIN("error", COLUMN_U64, error, "the event's", "0: the value is exact"),
	ARGUED("at_least", COLUMN_BIT32, flags, COUNTER_AT_LEAST, "0, 1",
	       "too low, by how much is unknown"),
	ARGUED("scaled", COLUMN_BIT32, flags, COUNTER_SCALED, "0, 1",
	       "extrapolated: the counter ran part of the time"),
};
#undef ROW

#define ROW struct tl_trampoline
static const struct column trampolines[] = {
	KEY(""),
	RECORDING,
	PLAIN("frame_id", COLUMN_FRAME, frame, "→ frames", "the function"),
	PLAIN("history", COLUMN_U32, history, "", "what it stood for: label_bindings.history"),
	PLAIN("pid", COLUMN_I32_OR_NEGATIVE, pid, "", "the process it applies to; NULL: all"),
};
#undef ROW

#define ROW struct tl_binding
static const struct column bindings[] = {
	KEY(""),
	RECORDING,
	PLAIN("history", COLUMN_U32, history, "", ""),
	PLAIN("from_ns", COLUMN_U64, from_ns, "ns",
	      "it holds until the next row of the same history"),
	PLAIN("key", COLUMN_TEXT, key, "", "the label"),
	PLAIN("value", COLUMN_TEXT, value, "", ""),
};
#undef ROW

#define ROW struct tl_mark
static const struct column marks[] = {
	KEY(""),
	RECORDING,
	PLAIN("thread_id", COLUMN_THREAD, thread, "→ threads", ""),
	PLAIN("time_ns", COLUMN_U64, time_ns, "ns", ""),
	PLAIN("cpu", COLUMN_CPU, cpu, "", ""),
	PLAIN("name", COLUMN_TEXT, name, "", "the event"),
	PLAIN("text", COLUMN_TEXT_OR_EMPTY, text, "",
	      "its fields as `perf script` prints them, or as `name=value`"),
	PLAIN("call_path_id", COLUMN_PATH, path, "→ call_paths", ""),
};
#undef ROW

#define ROW struct tl_interrupt
static const struct column interrupts[] = {
	KEY(""),
	RECORDING,
	PLAIN("cpu", COLUMN_CPU, cpu, "", ""),
	PLAIN("vector", COLUMN_TEXT, vector, "",
	      "`irq 25 virtio0-input`, `softirq NET_RX`, `local_timer` …"),
	PLAIN("start_ns", COLUMN_U64, start_ns, "ns", ""),
	PLAIN("end_ns", COLUMN_U64, end_ns, "ns",
	      "the time of a nested interrupt counts in both"),
	PLAIN("thread_id", COLUMN_THREAD, thread, "→ threads",
	      "whose time it was; NULL: the idle task's"),
};
#undef ROW

#define ROW struct tl_gap
static const struct column gaps[] = {
	KEY(""),
	RECORDING,
	PLAIN("cpu", COLUMN_CPU, cpu, "", ""),
	PLAIN("start_ns", COLUMN_U64, start_ns, "ns", "the gap is within start_ns and end_ns"),
	PLAIN("end_ns", COLUMN_U64, end_ns, "ns", ""),
	PLAIN("lost_ns", COLUMN_U64, lost_ns, "ns",
	      "its length; if less than end_ns − start_ns, its place is unknown"),
	PLAIN("thread_id", COLUMN_THREAD, thread, "→ threads",
	      "the program that measured it; NULL: unknown"),
	ARGUED("open", COLUMN_BIT8, flags, OFF_OPEN, "0, 1", "cut by the recording's edge"),
	ARGUED("control", COLUMN_BIT8, flags, GAP_CONTROL, "0, 1", "of the control CPU"),
};
#undef ROW

#define ROW struct tl_loss
static const struct column losses[] = {
	KEY(""),
	RECORDING,
	WORD("kind", kind, loss_kind_name, LOSS_KINDS,
	     "`lost` (count records), `hole` (a switch is missing), `throttle`, `disorder` "
	     "(the "
	     "order of the records is not sure)"),
	PLAIN("cpu", COLUMN_CPU, cpu, "", "NULL: unknown"),
	PLAIN("from_ns", COLUMN_U64, from_ns, "ns", "missing in (from_ns, to_ns]"),
	PLAIN("to_ns", COLUMN_U64, to_ns, "ns", ""),
	PLAIN("count", COLUMN_U64, count, "", "records lost"),
	PLAIN("sched", COLUMN_U8, sched, "0, 1", "scheduler records may be among them"),
};
#undef ROW

#define ROW struct timeline
static const struct column flat_recordings[] = {RECORDING_COLUMNS};
#undef ROW

#define ROW struct tl_site
static const struct column flat_sites[] = {
	SITE_COLUMNS,
	PLAIN("function", COLUMN_FUNCTION, frame, "", "the name of frame_id"),
};
#undef ROW

#define ROW struct frame
static const struct column flat_frames[] = {
	FRAME_COLUMNS,
	PLAIN("build_id", COLUMN_BUILD_ID, dso, "hex", "of the DSO; NULL if not recorded"),
	ARGUED("file_offset", COLUMN_OFFSET, addr, offsetof(struct frame, flags), "",
	       "with `--no-names`: where `symbols` of that build-id has its name; NULL: it was "
	       "looked up"),
};
#undef ROW

#define ROW struct call_path
static const struct column flat_call_paths[] = {
	CALL_PATH_COLUMNS,
	PLAIN("stack", COLUMN_STACK, frame, "",
	      "`root;...;leaf`, of paths that samples or waits have; `[FILE]`: code without a "
	      "name"),
	PLAIN("function", COLUMN_IN, frame, "",
	      "of such paths: the innermost function of the application, as in `v_offcpu`"),
};
#undef ROW

#define ROW struct tl_sample
static const struct column flat_samples[] = {
	PLAIN("time_ns", COLUMN_U64, time_ns, "ns", ""),
	PLAIN("thread_id", COLUMN_THREAD, thread, "→ threads", ""),
	PLAIN("comm_id", COLUMN_COMM, comm, "", "the thread's name then"),
	PLAIN("event_id", COLUMN_EVENT, event, "", ""),
	PLAIN("call_path_id", COLUMN_PATH, path, "→ call_paths", ""),
	PLAIN("cpu", COLUMN_CPU, cpu, "", ""),
	PLAIN("period", COLUMN_U64, period, "the event's", "as in `sample_rows` of a store"),
};
#undef ROW

#define ROW struct tl_event_sample
static const struct column flat_event_samples[] = {
	PLAIN("time_ns", COLUMN_TIME_OR_MAX, time_ns, "ns",
	      "NULL for the sums that `--off-cpu` writes at the end"),
	PLAIN("pid", COLUMN_I32, pid, "", "-1: unknown"),
	PLAIN("tid", COLUMN_I32, tid, "", ""),
	PLAIN("comm_id", COLUMN_COMM, comm, "", "the thread's name then"),
	PLAIN("event_id", COLUMN_EVENT, event, "", ""),
	PLAIN("call_path_id", COLUMN_PATH, path, "→ call_paths", ""),
	PLAIN("cpu", COLUMN_CPU, cpu, "", ""),
	PLAIN("period", COLUMN_U64, period, "the event's", ""),
};
#undef ROW

#define ROW struct worst_episode
static const struct column flat_episodes[] = {
	WORD("kind", kind, episode_kind_name, EPISODE_WINDOW, "`wait` or `span`"),
	PLAIN("name", COLUMN_TEXT_OR_EMPTY, name, "", "of a span"),
	PLAIN("nth", COLUMN_U32, nth, "", "1 is the longest of its kind and name"),
	PLAIN("population", COLUMN_U64, population, "",
	      "how many there were: those of which the percentile is"),
	PLAIN("start_ns", COLUMN_U64, start_ns, "ns", ""),
	ARGUED("duration_ns", COLUMN_LENGTH, end_ns, offsetof(struct worst_episode, start_ns),
	       "ns", ""),
	PLAIN("thread_id", COLUMN_THREAD, thread, "→ threads", ""),
	PLAIN("comm_id", COLUMN_COMM, comm, "", "the thread's name then"),
	WORD("cause", cause, cause_name, CAUSE_COUNT, "of its largest part, as in offcpu"),
	WORD("state", state, part_state_name, PART_UNKNOWN + 1, "in that part"),
	PLAIN("call_path_id", COLUMN_PATH, path, "→ call_paths", "of that part"),
	PLAIN("root_comm", COLUMN_COMM, root_comm, "", "the thread where its chain ended"),
	PLAIN("root_process", COLUMN_TEXT_OR_EMPTY, root_process, "", "and its program"),
	PLAIN("root_function", COLUMN_TEXT_OR_EMPTY, root_function, "",
	      "what that was in; `[FILE]`: code without a name"),
	WORD("root_state", root_state, part_state_name, PART_UNKNOWN + 1, "what it did"),
	WORD("root_cause", root_cause, cause_name, CAUSE_COUNT, "if blocked, why"),
	PLAIN("root_ns", COLUMN_U64, root_ns, "ns", "of the episode's time that explains"),
};
#undef ROW

#define ROW struct tl_fact
static const struct column context[] = {
	KEY(""),
	RECORDING,
	PLAIN("kind", COLUMN_TEXT, kind, "",
	      "`cpu`, `host`, `node`, `pressure`, `irq`, `softirq`, `disk`, `mount`, "
	      "`process`, "
	      "`cgroup`, `fd`, `population`"),
	PLAIN("subject", COLUMN_TEXT, subject, "",
	      "which: a CPU's number, a path, a pid, `PID/FD` …"),
	PLAIN("key", COLUMN_TEXT, key, "", "what: `cpu.max`, `nr_throttled`, `steal_ms` …"),
	PLAIN("before", COLUMN_TEXT_OR_EMPTY, before, "", "at the start; NULL: unknown"),
	PLAIN("after", COLUMN_TEXT_OR_EMPTY, after, "", "at the end"),
};
#undef ROW

#define ROW struct file_facts
static const struct column recording_files[] = {
	KEY(""),
	RECORDING,
	PLAIN("path", COLUMN_TEXT, path, "", "the path given to `import`, or the file in it"),
	WORD("mode", mode, file_mode_word, FILE_MODES, "`file`, `pipe`, `directory`"),
	PLAIN("big_endian", COLUMN_U8, big_endian, "0, 1", ""),
	PLAIN("compressed", COLUMN_U8, compressed, "0, 1", "by zstd"),
	PLAIN("bytes", COLUMN_U64, bytes, "bytes", "of records"),
	PLAIN("host", COLUMN_TEXT_OR_EMPTY, host, "", "as perf wrote it"),
	PLAIN("kernel", COLUMN_TEXT_OR_EMPTY, kernel, "", ""),
	PLAIN("arch", COLUMN_TEXT_OR_EMPTY, arch, "", ""),
	PLAIN("cpus", COLUMN_U32, cpus, "", "online; 0: unknown"),
	PLAIN("perf", COLUMN_TEXT_OR_EMPTY, perf, "", "its version"),
	PLAIN("cpu", COLUMN_TEXT_OR_EMPTY, cpu, "", "the processor's name"),
	PLAIN("command", COLUMN_LINE, command, "", "perf's command line"),
	PLAIN("clock", COLUMN_TEXT_OR_EMPTY, clock, "", "as recordings.clock; NULL: unknown"),
	PLAIN("first_ns", COLUMN_TIME_OR_MAX, first_ns, "ns", "the first sample with a time"),
	PLAIN("last_ns", COLUMN_U64, last_ns, "ns", "the last one"),
	PLAIN("lost", COLUMN_U64, lost, "", "records that perf lost"),
	PLAIN("dropped", COLUMN_U64, dropped, "", "samples that the kernel dropped"),
	PLAIN("broken", COLUMN_U64, broken, "", "records that could not be read"),
	PLAIN("unknown_records", COLUMN_U64, unknown_records, "", "of types past 127"),
	PLAIN("cut_off", COLUMN_U8, cut_off, "0, 1", "perf did not finish the file"),
	PLAIN("torn", COLUMN_TEXT_OR_EMPTY, torn, "", "why reading ended early"),
	PLAIN("has_names", COLUMN_U8, has_names, "0, 1", "unnamed_files was filled"),
	PLAIN("samples", COLUMN_U64, unnamed.samples, "",
	      "samples and waits whose frames were looked up"),
	PLAIN("named", COLUMN_U64, unnamed.named_leaf, "",
	      "… whose innermost function has a name"),
};
#undef ROW

#define ROW struct file_event
static const struct column recorded_events[] = {
	KEY(""),
	RECORDING,
	PLAIN("name", COLUMN_TEXT, name, "", "as perf names it"),
	PLAIN("tracepoint", COLUMN_U8, tracepoint, "0, 1", "a tracepoint or probe"),
	PLAIN("samples", COLUMN_U64, samples, "", ""),
	PLAIN("weight", COLUMN_U64, weight, "", "sum of their periods"),
	PLAIN("rate", COLUMN_U64, rate, "", "the period; if by_rate, samples per second"),
	PLAIN("by_rate", COLUMN_U8, by_rate, "0, 1", "`-F`, not `-c`"),
	WORD("stacks", stacks, event_stacks_word, EVENT_STACKS_KINDS,
	     "requested: `frame pointers`, `copies`, `branches`; NULL: none"),
};
#undef ROW

#define ROW struct file_records
static const struct column record_counts[] = {
	KEY(""),
	RECORDING,
	PLAIN("type", COLUMN_U32, type, "",
	      "its number in linux/perf_event.h; from 64 on perf's own"),
	PLAIN("count", COLUMN_U64, count, "", ""),
};
#undef ROW

#define ROW struct unnamed_file
static const struct column unnamed_files[] = {
	KEY(""),
	RECORDING,
	PLAIN("name", COLUMN_TEXT_OR_EMPTY, name, "",
	      "as dsos.name; NULL: no mapping holds the address"),
	PLAIN("samples", COLUMN_U64, samples, "", "with at least one such frame"),
	WORD("kind", kind, store_kind_word, DSO_SPECIAL + 2,
	     "`file`, `kernel`, `module`, `vdso`, `anonymous`, `bpf`, `special`"),
	WORD("reason", reason, store_reason_word, DSO_CYCLES + 1,
	     "why: `not found`, `other build`, `unchecked` (no build-id was recorded), `no "
	     "symbol` …"),
	PLAIN("path", COLUMN_TEXT_OR_EMPTY, path, "", "as recorded"),
	PLAIN("build_id", COLUMN_TEXT_OR_EMPTY, build_id, "hex", ""),
	PLAIN("pid", COLUMN_I32_OR_NEGATIVE, pid, "", "whose memory, if anonymous"),
	PLAIN("detail", COLUMN_TEXT_OR_EMPTY, detail, "", "the candidate that was refused"),
};
#undef ROW

#define ROW struct finding_row
static const struct column findings[] = {
	KEY(""),
	RECORDING,
	PLAIN("question", COLUMN_TEXT, question, "",
	      "`cpu`, `counts`, `offcpu`, `tail`, `made-for` (what the recording was evidently "
	      "made for); `samples`, `sample-counts` (`cpu` and `counts` by the samples alone: "
	      "warnings of `collapse` and `svg`)"),
	PLAIN("finding", COLUMN_TEXT, finding, "",
	      "the id that [doctor.md](doctor.md) explains"),
	PLAIN("harm", COLUMN_TEXT, harm, "", "`wrong`, `partial`, `advice`"),
	PLAIN("command", COLUMN_LINE, command, "",
	      "the corrected `perf record` line, if recording again helps"),
};
#undef ROW

#define ROW struct finding_fact
static const struct column finding_facts[] = {
	KEY(""),
	PLAIN("finding_id", COLUMN_FINDING, finding, "→ findings", ""),
	WORD("part", part, finding_part_word, FINDING_PARTS,
	     "of what `doctor` prints: `title`, `detail`, `remedy`"),
	PLAIN("line", COLUMN_U32, line, "", "the nth detail or remedy, from 0"),
	PLAIN("form", COLUMN_TEXT, form, "", "which sentence of `doctor` the fact belongs to"),
	PLAIN("name", COLUMN_TEXT_OR_EMPTY, name, "", "NULL: a sentence without facts"),
	WORD("unit", unit, fact_unit_word, FACT_UNITS,
	     "`count`, `share` (number / whole), `ns`, `bytes`, `cpu`, `pid`, `thread` (tid, "
	     "and "
	     "name), `counts` (a JSON array), `event`, `comm`, `file`, `path`, `build-id`, "
	     "`kind`, `reason`, `option` (of perf), `message`"),
	PLAIN("number", COLUMN_TIME_OR_MAX, number, "", "NULL for texts"),
	PLAIN("whole", COLUMN_U64_OR_0, whole, "", "what a share is of"),
	PLAIN("text", COLUMN_LINE, text, "", ""),
};
#undef ROW

#define ROW struct kept_code
static const struct column code[] = {
	KEY(""),
	RECORDING,
	PLAIN("dso", COLUMN_TEXT, dso, "", "as dsos.name"),
	PLAIN("function", COLUMN_TEXT, name, "", "as symbols.name"),
	PLAIN("address", COLUMN_BITS, address, "", "as frames.address"),
	WORD("status", status, code_status_word, CODE_STATUSES,
	     "NULL: known; `as built` (a vmlinux), or why not: `unknown` (reason), `no "
	     "length`, "
	     "`kernel`, `no file` (of a kernel module), `no jitdump`, `several`"),
	WORD("reason", reason, code_reason_word, DSO_CYCLES + 1, "as unnamed_files.reason"),
	PLAIN("start", COLUMN_BITS, start, "", "the code's first address in the file"),
	PLAIN("machine", COLUMN_U32, machine, "", "its number in elf.h: 62 is x86-64"),
	PLAIN("narrow", COLUMN_U8, narrow, "0, 1", "of 32 bits"),
	PLAIN("swapped", COLUMN_U8, swapped, "0, 1", "big-endian"),
	PLAIN("bytes", COLUMN_BLOB, bytes, "zstd", "its instructions"),
	PLAIN("lines", COLUMN_LINE, lines, "",
	      "`OFFSET:LINE …`: from each offset on, which line of the function; 0: unknown"),
};
#undef ROW

#define ROW struct kept_text
static const struct column texts[] = {
	KEY(""),
	RECORDING,
	PLAIN("dso", COLUMN_TEXT, dso, "",
	      "as dsos.name: its debug information names the file"),
	PLAIN("file", COLUMN_TEXT, file, "", "as files.name"),
	PLAIN("md5", COLUMN_TEXT_OR_EMPTY, md5, "hex",
	      "of the text that was compiled; NULL: unknown"),
	WORD("verdict", verdict, source_verdict_word, SOURCE_VERDICTS,
	     "whether the text is that: `same`, `unchecked`, `newer`, `other`, `absent`"),
	PLAIN("path", COLUMN_TEXT_OR_EMPTY, path, "",
	      "where it was found; NULL: in the debug information"),
	PLAIN("text", COLUMN_BLOB, text, "zstd", ""),
};
#undef ROW

#define OF_RECORDING "recording_id = ?1"
#define THREAD_OF "thread_id IN (SELECT id FROM threads WHERE recording_id = ?1)"
#define TASKS_OF "event_id IN (SELECT id FROM selected_events WHERE recording_id = ?1)"
#define SUMS_OF "task_id IN (SELECT id FROM sample_tasks WHERE " TASKS_OF ")"
#define ROWS_OF "sum_id IN (SELECT id FROM sample_sums WHERE " SUMS_OF ")"
#define FINDINGS_OF "finding_id IN (SELECT id FROM findings WHERE recording_id = ?1)"
#define SPANS_OF "span_id IN (SELECT id FROM spans WHERE recording_id = ?1)"
/* A recording's rows are together, before those of the next one. */
#define FROM_FIRST(first)                                             \
	"id >= (SELECT " first " FROM recordings WHERE id = ?1) AND " \
	"id < ifnull((SELECT min(" first                              \
	") FROM recordings WHERE id > ?1), 9223372036854775807)"
#define TABLE(columns) columns, COUNT_OF(columns)

const struct table store_tables[STORE_TABLES] = {
	[TABLE_RECORDINGS] = {"recordings", "One row for each imported file.",
			      TABLE(recordings), "id = ?1", NULL},
	[TABLE_COMMS] = {"comms", "Thread names.", TABLE(comms), NULL, NULL},
	[TABLE_THREADS] = {"threads",
			   "A reused tid gets another row. Without scheduler records, first_ns "
			   "= last_ns.",
			   TABLE(threads), OF_RECORDING, NULL},
	[TABLE_EVENTS] = {"selected_events", "The recorded events.", TABLE(events),
			  OF_RECORDING, NULL},
	[TABLE_DSOS] = {"dsos", "Files of code.", TABLE(dsos), OF_RECORDING, NULL},
	[TABLE_SYMBOLS] = {"symbols", "Functions.", TABLE(symbols), NULL, NULL},
	[TABLE_FILES] = {"files", "Source files.", TABLE(files), NULL, NULL},
	[TABLE_FRAMES] = {"frames", "Lines of stacks.", TABLE(frames),
			  FROM_FIRST("first_frame_id"), NULL},
	[TABLE_CALL_PATHS] = {"call_paths", "The tree of all stacks, outermost frame first.",
			      TABLE(call_paths), FROM_FIRST("first_call_path_id"), NULL},
	[TABLE_WAIT_FRAMES] =
		{"wait_frames",
		 "Of stacks at the start of a wait, the innermost frame of the application, as "
		 "`tail` names it; if none has a name, the innermost named user frame, else "
		 "the kernel's frame above its scheduler.",
		 TABLE(wait_frames), NULL, "call_path_id"},
	[TABLE_SITES] = {"sites",
			 "The places where threads wait ([sites.md](sites.md#the-rule)).",
			 TABLE(sites), OF_RECORDING, NULL},
	[TABLE_KINDS] = {"offcpu_kinds", "What off-CPU intervals have in common.", TABLE(kinds),
			 NULL, NULL},
	[TABLE_OFFCPU] = {"offcpu_rows",
			  "The off-CPU intervals, from the switch that takes a thread off a "
			  "CPU to the switch that puts it on one. Ask the view `offcpu`.",
			  TABLE(offcpu), THREAD_OF, NULL},
	[TABLE_TOTALS] = {"offcpu_totals", "`perf record --off-cpu` sums.", TABLE(totals),
			  THREAD_OF, NULL},
	[TABLE_TASKS] = {"sample_tasks", "Whom an event sampled, by one name.", TABLE(tasks),
			 TASKS_OF, NULL},
	[TABLE_SUMS] = {"sample_sums", "The samples of a task with one stack, added up.",
			TABLE(sums), SUMS_OF, NULL},
	[TABLE_SAMPLES] = {"sample_rows",
			   "The on-CPU samples in the order of time. Ask the view `samples`.",
			   TABLE(samples), ROWS_OF, "time_ns, nth"},
	[TABLE_EVENT_SAMPLES] = {"event_sample_rows",
				 "The same of tracepoints, probes and `--off-cpu`. Ask the "
				 "view `event_samples`.",
				 TABLE(event_samples), ROWS_OF, NULL},
	[TABLE_FOLDED_PATHS] = {"folded_paths",
				"Like call_paths, of samples only; unnamed frames that differ "
				"only by address are one.",
				TABLE(folded_paths), FROM_FIRST("first_folded_path_id"), NULL},
	[TABLE_FOLDED_SUMS] = {"folded_sums",
			       "The samples of an event, a thread name and a folded path, "
			       "added up: what `collapse` and `svg` show.",
			       TABLE(folded_sums), TASKS_OF, NULL},
	[TABLE_SPANS] = {"spans", "Work between two events, or of a file given by `--with`.",
			 TABLE(spans), OF_RECORDING, NULL},
	[TABLE_LABELS] = {"labels", "Of spans.", TABLE(labels), SPANS_OF, NULL},
	[TABLE_COUNTERS] = {"counters",
			    "What counters in a probe's group counted during a span.",
			    TABLE(counters), SPANS_OF, NULL},
	[TABLE_TRAMPOLINES] = {"trampolines",
			       "Functions through which a program calls labelled work "
			       "([labels.md](labels.md)).",
			       TABLE(trampolines), OF_RECORDING, NULL},
	[TABLE_BINDINGS] = {"label_bindings",
			    "Which label a trampoline stood for, and since when.",
			    TABLE(bindings), OF_RECORDING, NULL},
	[TABLE_MARKS] = {"marks", "Single events, with their fields.", TABLE(marks),
			 OF_RECORDING, NULL},
	[TABLE_INTERRUPTS] = {"interrupts",
			      "Interrupts, softirqs and vectors, where they were recorded.",
			      TABLE(interrupts), OF_RECORDING, NULL},
	[TABLE_GAPS] =
		{"gaps",
		 "Time for which a program did not get its CPU, measured by a jitter sampler.",
		 TABLE(gaps), OF_RECORDING, NULL},
	[TABLE_LOSSES] = {"losses", "What is missing.", TABLE(losses), OF_RECORDING, NULL},
	[TABLE_CONTEXT] = {"context",
			   "What the host knew before and after the recording "
			   "([context.md](context.md)). Rows of kind `population` are the "
			   "processes that were recorded for ([tail.md](tail.md#whose-waits)).",
			   TABLE(context), OF_RECORDING, NULL},
	[TABLE_RECORDING_FILES] = {"recording_files",
				   "What `perfkit report` says of a recording as a file.",
				   TABLE(recording_files), OF_RECORDING, NULL},
	[TABLE_RECORDED_EVENTS] = {"recorded_events", "Events: asked for, and recorded.",
				   TABLE(recorded_events), OF_RECORDING, NULL},
	[TABLE_RECORD_COUNTS] = {"record_counts", "Records by type.", TABLE(record_counts),
				 OF_RECORDING, NULL},
	[TABLE_UNNAMED_FILES] = {"unnamed_files",
				 "Files whose functions have no names, most samples first.",
				 TABLE(unnamed_files), OF_RECORDING, NULL},
	[TABLE_FINDINGS] = {"findings",
			    "What `perfkit doctor` found at import, for each question.",
			    TABLE(findings), OF_RECORDING, NULL},
	[TABLE_FINDING_FACTS] = {"finding_facts",
				 "The facts of findings, sentence by sentence.",
				 TABLE(finding_facts), FINDINGS_OF, NULL},
	[TABLE_CODE] = {"function_code",
			"The instructions of the functions that most samples and waits pass "
			"through (at most 1 MiB), for `source --asm` and `html`.",
			TABLE(code), OF_RECORDING, NULL},
	[TABLE_TEXTS] = {"source_texts",
			 "What is known of the source files of frames: texts from bundles, "
			 "--symfs and debug information (at most 16 MiB).",
			 TABLE(texts), OF_RECORDING, NULL},
};

const struct flat_table flat_tables[FLAT_TABLES] = {
	[FLAT_THREADS] = {"threads", TABLE(threads), "first_ns"},
	[FLAT_EVENTS] = {"events", TABLE(events), NULL},
	[FLAT_FRAMES] = {"frames", TABLE(flat_frames), NULL},
	[FLAT_CALL_PATHS] = {"call_paths", TABLE(flat_call_paths), NULL},
	[FLAT_SITES] = {"sites", TABLE(flat_sites), NULL},
	[FLAT_OFFCPU] = {"offcpu", TABLE(flat_offcpu), "start_ns"},
	[FLAT_TOTALS] = {"offcpu_totals", TABLE(totals), NULL},
	[FLAT_SAMPLES] = {"samples", TABLE(flat_samples), "time_ns"},
	[FLAT_EVENT_SAMPLES] = {"event_samples", TABLE(flat_event_samples), "time_ns"},
	[FLAT_SPANS] = {"spans", TABLE(spans), "start_ns"},
	[FLAT_LABELS] = {"labels", TABLE(labels), NULL},
	[FLAT_MARKS] = {"marks", TABLE(marks), "time_ns"},
	[FLAT_LOSSES] = {"losses", TABLE(losses), "from_ns"},
	[FLAT_EPISODES] = {"episodes", TABLE(flat_episodes), "start_ns"},
	[FLAT_COUNTERS] = {"counters", TABLE(counters), NULL},
	[FLAT_TRAMPOLINES] = {"trampolines", TABLE(trampolines), NULL},
	[FLAT_BINDINGS] = {"label_bindings", TABLE(bindings), "from_ns"},
	[FLAT_INTERRUPTS] = {"interrupts", TABLE(interrupts), "start_ns"},
	[FLAT_GAPS] = {"gaps", TABLE(gaps), "start_ns"},
	[FLAT_CONTEXT] = {"context", TABLE(context), NULL},
	[FLAT_RECORDING_FILES] = {"recording_files", TABLE(recording_files), NULL},
	[FLAT_RECORDED_EVENTS] = {"recorded_events", TABLE(recorded_events), NULL},
	[FLAT_RECORD_COUNTS] = {"record_counts", TABLE(record_counts), NULL},
	[FLAT_UNNAMED_FILES] = {"unnamed_files", TABLE(unnamed_files), NULL},
	[FLAT_FINDINGS] = {"findings", TABLE(findings), NULL},
	[FLAT_FINDING_FACTS] = {"finding_facts", TABLE(finding_facts), NULL},
	[FLAT_RECORDINGS] = {"recordings", TABLE(flat_recordings), "origin_ns"},
};
