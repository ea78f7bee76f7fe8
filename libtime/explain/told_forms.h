/*
 * told_forms.h - the forms of the sentences of `tail`, as a table: key, and words with places for
 * arguments (base/text/form_text.h; told.h has the arguments). `make schema` writes it to
 * docs/tail-forms.json, from which other programs word the JSON.
 */
#ifndef LIBTIME_EXPLAIN_TOLD_FORMS_H
#define LIBTIME_EXPLAIN_TOLD_FORMS_H

#define TOLD_FORMS(F)                                                                          \
	F(COLON, "colon", ": ")                                                                \
	F(COMMA, "comma", ", ")                                                                \
	F(DOT, "dot", ".")                                                                     \
	F(SPACE, "space", " ")                                                                 \
	/* what several sentences say */                                                       \
	F(THREAD, "thread", "{thread}")                                                        \
	F(NAME, "name", "{name}")                                                              \
	F(IN, "in", " in {function}")                                                          \
	F(SYSCALL, "syscall", " in {call}()")                                                  \
	F(CALLED_BY, "called-by", " < {function}")                                             \
	F(STACK, "stack", "{stack}")                                                           \
	F(MECHANISM_STATE, "mechanism", "{what}")                                              \
	F(WAITING_FOR, "waiting-for", "waiting for {what}")                                    \
	F(DOING, "doing", " {what}")                                                           \
	F(OF_MECHANISM, "of-mechanism", ", {what}")                                            \
	F(OF_CAUSE, "of-cause", " ({cause})")                                                  \
	F(STATE, "state", "{state}")                                                           \
	F(BLOCKED, "blocked", "blocked ({cause})[ in {function}]")                             \
	F(ASLEEP, "asleep", "asleep[ in {function}]")                                          \
	F(IDLE_CPU, "idle-cpu", "waiting for an idle CPU to wake up[ (idle state {state})]")   \
	F(WANTS_CPU, "wants-cpu", "waiting for a CPU[ in {function}]")                         \
	F(QUOTA, "quota", " of {quota:@time} in {period:@time} ({cgroup})")                    \
	F(QUOTA_USED, "quota-used",                                                            \
	  " of {quota:@time} in {period:@time} ({cgroup}, throttled in {throttled} periods)")  \
	F(QUOTA_OFTEN, "quota-often",                                                          \
	  " of {quota:@time} in {period:@time} ({cgroup}, throttled in {throttled} of "        \
	  "{periods} periods)")                                                                \
	F(TARGET, "target", "[{path}][peer {peer}][ on {device}]")                             \
	F(DISK, "disk",                                                                        \
	  "a {operation} [of {bytes:@bytes} ][from {source}][to {sink}][of {disk}]: "          \
	  "[{late:@time} until it was submitted, ][{queued:@time} queued, ]{served:@time} "    \
	  "served")                                                                            \
	/* the opening sentence: who waited */                                                 \
	F(THE_WORST, "the-worst", "The worst [{kind}][{span} span]")                           \
	F(THE_LONGEST, "the-longest",                                                          \
	  "The longest of the {all:,} worst [{kind}][{span} span]s")                           \
	F(OF_THE_WORST, "of-the-worst", "{n:,} of {all:,} worst [{kind}][{span} span]s")       \
	F(OF_WHOM, "of-whom", "[ of {who}][ and {other}]: ")                                   \
	F(ALL_OF, "all-of", ", all of {who}: ")                                                \
	F(OF_WHOM_UNLIKE, "of-whom-unlike",                                                    \
	  "[ of {who}][ and {other}] (no two have the same root): ")                           \
	/* what held them up */                                                                \
	F(RUNNING, "running", "running[ {vector}][ {function}]")                               \
	F(INTERRUPTED, "interrupted", "interrupted by[ {vector}][ {function}]")                \
	F(PLACE, "place", "[ in {vector}][ in {function}]")                                    \
	F(MOSTLY_QUEUED, "mostly-queued", ", mostly without a CPU")                            \
	F(QUEUED_PART, "queued-part", ", without a CPU for {percent} % of it")                 \
	F(BY_QUOTA, "by-quota", "throttled by its CPU quota")                                  \
	F(BY_ITS_QUOTA, "by-its-quota", "throttled, its cgroup had used up its CPU quota")     \
	F(FOR_LOCK, "for-lock", "waiting for a lock")                                          \
	F(FOR_DEVICE, "for-device", "waiting for a device")                                    \
	F(FOR_PAGE, "for-page", "waiting for a page")                                          \
	F(FOR_NETWORK, "for-network", "waiting for the network")                               \
	F(FOR_CHILD, "for-child", "waiting for a child process")                               \
	F(LOCK_NAME, "lock-name", " ([taken in {function}][{lock}])")                          \
	F(HELD, "held", "{thread} held {what} {waiter} wanted")                                \
	F(HELD_THAT, "held-that", "{thread} held {what} that {waiter} wanted")                 \
	F(HELD_ALIKE, "held-alike", "{thread} held {what} that another {thread} wanted")       \
	F(WAITED, "waited", "{waiter} waited")                                                 \
	F(WAITING, "waiting", "waiting")                                                       \
	F(TO_EXIT, "to-exit",                                                                  \
	  " for {its} [thread {joined} to exit][child {child} to exit][child {started} to "    \
	  "call exec]")                                                                        \
	F(WAS_UNTIL, "was-until", "{waiter} was {what} until {thread} {did}")                  \
	F(WERE_UNTIL, "were-until", "{waiter} were {what} until {thread} {did}")               \
	F(FOR_THREAD, "for-thread", " for {thread}")                                           \
	F(FOR_WHICH, "for-which", " for {what}, which {thread} {did}")                         \
	F(HAD_THE_CPU, "had-the-cpu", "{thread} had the CPU")                                  \
	F(RECORDER_HAD, "recorder-had", "{thread}, which wrote this recording, had the CPU")   \
	F(TO_RECORD, "to-record", " to write this recording")                                  \
	F(GAVE_AWAY, "gave-away", " that {waiter} gave away")                                  \
	F(BY_YIELD, "by-yield", " (sched_yield)")                                              \
	F(SEVERAL_USED, "several-used", ", which several threads used in turn")                \
	F(NAMED_USED, "named-used", ", which {n:,} threads named {thread} had in turn")        \
	F(NAMED_OTHERS_USED, "named-others-used",                                              \
	  ", which {n:,} other threads named {thread} had in turn")                            \
	F(CROWD, "crowd",                                                                      \
	  " {thread} had woken [{least:,} to ]{n:,} threads[ named {name}] within {ns:@time}") \
	F(POOL, "pool", " All {n:,} threads[ named {thread}] were busy meanwhile")             \
	F(FOR_A_LOCK, "for-a-lock", " for a lock")                                             \
	F(READERS, "readers",                                                                  \
	  ", which [up to {most:,}][{n:,}] readers[ named {thread}] held in overlapping "      \
	  "turns")                                                                             \
	F(HELD_SO_LONG, "held-so-long", ", for {ns:@time}")                                    \
	F(IN_SOME, "in-some", " in {n:,} of them")                                             \
	F(LET_GO, "let-go", ", which {thread} let go last")                                    \
	F(ONE_LET_GO, "one-let-go", ", which one of {n} threads named {thread} let go last")   \
	F(SOME_LET_GO, "some-let-go", ", which one of the threads named {thread} let go last") \
	F(AND_N_HELD, "and-n-held", ", which {thread} and {n:other|others} held")              \
	F(AND_OTHERS_HELD, "and-others-held", ", which {thread} and others held")              \
	F(IN_TURN, "in-turn", " in turn")                                                      \
	F(HOLDER_UNSEEN, "holder-unseen", ", whose holder was not seen")                       \
	F(UNKNOWN, "unknown", "unknown[ in {function}]")                                       \
	F(RECORDS_MISSING, "records-missing", ", records are missing there")                   \
	F(WAKEUP_MISSING, "wakeup-missing", ", no wakeup was recorded")                        \
	F(DID_UNKNOWN, "did-unknown", "; what {thread} did is unknown")                        \
	F(IN_N_OF_THEM, "in-n-of-them", "in {n:,} of them ")                                   \
	F(IT_WAS, "it-was", "; it was ")                                                       \
	F(THREAD_WAS, "thread-was", "; {thread} was ")                                         \
	F(WHICH_WAS, "which-was", ", which was ")                                              \
	F(SHARE, "share", " ({percent} % of the time)")                                        \
	F(ALIKE, "alike", ", in {n:,} of them")                                                \
	F(ALIKE_THAT_WAY, "alike-that-way", ", that way in {n:,} of them")                     \
	F(OTHERS_WAITED, "others-waited", "; the other {n:,} waited for {thread}")             \
	F(OTHER_WAITED, "other-waited", "; the other waited for {thread}")                     \
	F(WHILE, "while", " while ")                                                           \
	F(BEHIND_MORE, "behind-more", ", behind {n} more")                                     \
	/* what most of them waited for, whoever held them up */                               \
	F(TAKER_HAD, "taker-had", ", which {thread} had")                                      \
	F(WHICH_DID, "which-did", ", which {thread} {did}")                                    \
	F(THEN_FOR_CPU, "then-for-cpu", ", then for a CPU")                                    \
	F(HOLDER_LACKED, "holder-lacked", "; its holder lacked a CPU")                         \
	F(HOLDERS_LACKED, "holders-lacked", "; its holders lacked a CPU")                      \
	F(WAKER_LACKED, "waker-lacked", "; its waker lacked a CPU")                            \
	F(CPU_LACKING, "cpu-lacking", "; a CPU was lacking")                                   \
	F(TAKER_OF, "taker-of", " {thread} had that CPU in {n:,}.")                            \
	/* before it: cycles that were slow without waiting */                                 \
	F(SLOW_CYCLES, "slow-cycles",                                                          \
	  "{n:,} of {all:,} slowest cycles[ of {who}] were {percent} % running")               \
	F(SAMPLES_IN, "samples-in", ", {percent} % of samples in")                             \
	F(SAMPLES_OF, "samples-of", ", {percent} % of samples {what}")                         \
	F(SLOW_IN, "slow-in", " {function}")                                                   \
	F(OTHER_STALLED, "other-stalled",                                                      \
	  ", while {thread} had no CPU[ for {percent} % of it]")                               \
	F(NAMED_STALLED, "named-stalled",                                                      \
	  ", while another thread named {thread} had no CPU[ for {percent} % of it]")          \
	F(SLOW_END, "slow-end", ". ")                                                          \
	/* after it: the host */                                                               \
	F(NODE, "node", " CPU {cpu} is in node {node}, one of {nodes}.")                       \
	F(STEAL, "steal",                                                                      \
	  " Over the whole recording, by /proc/stat, the hypervisor took {share:@share} of "   \
	  "CPU {cpu}.")                                                                        \
	F(PRESSURE, "pressure",                                                                \
	  " Over the whole recording, by /proc/pressure, tasks waited for {what} "             \
	  "{share:@share} of the time.")                                                       \
	/* groups: what their episodes have in common */                                       \
	F(ROOT_HAD_CPU, "root-had-cpu", "had the CPU")                                         \
	F(ROOT_HELD, "root-held", "held {what}")                                               \
	F(QUOTA_USED_UP, "quota-used-up", "CPU quota used up")                                 \
	F(AT, "at", " {function}")                                                             \
	F(AT_VECTOR, "at-vector", " {vector}")                                                 \
	F(IN_VECTOR, "in-vector", " in {vector}")                                              \
	F(NO_OTHER, "no-other", "no other thread")                                             \
	F(SEVERAL_HAD_CPU, "several-had-cpu", "several threads had its CPU")                   \
	F(HAD_ITS_CPU, "had-its-cpu", "had its CPU")                                           \
	F(WOKE_IT, "woke-it", "woke it ({cause})")                                             \
	F(NO_LABEL, "no-label", "(none)")                                                      \
	/* the root cause of one episode */                                                    \
	F(KERNEL_THREAD, "kernel-thread", "kernel thread {thread}")                            \
	F(A_THREAD, "a-thread", "thread {thread}")                                             \
	F(LASTED, "lasted", "{ns:@time}: ")                                                    \
	F(NICE, "nice", " (nice {nice})")                                                      \
	F(REALTIME, "real-time", " (real-time priority {priority})")                           \
	F(HAD_ITS_CPU_FOR, "had-its-cpu-for", " had its CPU for ")                             \
	F(HAD_CPU_FOR, "had-cpu-for", " had CPU {cpu} for ")                                   \
	F(HELD_FOR, "held-for", "held {what}[ {doing}] for ")                                  \
	F(TURN_FOR, "turn-for", "had its turn at the futex for ")                              \
	F(WOKE_FUTEX, "woke-futex", "woke it from its futex only after ")                      \
	F(POSTED, "posted", "posted the semaphore only after ")                                \
	F(SIGNALLED, "signalled", "signalled the condition only after ")                       \
	F(EXECED, "execed", "called exec or exited only after ")                               \
	F(EXITED, "exited", "exited only after ")                                              \
	F(KEPT_STOPPED, "kept-stopped", "kept it stopped for ")                                \
	F(REACHED_BARRIER, "reached-barrier", "reached the barrier only after ")               \
	F(ENDED_SAFEPOINT, "ended-safepoint", "ended the safepoint only after ")               \
	F(READ_SENT, "read-sent", "read what was sent only after ")                            \
	F(SENT_DATA, "sent-data", "sent the data only after ")                                 \
	F(KEPT_WAITING, "kept-waiting", "kept it waiting for ")                                \
	F(ALONE_UNKNOWN, "alone-unknown", "unknown: ")                                         \
	F(ALONE_QUOTA, "alone-quota", "a CPU quota: ")                                         \
	F(ALONE_NO_HOLDER, "alone-no-holder", "no holder seen: ")                              \
	F(ALONE, "alone", "no other thread: ")                                                 \
	F(ALONE_SHARED, "alone-shared", "no single thread: ")                                  \
	F(FOR_NS, "for-ns", "{ns:@part} ")                                                     \
	F(SMALLER_PARTS, "smaller-parts",                                                      \
	  ", {ns:@part} in {parts:smaller part|smaller parts}")                                \
	F(IN_SMALLER_PARTS, "in-smaller-parts", " in smaller parts")                           \
	F(THE_OTHER, "the-other", "; the other {ns:@part}")                                    \
	F(PACKETS_OF, "packets-of", " (whose packets is not recorded)")                        \
	F(INTERRUPTED_SAMPLED, "interrupted-sampled",                                          \
	  "interrupted by {function}, as samples show")                                        \
	F(RAN_UNSAMPLED, "ran-unsampled", "running unsampled code")                            \
	F(IN_IO, "in-io", "in {frame} (io)")                                                   \
	F(UNTIL_PACKET, "until-packet", ", until a packet arrived")                            \
	F(BY_INTERRUPT, "by-interrupt", ", ended by an interrupt (timer or device)")           \
	F(NOT_WOKEN, "not-woken", ", not woken before the recording ended")                    \
	F(NO_WAKEUP, "no-wakeup", ", no wakeup recorded")                                      \
	F(WAITS_IN_CHAIN, "waits-in-chain", ", waiting for a thread of this chain")            \
	F(TRUNCATED, "truncated", ", chain truncated here")                                    \
	F(TIMED_OUT, "timed-out", ", which timed out")                                         \
	F(NO_HOLDER, "no-holder", ", holder unknown")                                          \
	F(HELD_IN_TURN, "held-in-turn",                                                        \
	  " ({n:,} threads held it in turn, longest {thread}[ in {function}] for {ns:@part}, " \
	  "{percent} %)")                                                                      \
	F(KEPT_THERE, "kept-there",                                                            \
	  " ({thread} kept it there for {ns:@part}, {percent} %[, {others:other|others} for "  \
	  "{rest:@part}])")                                                                    \
	F(USED_CPU, "used-cpu",                                                                \
	  " ({thread} used it for {ns:@part}, {percent} %[, {others:other|others} for "        \
	  "{rest:@part}][, {all_others:other|others} for the rest][, unrecorded for "          \
	  "{unseen:@part}])")                                                                  \
	F(CPU_OF_CHAIN, "cpu-of-chain", "waiting for a CPU that this chain was using")         \
	F(CPU_UNKNOWN, "cpu-unknown", "waiting for a CPU (who used it was not recorded)")      \
	F(THROTTLED, "throttled",                                                              \
	  "throttled[ in {function}]: its cgroup had used up its CPU quota")                   \
	F(WHY_MISSING, "why-missing", " (records are missing there)")                          \
	F(WHY_NO_WAKE, "why-no-wake", " (no wakeup recorded)")                                 \
	F(WHY_CUT, "why-cut", " (cut off by the edge of the recording)")                       \
	F(WHY_UNRECORDED, "why-unrecorded", " (not recorded)")                                 \
	F(GAVE_WORK, "gave-work", "; {thread} gave it")                                        \
	F(ITSELF_GAVE_WORK, "itself-gave-work", "; {thread} itself gave it")                   \
	F(TIMER_GAVE_WORK, "timer-gave-work", "; an interrupt or timer gave it")               \
	F(THAT_WORK, "that-work", " that work")                                                \
	F(WORK_FOR, "work-for", " work for {ns:@part}")                                        \
	F(WORK_UNKNOWN, "work-unknown", ", for whom is not recorded")                          \
	F(WORK_IN, "work-in", ", in {stack}")                                                  \
	F(INVERSION, "inversion", "; priority inversion: {thread}")                            \
	F(WAITED_LOCK_OF, "waited-lock-of", " waited for a lock held by {thread}")             \
	F(HAD_NO_CPU, "had-no-cpu", ", which had no CPU")

#endif
