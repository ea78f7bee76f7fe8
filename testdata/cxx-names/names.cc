// C++ names that are easily cut or blamed wrongly: std::function<void (int)>, operators, an
// anonymous namespace, a lambda; and a call that never returns, at the very end of its function:
// the return address is that of the next function, which never runs.
#include <cstdlib>
#include <ctime>
#include <functional>
#include <unistd.h>

static volatile unsigned sink;

namespace {
struct Adder {
	unsigned by;
	void operator()(int n) const
	{
		for (int i = 0; i < n; i++)
			sink = sink + by;
	}
};

template <typename T> struct Box {
	T value;
	bool operator<(const Box &o) const
	{
		for (int i = 0; i < 20000; i++)
			sink = sink + 1;
		return value < o.value;
	}
};

void in_anonymous_namespace(const std::function<void(int)> &f)
{
	f(20000);
}
} // namespace

extern "C" {
[[noreturn]] void spin_and_exit(double seconds);
void calls_what_never_returns();
void never_runs();

void spin_and_exit(double seconds)
{
	clock_t end = clock() + (clock_t)(seconds * CLOCKS_PER_SEC);
	while (clock() < end)
		for (int i = 0; i < 20000; i++)
			sink = sink + 3;
	_exit(0);
}

void calls_what_never_returns()
{
	spin_and_exit(0.4);
}

void never_runs()
{
	sink = 7;
}
}

int main()
{
	clock_t end = clock() + CLOCKS_PER_SEC / 2;
	while (clock() < end) {
		in_anonymous_namespace(Adder{2});
		in_anonymous_namespace([](int n) {
			for (int i = 0; i < n; i++)
				sink = sink + 5;
		});
		sink = sink + (Box<unsigned>{1} < Box<unsigned>{2});
	}
	calls_what_never_returns();
}
