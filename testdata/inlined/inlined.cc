/* Functions inlined into each other: with linkage names, without them (lambdas and templates of
 * local types), and ones that the compiler cloned. */
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <map>
#include <numeric>
#include <string>
#include <vector>

struct point {
	double x, y;
	double length() const { return std::sqrt(x * x + y * y); }
};

static uint64_t state = 88172645463325252ull;
static inline uint64_t next()
{
	state ^= state << 13;
	state ^= state >> 7;
	return state ^= state << 17;
}

static double sorted(std::vector<point> &v)
{
	std::sort(v.begin(), v.end(),
		  [](const point &a, const point &b) { return a.length() < b.length(); });
	return std::accumulate(v.begin(), v.end(), 0.0,
			       [](double s, const point &p) { return s + p.length(); });
}

/* Called with one argument only: becomes power.constprop.0. */
__attribute__((noinline)) static uint64_t power(uint64_t base, unsigned n)
{
	uint64_t r = 1;
	for (; n; n--)
		r = r * base % 1000000007;
	return r;
}

static size_t words()
{
	std::map<std::string, int> m;
	for (int i = 0; i < 4000; i++)
		m["k" + std::to_string(next() % 800)]++;
	return std::accumulate(m.begin(), m.end(), size_t(0),
			       [](size_t n, const auto &e) { return n + e.second; });
}

int main()
{
	double s = 0;
	size_t n = 0;
	for (int k = 0; k < 60; k++) {
		std::vector<point> v(8000);
		for (auto &p : v)
			p = {double(next() % 1000), double(next() % 1000)};
		s += sorted(v);
		n += words() + power(next() | 1, 40000);
	}
	printf("%g %zu\n", s, n);
}
