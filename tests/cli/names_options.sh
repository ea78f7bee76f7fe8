#!/bin/sh
# --constructors, --simplify, --srcline: names on request, on a C++ program recorded here.
command -v g++ >/dev/null 2>&1 || { echo "no C++ compiler here: no g++"; exit 77; }
cat >p.cpp <<'EOF'
#include <functional>
#include <utility>
volatile unsigned x;
static void burn() { for (int i = 0; i < 200000; i++) x = x + i; }
struct Foo { Foo() { burn(); } Foo(const Foo &) { burn(); } Foo(Foo &&) { burn(); } };
__attribute__((noinline)) void call(const std::function<void(int)> &f) { f(1); }
int main()
{
	for (int i = 0; i < 100; i++) {
		Foo a;
		Foo b(a);
		Foo c(std::move(b));
		call([](int) { burn(); });
	}
}
EOF
g++ -O0 -g -fno-omit-frame-pointer -o prog-names p.cpp || exit 1
perf record -q -F 2999 -e cpu-clock -g -o p.data ./prog-names >/dev/null 2>perf.err || {
	echo "perf cannot record here: $(tail -1 perf.err)"
	exit 77
}
has()
{
	"$PERFKIT" collapse -q --no-inline $1 p.data >out || exit 1
	grep -q -- "$2" out || { echo "collapse $1: no '$2'"; cat out; exit 1; }
}
has '' ';main;Foo::Foo;burn'
has --constructors ';main;Foo::Foo;burn'
has --constructors ';main;Foo::copy_construct;burn'
has --constructors ';main;Foo::move_construct;burn'
has --simplify 'std::function<…>::operator()'
has --srcline ';burn:p.cpp:4 '
