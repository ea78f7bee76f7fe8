/*
 * bench_deep.cc - what the benchmark of unwinding records, twice: while it is compiled (some
 * 20 s of clang++ -O2), and while it runs: stacks of 20 to 30 frames through templates, lambdas,
 * std::function, std::sort and std::regex, most of which is inlined.
 *
 *	bench_deep [ROUNDS]
 */
#include <algorithm>
#include <cstdlib>
#include <functional>
#include <map>
#include <memory>
#include <regex>
#include <string>
#include <tuple>
#include <unordered_map>
#include <variant>
#include <vector>

using keys = std::vector<std::string>;

volatile long sink;

template <int N> struct level {
	std::map<int, keys> by_round;
	std::unordered_map<std::string, std::tuple<int, level<N> *>> names;

	__attribute__((noinline)) long down(long x, const std::function<long(long)> &leaf)
	{
		by_round[N].push_back(std::to_string(x));
		std::sort(by_round[N].begin(), by_round[N].end(),
			  [](auto &a, auto &b) { return a.size() + N < b.size(); });
		names["x"] = {N, this};
		std::variant<long, std::string> v = level<N - 1>().down(x + 1, leaf);
		return N + std::visit(
				   [&](auto &&a) -> long {
					   if constexpr (std::is_same_v<
								 std::decay_t<decltype(a)>, long>)
						   return a + names.size();
					   else
						   return a.size();
				   },
				   v);
	}
};

template <> struct level<0> {
	__attribute__((noinline)) long down(long x, const std::function<long(long)> &leaf)
	{
		return leaf(x);
	}
};

static long match(const keys &all, long x)
{
	keys w = all;
	std::sort(w.begin(), w.end(), [](auto &a, auto &b) { return a < b; });
	std::regex re("k(e+)y([0-9]+)");
	std::smatch m;
	long n = 0;
	for (int i = 0; i < 30; i++)
		n += std::regex_match(w[(x + i) % w.size()], m, re);
	return n;
}

int main(int argc, char **argv)
{
	keys all;
	for (int i = 0; i < 300; i++)
		all.push_back("key" + std::to_string(i * 7919 % 1000));
	long rounds = argc > 1 ? std::atol(argv[1]) : 1000;
	for (long k = 0; k < rounds; k++)
		sink = level<10>().down(k, [&](long x) { return match(all, x); });
#ifdef COMPILE_MORE /* recorded while compiled: more of the same */
	sink = level<60>().down(0, [](long x) { return x; });
#endif
}
