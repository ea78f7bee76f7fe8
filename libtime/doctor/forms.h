/*
 * forms.h - the sentences of findings: one table of forms, and the facts that they need.
 *
 * A finding (findings.h) has a title, details and remedies. Each is a statement: a form, and
 * typed facts by name. A store keeps the form's key and the facts; render/text/finding_text.h
 * makes the sentence, for a recording as for its store.
 *
 * A form's text has places for facts, {NAME} or {NAME:HOW}; several facts of one name are
 * listed. A part in [] is left out if one of its facts is missing; {{ is a bracket. HOW:
 *
 *	(nothing)           the text, or the number
 *	,                   the number as 12,345
 *	record, is|are      a count: "1 record", "2 records"; both words if an s is not enough
 *	%1 %0 %5.1          a share in per cent with so many decimals, padded for columns
 *	%fine %rest         more decimals below 1 %; enough decimals not to read 0 or 100
 *	@ms @s @fiftieth    a time in ms, in s, a fiftieth of it in ms
 *	@thread             name/tid
 *	@where              numbers of a JSON array, drawn
 *	@reason             why a file was not used
 *	@others             all facts but the first: name = value, ...
 *
 * A title's key begins with the id of its finding, up to a slash.
 */
#ifndef LIBTIME_DOCTOR_FORMS_H
#define LIBTIME_DOCTOR_FORMS_H

#include "base/text/form_text.h"
#include "libtime/store/finding_rows.h"
#include "libtime/sched/timeline_answers.h"

#define FINDING_FORMS(F)                                                                       \
	/* the file */                                                                         \
	F(CUT_OFF, "cut-off",                                                                  \
	  "perf did not finish this file (killed?): build-ids and event names are missing")    \
	F(TORN, "cut-off/torn", "{what}[; {unread:%rest} of the recording could not be read]") \
	F(JOINED, "cut-off/joined", "{what}; it is not read")                                  \
	F(OWN_FILES, "own-files",                                                              \
	  "keep recordings in files of their own; perfkit import A B -o run.db puts several "  \
	  "into one store")                                                                    \
	F(INTERRUPT_PERF, "interrupt-perf",                                                    \
	  "end perf with Ctrl-C (kill -INT), not kill -9, and copy the file after perf has "   \
	  "ended")                                                                             \
	F(BAD_RECORDS, "bad-records", "{broken:broken record} skipped, first: {first}")        \
	F(COPY_AGAIN, "copy-again",                                                            \
	  "copy the file again; if that does not help, record with another version of perf")   \
	F(UNKNOWN_EVENT, "unknown-event",                                                      \
	  "skipped {samples:sample} of an event that the header does not describe")            \
	F(GUEST_SAMPLES, "guest-samples", "left out {samples:sample} taken in guests")         \
	F(NO_TIMES, "no-times", "{event} was recorded without times")                          \
	F(NO_MAPPING_TIMES, "no-times/mappings",                                               \
	  "{event} was recorded without times of mappings and names")                          \
	F(NO_INHERIT, "no-inherit",                                                            \
	  "{event} in a group (:S): only the first thread was measured")                       \
	F(NO_INHERIT_LATER, "no-inherit/later",                                                \
	  "{event} in a group (:S): threads that started later were not measured")             \
	F(NOT_MEASURED, "no-inherit/threads",                                                  \
	  "not measured: {thread:@thread}[ and {more} more]")                                  \
	F(INHERIT_COUNTERS, "inherit-counters",                                                \
	  "attach when all threads run (-p), or record with Linux 6.12 and perf 6.13: "        \
	  "perfkit record calls --inherit")                                                    \
	F(PARTED_GROUP, "parted-group",                                                        \
	  "{event} is not in the group of its counters (perf 6.12 and newer take it out): "    \
	  "calls have no counters")                                                            \
	F(GROUP_CYCLES, "group-cycles",                                                        \
	  "record with perfkit record calls, or put cycles into the group: -e "                \
	  "'{{{event},cycles,...}:S'")                                                         \
	F(HIDDEN_PIDS, "hidden-pids",                                                          \
	  "processes outside of perf's pid namespace were recorded with pid 0")                \
	F(RECORD_OUTSIDE, "record-outside",                                                    \
	  "record on the host, or in a container that shares its pids (--pid=host)")           \
	F(NO_SAMPLES, "no-samples", "no samples were recorded")                                \
	F(ONLY_AUX, "no-samples/aux",                                                          \
	  "no samples, only {aux:byte} of AUX trace, which perfkit does not decode")           \
	F(PERF_SCRIPT, "perf-script",                                                          \
	  "perf script decodes it; or record samples: perf record -g")                         \
	/* losses */                                                                           \
	F(LOST_RECORDS, "lost-records",                                                        \
	  "perf lost {lost:record} while recording ({lost:%fine})")                            \
	F(LOST_WHERE, "lost-records/where", "0 s |{lost:@where}| {duration:@s}")               \
	F(LOST_SCALE, "lost-records/scale", "@ = {most:record} lost in {duration:@fiftieth}")  \
	F(LOST_SAMPLES, "lost-samples", "the kernel dropped {dropped:sample} ({dropped:%1})")  \
	F(LOST_AT_END, "lost-samples/end",                                                     \
	  "the last {dropped:sample} ({dropped:%1}) are missing: perf did not read them")      \
	F(HOLES, "holes",                                                                      \
	  "{missing:context switch is|context switches are} missing where perf reported "      \
	  "no lost records; {suspect:%1} of waits are suspect")                                \
	F(HOLES_FILTER, "holes/filter", "{option} leaves switches out: record without it")     \
	F(NOT_THE_BUFFERS, "not-the-buffers",                                                  \
	  "no buffer was full (perf would have reported it): look for pauses (--control), "    \
	  "filters, or a virtual machine whose perf misses its idle CPUs (record --recorder "  \
	  "kernel does not)")                                                                  \
	F(SHORT_WAITS, "short-waits",                                                          \
	  "while the machine was busy, only waits over {over:@ms} have stacks")                \
	F(MORE_STACKS, "more-stacks",                                                          \
	  "choose fewer threads (-p, --comm), copy less (--stacks dwarf:2048), or let perf "   \
	  "record all stacks (--recorder perf)")                                               \
	F(THROTTLED, "throttled",                                                              \
	  "the kernel throttled sampling {times:time}: the rate was lower than requested")     \
	/* order */                                                                            \
	F(LATE_SORTED, "late-records",                                                         \
	  "{late:record} came too late, by up to {by:@ms}; the file was sorted as a whole")    \
	F(LATE_RECORDS, "late-records/moved",                                                  \
	  "{late:record} came too late, by up to {by:@ms}; {suspect:%1} of waits suspect")     \
	F(ASK_THE_FILE, "ask-the-file",                                                        \
	  "write the recording to a file (perf record -o perf.data) and read that: a file is " \
	  "sorted as a whole")                                                                 \
	F(CLOCK_BACK, "cpu-clocks/back",                                                       \
	  "the clock of a CPU ran backwards {times:time}, by up to {by:@ms}; {suspect:%1} of " \
	  "waits suspect")                                                                     \
	F(CPU_CLOCKS, "cpu-clocks",                                                            \
	  "the clocks of CPU {cpu} and {other_cpu} differ by at least {by:@ms}[, those of "    \
	  "{more} more pairs by less]; {suspect:%1} of waits suspect")                         \
	F(IMPOSSIBLE_ORDER, "cpu-clocks/order",                                                \
	  "{skewed:switch or wakeup is|switches and wakeups are} in an impossible order")      \
	F(CLOCK_SOURCE, "clock-source",                                                        \
	  "the recorded machine's CPUs disagree on the time: choose another of its clock "     \
	  "sources (available_clocksource in /sys/devices/system/clocksource/clocksource0, "   \
	  "as root), then record again")                                                       \
	/* events */                                                                           \
	F(NONE_MISSING, "tracepoint-sampled/complete",                                         \
	  "{event} was asked for with {option}; none of {samples:,} is missing")               \
	F(SOME_RECORDED, "tracepoint-sampled/counted",                                         \
	  "{event} was sampled ({option}): {samples:,} of {events:,} were recorded")           \
	F(TRACEPOINT_SAMPLED, "tracepoint-sampled",                                            \
	  "{event} was sampled ({option}), not recorded each time")                            \
	F(SWITCH_SAMPLED, "switch-sampled",                                                    \
	  "{event} was sampled ({option}), not recorded each time")                            \
	F(SWITCH_STANDS, "switch-sampled/others",                                              \
	  "samples of sched:sched_switch stand for others that are missing (perf inject -s?)") \
	F(HYBRID, "hybrid", "{core} and {atom} are added up: cycles of two kinds of cores")    \
	F(MULTIPLEXED, "multiplexed",                                                          \
	  "counters took turns: they counted {counted:%1} of the time")                        \
	F(CLOCK_MIXED, "clock-mixed", "{event} and {other} were recorded on different clocks") \
	F(CLOCK, "clock",                                                                      \
	  "no wall-clock reference was recorded (times are on the chosen clock)")              \
	F(CLOCK_OF_PERF, "clock/perf",                                                         \
	  "no wall-clock reference was recorded (times are on perf's own clock)")              \
	/* waits */                                                                            \
	F(OFFCPU_TOTALS, "offcpu-totals",                                                      \
	  "--off-cpu kept {sums:sum} of waiting, without their times")                         \
	F(PER_TASK, "per-task", "sched_switch was recorded for some threads only (no -a)")     \
	F(NO_EVENT_NAMES, "no-event-names", TIMELINE_NAMELESS)                                 \
	F(COPY_AT_THE_END, "copy-at-the-end",                                                  \
	  "copy the file again after perf has ended; if that does not help, record again and " \
	  "end perf with Ctrl-C")                                                              \
	F(NOT_SIMPLEPERF, "not-simpleperf",                                                    \
	  "simpleperf wrote no names of tracepoints; record waits with perf")                  \
	F(NO_SWITCHES, "no-switches", "no context switches were recorded")                     \
	F(SOME_CPUS, "some-cpus",                                                              \
	  "switches of only {cpus} of {online} CPUs were recorded (-C)")                       \
	F(NO_WAKEUPS, "no-wakeups", "switches were recorded, wakeups were not")                \
	F(RECORD_WAITS, "record-waits",                                                        \
	  "perfkit record tail records them, on all CPUs; counters of calls need a recording " \
	  "of their own, of threads")                                                          \
	F(WAKEUPS_MISSING, "wakeups-missing",                                                  \
	  "{missing:,} of {waits:wait} ended without a recorded wakeup")                       \
	/* stacks */                                                                           \
	F(NO_STACKS, "no-stacks", "{event} was recorded without stacks")                       \
	F(NO_USER_CHAINS, "one-sided-stacks/event",                                            \
	  "{event} has no user callchains: --call-graph dwarf, given for all events, takes "   \
	  "them from call-graph=fp")                                                           \
	F(LEFT_OUT, "one-sided-stacks/asked", "user callchains were left out on request")      \
	F(NO_USER_STACK, "one-sided-stacks",                                                   \
	  "{bare:%0} of {samples:sample} in system calls have no user stack")                  \
	F(NO_USER_FRAMES, "one-sided-stacks/user-code",                                        \
	  "{bare:%0} of {samples:sample} in user code have no user stack")                     \
	F(COPIES_LOSE, "copies-lose-more",                                                     \
	  "stack copies (--call-graph dwarf) would show it, but records are missing and "      \
	  "copies would lose more: first make a recording that loses none")                    \
	F(RECORD_CPU, "record-cpu",                                                            \
	  "in such a recording only switches have stack copies; perfkit record cpu takes "     \
	  "them for CPU time, too")                                                            \
	F(TRUNCATED_DUMPS, "truncated-dumps",                                                  \
	  "{short:%1} of stack copies were too short: {size} bytes; up to {needed} may be "    \
	  "needed")                                                                            \
	F(LARGER_LOSE, "larger-copies-lose-more",                                              \
	  "records are missing, and larger copies lose more: first make a recording that "     \
	  "loses none; then use larger copies, fewer events with stacks, or --call-graph fp "  \
	  "where programs keep frame pointers")                                                \
	F(LARGEST_COPIES, "largest-copies",                                                    \
	  "the kernel copies no more: build the program with -fno-omit-frame-pointer, then "   \
	  "record with -g")                                                                    \
	F(UNWIND_STOPPED, "unwind-stopped",                                                    \
	  "{stopped:%1} of stack copies end where the right file is not available")            \
	F(COPY_NAMED_FILES, "copy-named-files",                                                \
	  "run perfkit pack on the recorded machine, or copy the missing files from it")       \
	F(DEFERRED_MISSING, "deferred-missing",                                                \
	  "{samples:sample} announced a user stack that never arrived")                        \
	F(UNROOTED, "unrooted-stacks",                                                         \
	  "{ended:%1} of stack copies could not be followed to the outermost caller")          \
	F(END_NO_CFI, "unrooted-stacks/no-cfi",                                                \
	  "{ended:%5.1}  end in code without unwind information")                              \
	F(END_HOLE, "unrooted-stacks/untouched",                                               \
	  "{ended:%5.1}  end at a page of the stack that had never been touched, so it was "   \
	  "not copied")                                                                        \
	F(END_OTHER_STACK, "unrooted-stacks/signal-stack",                                     \
	  "{ended:%5.1}  end at a signal handler with a stack of its own: only that one was "  \
	  "copied")                                                                            \
	F(END_32BIT, "unrooted-stacks/32-bit",                                                 \
	  "{ended:%5.1}  end in 32-bit programs, which are not unwound")                       \
	F(END_LATE, "unrooted-stacks/precise",                                                 \
	  "{ended:%5.1}  end at a return instruction of a precise event, whose registers are " \
	  "one instruction late")                                                              \
	F(END_NO_CODE, "unrooted-stacks/no-code",                                              \
	  "{ended:%5.1}  end where there is no code, or because of broken unwind information") \
	F(BUILD_TABLES, "unwind-tables",                                                       \
	  "build that code with -fasynchronous-unwind-tables, or with "                        \
	  "-fno-omit-frame-pointer and record with -g; run-time compilers have an option to "  \
	  "keep frame pointers")                                                               \
	F(BUILD_POINTERS, "frame-pointers-instead",                                            \
	  "larger copies do not help: build with -fno-omit-frame-pointer, then record with "   \
	  "-g")                                                                                \
	F(SIGNAL_STACK, "signal-stack",                                                        \
	  "larger copies do not help: build with -fno-omit-frame-pointer, then record with "   \
	  "-g; or let the handler run on the thread's stack (sigaction without SA_ONSTACK)")   \
	F(POINTERS_32BIT, "frame-pointers",                                                    \
	  "build with -fno-omit-frame-pointer, then record with -g")                           \
	F(NOT_PRECISE, "not-precise",                                                          \
	  "record the event without the P modifier: -e cycles, not -e cycles:P")               \
	F(KEPT_POINTERS, "kept-frame-pointers",                                                \
	  "if that code keeps frame pointers (run-time compilers have an option for it), "     \
	  "record with -g")                                                                    \
	F(RETURN_PROBE, "return-probe",                                                        \
	  "{ended:%1} of stack copies end where a return probe replaced the return "           \
	  "address[ of {function}()]")                                                         \
	F(OTHER_PROBE, "no-return-probe",                                                      \
	  "record without the return probe (perf probe f%return, or a uretprobe of another "   \
	  "tool); or with -g, where frame pointers lead past the missing caller")              \
	F(LATE_REGISTERS, "late-registers",                                                    \
	  "{copies:%1} of stack copies are of precise events at a call or return, their "      \
	  "registers one instruction late")                                                    \
	F(LATE_CALL, "late-registers/call",                                                    \
	  "{copies:%5.1}  at a call: exact, without the return address it pushed")             \
	F(LATE_RETURN, "late-registers/return",                                                \
	  "{copies:%5.1}  at a return: the caller is the only one that fits (guessed)")        \
	F(LATE_LOST, "late-registers/lost",                                                    \
	  "{copies:%5.1}  at a return: no caller fits, the stack ends there")                  \
	F(DEEP_KERNEL, "deep-stacks",                                                          \
	  "{deep:%1} of callchains have {frames} frames, the most the kernel took")            \
	F(DEEP_ASKED, "deep-stacks/asked",                                                     \
	  "{deep:%1} of callchains have {frames} frames, the most the recording asked for")    \
	F(DEEP_UNWOUND, "deep-stacks/unwound",                                                 \
	  "{deep:%1} of stacks are deeper than 1024 frames")                                   \
	F(ASK_FOR_FRAMES, "ask-for-frames",                                                    \
	  "ask for more: --call-graph fp without ,{frames}, or a larger max-stack= of the "    \
	  "event; perf lock record always asks for 8")                                         \
	F(ALLOW_FRAMES, "allow-frames",                                                        \
	  "as root on the recorded machine, while nothing records: sysctl "                    \
	  "kernel.perf_event_max_stack={frames}; then record again")                           \
	F(SHOW_FRAMES, "show-frames", "--max-stack 8192 shows more of them")                   \
	F(ENDS_IN_LIBC, "fp-ends-in-libc",                                                     \
	  "{stacks:%1} of user stacks begin and end in the C library")                         \
	/* mappings and names */                                                               \
	F(MAPPINGS_MISSING, "mappings-missing",                                                \
	  "{samples:%1} of samples are of processes whose mappings were not recorded")         \
	F(MAPLESS_PROCESS, "mappings-missing/process",                                         \
	  "{samples:%5.1}  process {pid}, {comm}")                                             \
	F(MAPLESS_NAMELESS, "mappings-missing/nameless",                                       \
	  "{samples:%5.1}  process {pid}, nameless")                                           \
	F(RECORD_ALL, "record-all",                                                            \
	  "record as root, who may read the mappings of every process, and on all CPUs (-a), " \
	  "so that no exec is missed")                                                         \
	F(SKID, "kptr-restrict/skid",                                                          \
	  "{samples:sample} of user code came late, in the kernel (skid)")                     \
	F(SEE_KERNEL, "see-the-kernel",                                                        \
	  "record without :u as root (or kernel.perf_event_paranoid=1) to see what the "       \
	  "kernel does there")                                                                 \
	F(KERNEL_UNSEEN, "kptr-restrict/unseen",                                               \
	  "{samples:sample} in the kernel, but perf could not see where it lies")              \
	F(SHOW_KERNEL, "show-the-kernel",                                                      \
	  "as root on the recorded machine: sysctl kernel.kptr_restrict=0, then record again") \
	F(KPTR_RESTRICT, "kptr-restrict",                                                      \
	  "{samples:%1} of samples have kernel frames that only zeroed symbols could name")    \
	F(READ_KALLSYMS, "read-kallsyms",                                                      \
	  "as root on the recorded machine: sysctl kernel.kptr_restrict=0; cat "               \
	  "/proc/kallsyms >kallsyms; then --kallsyms kallsyms")                                \
	F(KERNEL_MISMATCH, "kernel-mismatch",                                                  \
	  "{samples:%1} of samples have frames of a kernel that is not the one here")          \
	F(COPY_KALLSYMS, "copy-kallsyms",                                                      \
	  "copy /proc/kallsyms of that boot (as root), then --kallsyms FILE; or its vmlinux "  \
	  "and --vmlinux FILE")                                                                \
	F(NO_KERNEL_SYMBOLS, "no-kernel-symbols",                                              \
	  "{samples:%1} of samples have unnamed kernel frames")                                \
	F(SAVE_KALLSYMS, "save-kallsyms",                                                      \
	  "on the recorded machine, before it reboots: sudo cat /proc/kallsyms >kallsyms; "    \
	  "then --kallsyms kallsyms")                                                          \
	F(BUILD_ID_MISMATCH, "build-id-mismatch",                                              \
	  "{samples:%1} of samples have frames of files that are another build here")          \
	F(COPY_FILES, "copy-files",                                                            \
	  "copy the files from the recorded machine below DIR, then --symfs DIR")              \
	F(SHARED_PATH, "shared-path",                                                          \
	  "{samples:%1} of samples have frames of files whose path several files had")         \
	F(NO_BUILD_IDS, "no-build-ids",                                                        \
	  "{samples:%1} of samples have frames of files recorded without build-id")            \
	F(UNMAPPED_FRAMES, "unmapped-frames",                                                  \
	  "{samples:%1} of samples have frames at addresses that no mapping of code holds")    \
	F(START_PERF_FIRST, "start-perf-first",                                                \
	  "code generated at run time, or a process whose mappings were not recorded: start "  \
	  "perf before it")                                                                    \
	F(MISSING_SYMBOLS, "missing-symbols", "{samples:%1} of samples have unnamed frames")   \
	F(COPY_OR_FETCH, "copy-or-fetch",                                                      \
	  "copy the files (or their debug files) from the recorded machine below DIR, then "   \
	  "--symfs DIR; or DEBUGINFOD_URLS; or perfkit pack there")                            \
	F(FILE, "file",                                                                        \
	  "{samples:%5.1}  {file}: {reason:@reason}[ ({detail})][, build-id {build_id}]")      \
	F(DEBUG_PARTS, "debug-parts-missing",                                                  \
	  "{parts:part} of debug information could not be used")                               \
	F(DEBUG_PART, "debug-parts-missing/part", "{part}")                                    \
	F(COPY_PARTS, "copy-parts",                                                            \
	  "copy them to where they were built, or beside the program; or perfkit pack on the " \
	  "machine that has them")                                                             \
	F(PYTHON_HIDDEN, "interpreter",                                                        \
	  "{samples:%1} of samples run Python code, but show only the interpreter's "          \
	  "functions")                                                                         \
	F(NODE_HIDDEN, "interpreter/node",                                                     \
	  "{samples:%1} of samples run JavaScript, but show only the interpreter's functions") \
	F(PHP_HIDDEN, "interpreter/php",                                                       \
	  "{samples:%1} of samples run PHP code, but show only the interpreter's functions")   \
	F(JAVA_HIDDEN, "interpreter/java",                                                     \
	  "{samples:%1} of samples run Java code, whose functions have no names")              \
	F(NAME_PYTHON, "name-python",                                                          \
	  "python3 -X perf_jit (3.13 and newer), recorded with -k mono --call-graph dwarf; "   \
	  "or python3 -X perf (3.12 and newer), recorded with -g, of a Python built with "     \
	  "frame pointers, as its trampolines have no unwind information")                     \
	F(NEWER_PYTHON, "newer-python",                                                        \
	  "use Python 3.12 or newer, which can name its functions for perf")                   \
	F(NAME_NODE, "name-node",                                                              \
	  "node --perf-basic-prof --interpreted-frames-native-stack, recorded with -g")        \
	F(NAME_PHP, "name-php",                                                                \
	  "php -d opcache.enable_cli=1 -d opcache.jit_buffer_size=64M -d "                     \
	  "opcache.jit=function "                                                              \
	  "-d opcache.jit_debug=16 (8.0 and newer; in php.ini for php-fpm), recorded with "    \
	  "-g: "                                                                               \
	  "the sampled function has its name, its callers do not")                             \
	F(NAME_JAVA, "name-java",                                                              \
	  "java -XX:+PreserveFramePointer -XX:+UnlockDiagnosticVMOptions "                     \
	  "-XX:+DumpPerfMapAtExit, recorded with -g")                                          \
	/* options of perf record, as remedies */                                              \
	F(ONE_EVENT, "one-event", "{option}: one event alone needs no turns")                  \
	F(ALL_SWITCHES, "all-switches", "{option}: every switch and wakeup of all CPUs")       \
	F(EXITS, "exits", "{option}: when threads end")                                        \
	F(EACH_TIME, "each-time", "{option}: tracepoints are then recorded each time")         \
	F(NO_GROUP, "no-group", "{option}: all threads are counted")                           \
	F(ALL_MAPPINGS, "all-mappings", "{option}: mappings of all processes")                 \
	F(SAMPLES, "samples", "{option}: samples are wanted")                                  \
	F(COMMON_CLOCK, "common-clock", "{option}: a clock that all CPUs and programs share")  \
	F(TIMES, "times", "{option}: every record has a time")                                 \
	F(MAPPED_IDS, "mapped-build-ids",                                                      \
	  "{option}: each mapping has the build-id of its file")                               \
	F(ALL_IDS, "all-build-ids", "{option}: build-ids of all mapped files")                 \
	F(STACK_COPIES, "stack-copies", "{option}: stack copies need no frame pointers")       \
	F(LARGER_COPIES, "larger-copies", "{option}: larger stack copies")                     \
	F(SMALLER_COPIES, "smaller-copies", "{option}: smaller stack copies")                  \
	F(BOTH_SIDES, "both-sides", "{option}: both sides of the stacks")                      \
	F(STACKS, "stacks", "{option}: stacks, with the callers")                              \
	F(LARGER_BUFFERS, "larger-buffers", "{option}: larger buffers")                        \
	F(FEWER_SAMPLES, "fewer-samples", "{option}: fewer samples")                           \
	F(NO_OPTION, "no-option",                                                              \
	  "no option would change it: record fewer events, or while the machine is less busy") \
	F(NOTHING_RAN, "nothing-ran",                                                          \
	  "what was recorded did not run: record for longer or while it is busy, or record "   \
	  "more (-a; without --no-inherit or --per-thread; a smaller -c)")

enum form {
	FORM_NONE, /* of a newer version, in a store: the first fact is its key */
#define FORM_NUMBER(name, key, text) FORM_##name,
	FINDING_FORMS(FORM_NUMBER)
#undef FORM_NUMBER
		FORMS
};

/* The key of FORM_NONE is "". */
const char *form_key(enum form form);
const char *form_text(enum form form);

/* The form with that key, or FORM_NONE. */
enum form form_find(const char *key);

struct fact {
	const char *name, *text; /* text: "" for numbers */
	uint64_t number,
		whole; /* number: UINT64_MAX for texts; whole: 0 except for FACT_SHARE */
	enum fact_unit unit;
};

/* A count, size, time … up to 2^63 - 1, the limit of a store's numbers. */
struct fact fact_number(const char *name, enum fact_unit unit, uint64_t n);

/* `part` of `whole`, at most all of it. */
struct fact fact_share(const char *name, uint64_t part, uint64_t whole);

/* A name, path, option or message; NULL is "". */
struct fact fact_text(const char *name, enum fact_unit unit, const char *text);

struct statement {
	enum form form;
	const struct fact *facts;
	size_t n;
};

/* The first fact with that name (n bytes), or NULL. */
const struct fact *statement_fact(const struct statement *s, const char *name, size_t n);

/* The order of statements: by their first text, then by form, then by all facts. */
int statement_compare(const struct statement *a, const struct statement *b);

/* 1 if the statement has every fact that its form requires. */
int statement_is_whole(const struct statement *s);

#endif
