// A C++ program with a known shape: main → run → accumulate → (inlined) twice → spin, and
// stacks that need DWARF. Runs about a third of a second.
#include <cstdio>
#include <functional>
#include <map>
#include <string>
#include <vector>

static inline double spin(double x)
{
	for (int i = 0; i < 300; i++)
		x = x * 1.0000001 + 0.5;
	return x;
}

template <class F> static inline double twice(F f, double x)
{
	return f(f(x));
}

template <class T> __attribute__((noinline)) T accumulate(const std::vector<T> &v)
{
	T sum = 0;
	for (const T &x : v)
		sum += twice([](T y) { return spin(y); }, x);
	return sum;
}

__attribute__((noinline)) double run(int n)
{
	std::map<std::string, double> m;
	std::vector<double> v;
	for (int i = 0; i < n; i++)
		m["key" + std::to_string(i)] = i * 7 % 13;
	for (auto &p : m)
		v.push_back(p.second);
	return accumulate(v);
}

int main()
{
	double s = 0;
	for (int i = 0; i < 300; i++)
		s += run(300);
	std::printf("%f\n", s);
}
