"""shots.py PERFKIT FLAMEAPI TIMELINEAPI OUTDIR - pictures of each kind, light and dark, to look at.

The stacks are made up: a small web server with a database, seen by tracing and sampling.
"""
import os
import random
import subprocess
import sys

import timelines
from webdriver import Browser, missing

PERFKIT, FLAMEAPI, TIMELINEAPI, OUT = sys.argv[1], sys.argv[2], sys.argv[3], os.path.abspath(sys.argv[4])

READ = ("entry_SYSCALL_64_after_hwframe_[k];do_syscall_64_[k];ksys_read_[k];vfs_read_[k]")
WORK = [
    ("nginx;main;ngx_master_process_cycle;ngx_worker_process_cycle;ngx_process_events_and_timers;"
     "ngx_epoll_process_events", 40),
    ("nginx;main;ngx_worker_process_cycle;ngx_http_handler;ngx_http_core_run_phases;"
     "ngx_http_static_handler", 90),
    ("java;start_thread;thread_native_entry;JavaThread::run;java/lang/Thread::run_[j];"
     "io/netty/NioEventLoop::run_[j];com/shop/Cart::checkout_[j]", 260),
    ("java;start_thread;thread_native_entry;JavaThread::run;java/lang/Thread::run_[j];"
     "io/netty/NioEventLoop::run_[j];com/shop/Search::query_[j];com/shop/Index::scan_[j]", 420),
    ("java;start_thread;thread_native_entry;GCTaskThread::run;StealTask::do_it;"
     "PSPromotionManager::drain_stacks_depth", 160),
    ("postgres;main;PostmasterMain;ServerLoop;BackendStartup;PostgresMain;exec_simple_query;"
     "PortalRun;ExecutorRun;ExecHashJoin", 330),
    ("postgres;main;PostmasterMain;ServerLoop;BackendStartup;PostgresMain;exec_simple_query;"
     "pg_parse_query;raw_parser;base_yyparse", 80),
    ("postgres;main;PostmasterMain;ServerLoop;BackendStartup;PostgresMain;finish_xact_command;"
     "CommitTransaction;XLogFlush;XLogWrite", 60),
]
TAILS = [
    ("", 3), (";memcpy_avx_unaligned_erms", 4), (";malloc;_int_malloc", 2),
    (";std::vector<std::string>::push_back_[i]", 2), (";hash_search_with_hash_value", 3),
    (";read;" + READ + ";ext4_file_read_iter_[k];filemap_read_[k];copy_page_to_iter_[k]", 4),
    (";read;" + READ + ";sock_read_iter_[k];tcp_recvmsg_[k];skb_copy_datagram_iter_[k]", 2),
    (";write;entry_SYSCALL_64_after_hwframe_[k];do_syscall_64_[k];ksys_write_[k];vfs_write_[k];"
     "sock_write_iter_[k];tcp_sendmsg_[k];tcp_write_xmit_[k];__dev_queue_xmit_[k]", 3),
    (";__GI___pthread_mutex_lock;futex_wait_[k];schedule_[k]", 1),
    (";asm_sysvec_apic_timer_interrupt_[k];irq_exit_rcu_[k];__do_softirq_[k];net_rx_action_[k]", 1),
]
WAITS = [("net", "epoll_wait;do_epoll_wait_[k];schedule_[k]", 30), ("lock", "pthread_mutex_lock;futex_wait_[k];schedule_[k]", 18),
         ("io", "read;vfs_read_[k];ext4_file_read_iter_[k];io_schedule_[k];schedule_[k]", 22),
         ("runqueue", "preempt_schedule_[k];schedule_[k]", 6), ("sleep", "nanosleep;do_nanosleep_[k];schedule_[k]", 9)]


def on_cpu(seed, shift=0):
    rng = random.Random(seed)
    for i, (base, weight) in enumerate(WORK):
        for j, (tail, share) in enumerate(TAILS):
            n = int(weight * share * rng.uniform(0.3, 1.3)) + (shift if (i, j) == (3, 4) else 0)
            if shift and (i, j) in ((5, 3), (1, 6)):
                continue
            yield base + tail, n


def off_cpu():
    rng = random.Random(5)
    for base, weight in WORK:
        for cause, tail, share in WAITS:
            yield cause, base + ";" + tail, int(weight * share * rng.uniform(0.2, 1.5) * 37)


def lines(pairs):
    return "".join("%s %d\n" % p for p in pairs)


def draw(name, text, *options):
    with open(os.path.join(OUT, name + ".folded"), "w") as out:
        out.write(text)
    subprocess.run([PERFKIT, "svg", os.path.join(OUT, name + ".folded"), "-o",
                    os.path.join(OUT, name + ".svg"), *options], check=True)


def wall():
    """The stacks with kinds, files and causes, as flameapi reads them."""
    kinds = {"k": 1, "j": 2, "i": 3}

    def frame(text):
        kind = kinds.get(text[-2:-1], 0) if text[-4:-2] == "_[" else 0
        dso = {1: "[kernel.kallsyms]", 2: "/tmp/perf-812.map"}.get(kind, "/usr/lib/libc.so.6")
        return "%s|%s||%d" % (text[:-4] if kind else text, dso, kind)

    for stack, n in on_cpu(1):
        yield "%d\t0\t%s\n" % (n * 1000, "\t".join(map(frame, stack.split(";"))))
    for cause, stack, n in off_cpu():
        yield "%d\t%d\t%s\t[%s]|||6\n" % (n * 9, n * 9, "\t".join(map(frame, stack.split(";"))), cause)


def draw_all():
    on = lines(on_cpu(1))
    what = "web1 \u00b7 2026-11-21 10:48:07 UTC \u00b7 30.0 s \u00b7 "
    draw("oncpu", on, "--title", "On-CPU Flame Graph", "--subtitle", what + "cycles at 99 Hz, all CPUs")
    draw("kind", on, "--title", "On-CPU Flame Graph", "--subtitle", what + "cycles at 99 Hz, all CPUs", "--color", "kind")
    draw("java", on, "--title", "On-CPU Flame Graph", "--subtitle", what + "java", "--color", "java", "--inverted")
    draw("mem", on, "--title", "Page Faults", "--subtitle", what + "page-faults", "--color", "mem", "--countname", "faults")
    draw("offcpu", lines((s, n) for _, s, n in off_cpu()), "--title", "Off-CPU Flame Graph",
         "--subtitle", what + "sched:sched_switch, time blocked and runnable", "--color", "io", "--countname", "us")
    draw("offwake", lines((s + ";--;swapper_[w];cpu_startup_entry_[w];ttwu_do_activate_[w]", n) for c, s, n in off_cpu() if c == "net")
         + lines((s + ";--;futex_wake_[w];do_syscall_64_[w];pthread_mutex_unlock_[w];java_[w]", n) for c, s, n in off_cpu() if c == "lock"),
         "--title", "Off-Wake Time Flame Graph", "--subtitle", what + "waiting stack, then its waker's, reversed", "--color", "chain", "--countname", "us")
    with open(os.path.join(OUT, "before.folded"), "w") as out:
        out.write(on)
    draw("after", lines(on_cpu(1, 900)))
    subprocess.run([PERFKIT, "svg", "--diff", os.path.join(OUT, "before.folded"), os.path.join(OUT, "after.folded"),
                    "-o", os.path.join(OUT, "diff.svg"), "--title", "On-CPU, before and after the release"], check=True)
    for name, mode, palette in (("wall", "wall", "hot"), ("dso", "plain", "dso")):
        subprocess.run([FLAMEAPI, mode, palette, "us", os.path.join(OUT, name + ".svg")], check=True,
                       input="".join(wall()).encode())
    draw("reverse", on, "--title", "On-CPU, merged from the leaf", "--subtitle", what + "cycles", "--reverse", "--inverted")


def draw_timelines():
    worlds = {"convoy": timelines.convoy()[0], "preempted": timelines.preempted(), "idle": timelines.idle(),
              "busy": timelines.busy(40, 4, 250), "episodes": timelines.episodes()}
    for name, world in worlds.items():
        subprocess.run([TIMELINEAPI, os.path.join(OUT, "timeline-%s.svg" % name)], check=True,
                       input=world.text().encode())


def hover(b, name):
    boxes = b.js("return document.documentElement.flame.boxes()")
    x = max((x for x in boxes if x["name"] == name), key=lambda x: x["w"])
    b.move(x["x"] + min(60, x["w"] / 2), x["y"] + 8)


def main():
    if missing():
        print("%s is not installed" % missing())
        sys.exit(77)
    os.makedirs(OUT, exist_ok=True)
    draw_all()
    draw_timelines()
    with Browser(1220, 900) as b:
        for name in sorted(f[:-4] for f in os.listdir(OUT) if f.endswith(".svg")):
            for dark in (False, True):
                b.dark(dark)
                b.open("file://" + os.path.join(OUT, name + ".svg"))
                b.shot(os.path.join(OUT, name + ("-dark" if dark else "") + ".png"))
        b.dark(False)
        for name, fragment, at in (("search", "#s=tcp_|sock_", None), ("focus", "#f=malloc", "malloc"),
                                   ("tooltip", "", "ExecHashJoin")):
            b.open("about:blank")
            b.open("file://" + os.path.join(OUT, "oncpu.svg") + fragment)
            if at:
                hover(b, at)
            b.shot(os.path.join(OUT, name + ".png"))
        for name, fragment, x, y in (("convoy", "#z0=9000000,24000000&i=0,7,11081193", 600, 256),
                                     ("busy", "#z0=100000000,104000000", 640, 300), ("convoy", "#s=fdatasync", 0, 0)):
            b.open("about:blank")
            b.open("file://" + os.path.join(OUT, "timeline-%s.svg" % name) + fragment)
            b.move(x, y)
            b.shot(os.path.join(OUT, "timeline-%s-%s.png" % (name, "search" if "s=" in fragment else "zoom")))
    print("pictures are in " + OUT)


main()
