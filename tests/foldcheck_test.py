#!/usr/bin/env python3
"""foldcheck_test.py: for every class of foldcheck.py a pair of stacks that it explains, and one
much like it that it must not explain. perfkit's line is the first, perf's the second."""
import sys

import foldcheck

SYMBOLS = {  # name: addresses
    "malloc": {1}, "__GI___libc_malloc": {1}, "free": {2},
    "<usize as core::fmt::Display>::fmt": {3}, "<u64 as core::fmt::Display>::fmt": {3},
    "<u8 as core::fmt::Display>::fmt": {4},
}

DEEP = ";".join("f%d" % i for i in range(200))
LAST_127 = ";".join("f%d" % i for i in range(73, 200))
LAST_126 = ";".join("f%d" % i for i in range(74, 200))

# class, perfkit's stack, perf's stack, perf's stack that must stay unexplained by that class
CASES = [
    ("noreturn", "a;_start;main;die;abort", "a;_start;main;next;abort", "a;_start;main;die;next"),
    ("past-start", "a;_start;f;g", "a;[unknown];h;_start;f;g", "a;[unknown];h;i;f;g"),
    ("truncated", "a;[truncated];f;g", "a;[unknown];f;g", "a;[unknown];f;h"),
    ("last-word", "a;_start;f;g", "a;[unknown];f;g", "a;[unknown];h;g"),
    ("cut-short", "a;_start;main;f;g", "a;f;g", "a;main;g"),
    ("cut-short", "a;[x];[x];f", "a;[x];f", "a;[y];f"),
    ("no-mapping", "a;[x];f;g", "a;[unknown];[x];f;g", "a;[x];[unknown];f;g"),
    ("leaf-alone", "a;main;f;[musl]", "a;[musl]", "a;main"),
    ("leaf-dropped", "a;[lib.so];[lib.so]", "a", "b"),
    ("leaf-dropped", "a;[lib.so];[[kernel.kallsyms]]", "a;[[kernel.kallsyms]]",
     "a;[[unknown.kallsyms]]"),
    ("skipped-caller", "a;_start;f;g;h", "a;_start;g;h", "a;_start;g;f"),
    ("wrong-caller", "a;_start;main;f;g", "a;x;y;g", "a;x;y;z"),
    ("max-stack", "a;" + DEEP, "a;" + LAST_127, "a;" + LAST_126),
    ("vdso-name", "a;main;__vdso_gettimeofday", "a;main;[[vdso]]", "a;main;[[vsyscall]]"),
    ("vdso-kernel", "a;main;[[vdso]]", "a;main;[[vdso]]_[k]", "a;main;[[vdso]]_[j]"),
    ("local-name", "a;main;f::{lambda(int)#1}::operator()", "a;main;f", "a;main;g"),
    ("jit-callers", "a;_start;main;jitted;g", "a;jitted;g", "a;main;g"),
    ("plt-header", "a;main;.plt", "a;main;[lib.so]", "a;main;lib"),
    ("plt-name", "a;main;malloc@plt", "a;main;@plt", "a;main;free@plt"),
    ("dso-blank", "a;main;[x ", "a;main;[unknown] ", "a;main;[unknown]"),
    ("address-form", "a;[lib.so <1f>]", "a;[lib.so <7f00001f>]", "a;[bil.so <7f00001f>]"),
    ("template-arguments", "a;main;std::function<void (int)>::operator()",
     "a;main;std::function<void ", "a;main;std::function"),
    ("return-type", "a;main;std::sort<P*, {lambda(int)#1}>", "a;main;void std::sort<P*, {lambda",
     "a;main;void std::sort<P*>, {lambda"),
    ("return-type", "a;main;ns::f<int>", "a;main;std::pair<int, char> const& ns::f<int>",
     "a;main;std::pair<int, ns::f<int>"),
    ("anonymous-namespace", "a;main;(anonymous namespace)::f;g", "a;main;g", "a;main;f;g"),
    ("short-comm", "X;main", "X_;main", "Y_;main"),
    ("short-comm", "X-7/7;main", "X_-7/7;main", "X_-7/8;main"),
    ("data-symbol", "a;main;[lib.so]", "a;main;a_table", "a;main;another_table"),
    ("own-name", "a;main;malloc", "a;main;__GI___libc_malloc", "a;main;free"),
    ("own-name", "a;main;<usize as core::fmt::Display>::fmt",
     "a;main;<u64 as core::fmt::Display>::fmt", "a;main;<u8 as core::fmt::Display>::fmt"),
    ("own-name", "a;main;unlink_chunk.constprop.0", "a;main;unlink_chunk", "a;main;unlink"),
    ("own-name", "a;main;std::__sort<std::vector<P, std::allocator<P> > >",
     "a;main;__sort<std::vector<P> >", "a;main;__sorted<std::vector<P> >"),
    ("own-name", "a;main;std::less<P>::operator()", "a;main;operator", "a;main;operator<"),
    ("first-query", "a;main;f_[i];g_[i]", "a;main;f;main", "a;main;main;g"),
    ("go-inlined", "a;main.main;main.(*T).add_[i];runtime.f", "a;main.main;runtime.f",
     "a;main.main;main.(*T).add"),
    ("chain-inlined", "a;main;f_[i];g", "a;main;g", "a;main;f"),
    ("lbr-leaf", "a;main;__sin_fma", "a;main;sin@plt", "a;main;cos@plt"),
    ("before-exec", "a;[unknown];[[kernel.kallsyms]]", "a;[old];[[kernel.kallsyms]]",
     "a;[old];execve"),
    ("before-exec", "a;[unknown];[[kernel.kallsyms]];read",
     "a;[[kernel.kallsyms]];read", "a;[[kernel.kallsyms]]"),
    ("before-exec", "a;[unknown];do_syscall_64;execve", "a;do_syscall_64;execve",
     "a;do_syscall_64;read"),
    ("exited-task", "sh;schedule", ":-1;schedule", "bash;schedule"),
    ("corrupt-callchain", "a;main;f", "a", "b"),
    ("ksymbol-overlap", "a;bpf_prog_1;bpf_f", "a;bpf_prog_1;bpf_g", "a;bpf_prog_1;g"),
    ("jit-reused-address", "a;main;[perf-7.map]", "a;main;jit_one", "a;main;[jit.so]"),
    ("lbr-empty", "a;[lib.so];f", "a;x;y;z;f", "b;x;y;z;f"),
]


def recording(name):
    rec = foldcheck.Recording()
    rec.after_noreturn = {"next"}
    rec.jitted = {"jitted"}
    rec.symbols.places = {n: {("file", a) for a in at} for n, at in SYMBOLS.items()}
    rec.symbols.data = {"a_table": {"lib.so"}}
    rec.symbols.go = {"main.main"}
    rec.kernel = {"do_syscall_64", "execve", "read"}
    rec.no_inlined = name == "chain-inlined"
    if name.startswith("lbr"):
        rec.lbr = {("__sin_fma", "sin@plt")}
    return rec


def explained(name, got, want):
    rec = recording(name)
    if name in ("own-name", "first-query", "go-inlined", "chain-inlined"):
        plain, rec.inlined = foldcheck.without_marks({got: 1})
        got = next(iter(plain))
    rest = foldcheck.differing({want: 1}, {got: 1})
    weights = foldcheck.classify(rest, rec)
    return name in weights and not any(rest.values())


def main():
    bad = 0
    for name, got, want, other in CASES:
        if not explained(name, got, want):
            print("%s does not explain\n  %s\n  %s" % (name, got, want))
            bad = 1
        if explained(name, got, other):
            print("%s explains what it must not\n  %s\n  %s" % (name, got, other))
            bad = 1
    untested = set(foldcheck.COMPUTED) | set(foldcheck.CAPPED)
    untested -= {case[0] for case in CASES} | {"no-time"}
    for name in sorted(untested):
        print("no case for %s" % name)
        bad = 1
    return bad


sys.exit(main())
