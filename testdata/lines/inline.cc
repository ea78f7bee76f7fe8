// Nested inlining of every kind a name can take: see make.sh.
#include "inline.h"

namespace app
{
static inline int leaf(int x)
{
	return x * 3 + (x >> 1) * get(x);
}

namespace
{
template <class T> struct box {
	T v;
	inline T twice() const
	{
		return v + leaf(v) + get(v);
	}
	bool operator<(const box &o) const
	{
		return twice() < o.twice();
	}
};
} // namespace

struct worker {
	int n;
	__attribute__((noinline)) int run(int k);
	~worker();
};

worker::~worker()
{
	put(leaf(n));
}

int worker::run(int k)
{
	struct local {
		int q;
		int step(int i)
		{
			return shared_inline(q + i);
		}
	} l = {k};
	auto lam = [&](int a) { return leaf(a) + l.step(a); };
	int r = 0;
	for (int i = 0; i < n; i++) {
		box<int> a = {i}, b = {k};
		r += lam(i);
		if (a < b)
			r -= shared_inline(r);
	}
	return r;
}
} // namespace app

extern "C" int entry(int n)
{
	app::worker w = {n};
	if (__builtin_expect(n < 0, 0)) {
		put(n);
		__builtin_trap();
	}
	return w.run(n) + other(n);
}
