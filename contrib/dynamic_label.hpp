// dynamic_label.hpp - labels for perf's samples that cost the program next to nothing: no system call,
// no probe, nothing at all per call but one more call.
//
//	dynamic_label::label query("query", std::to_string(id));        // binds a trampoline
//	query.apply([&] { search(index, words); });                     // calls through it, on any thread
//
//	DYNAMIC_LABELS=labels.txt perf record -k CLOCK_MONOTONIC -g ./server
//	perfkit svg --split label:query --with labels.txt perf.data -o by-query.svg
//
// A trampoline is one of 256 equal functions; which of them is on a stack tells which label was meant,
// with what was bound to it, and when. A label takes one from a pool, notes that with the time, and
// gives it back in the end. Bindings are kept in memory and written when 32,768 have come together and
// at exit, to the file that $DYNAMIC_LABELS names; without it nothing is kept. Build with
// -fno-omit-frame-pointer, or record with --call-graph dwarf.
//
// A label must outlive its calls. Labels nest; the innermost wins where keys are equal. Those that
// find the pool empty label nothing and are counted in the file. C++17, gcc or clang, Linux.
#ifndef DYNAMIC_LABEL_HPP
#define DYNAMIC_LABEL_HPP

#include <cstdio>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <time.h>
#include <type_traits>
#include <unistd.h>
#include <utility>
#include <vector>

namespace dynamic_label {

using call = void (*)(void *);

// The I in it keeps the compiler from making one of them all (a linker must not, either: no --icf=all);
// what stands behind the call keeps it from becoming a jump.
template <int I> [[gnu::noinline, gnu::used]] void trampoline(call f, void *arg)
{
	asm volatile("" : : "i"(I));
	f(arg);
	asm volatile("" : : "i"(I) : "memory");
}

class pool {
public:
	static constexpr int count = 256;

	static pool &instance()
	{
		static pool p;
		return p;
	}

	// The number of a trampoline that stands for the label from now on; -1: none is free.
	int bind(std::string_view key, std::string_view value)
	{
		std::lock_guard<std::mutex> lock(mutex);
		if (free.empty()) {
			lost++;
			return -1;
		}
		int i = free.back();
		free.pop_back();
		timespec t;
		clock_gettime(CLOCK_MONOTONIC, &t);
		if (file)
			history.push_back({i, t.tv_sec * 1000000000ll + t.tv_nsec, std::string(key),
					   std::string(value)});
		if (history.size() == 32768)
			write();
		return i;
	}

	void give_back(int i)
	{
		std::lock_guard<std::mutex> lock(mutex);
		free.push_back(i);
	}

	void (*const *trampolines() const)(call, void *) { return table; }

private:
	struct binding {
		int index;
		long long ns;
		std::string key, value;
	};

	pool() : pool(std::make_integer_sequence<int, count>()) {}

	template <int... I>
	explicit pool(std::integer_sequence<int, I...>) : table{trampoline<I>...}
	{
		const char *path = getenv("DYNAMIC_LABELS");
		for (int i = count; i-- > 0;)
			free.push_back(i);
		file = path ? fopen(path, "w") : nullptr;
		if (!file)
			return;
		history.reserve(32768);
		fprintf(file, "perfkit-labels v1\nclock mono\npid %d\n", getpid());
		for (int i = 0; i < count; i++)
			fprintf(file, "tramp %d dynamic_label::trampoline<%d>\n", i, i);
	}

	~pool()
	{
		std::lock_guard<std::mutex> lock(mutex);
		if (!file)
			return;
		write();
		if (lost)
			fprintf(file, "lost %llu\n", lost);
		fclose(file);
		file = nullptr;
	}

	void write()
	{
		for (const binding &b : history) {
			fprintf(file, "bind %d %lld ", b.index, b.ns);
			for (char c : b.key)
				fputc(c == ' ' || c == '\n' ? '_' : c, file);
			fputc(' ', file);
			for (char c : b.value)
				fputc(c == '\n' ? ' ' : c, file);
			fputc('\n', file);
		}
		history.clear();
	}

	std::mutex mutex;
	std::vector<int> free;
	std::vector<binding> history;
	unsigned long long lost = 0;
	FILE *file = nullptr;
	void (*const table[count])(call, void *);
};

class label {
public:
	label(std::string_view key, std::string_view value)
		: index(pool::instance().bind(key, value))
	{
	}
	~label()
	{
		if (index >= 0)
			pool::instance().give_back(index);
	}
	label(const label &) = delete;
	label &operator=(const label &) = delete;

	// Run f; samples taken in it, and waits, bear the label.
	template <class F> void apply(F &&f) const
	{
		auto run = [](void *arg) { (*static_cast<std::remove_reference_t<F> *>(arg))(); };
		void *arg = const_cast<void *>(static_cast<const void *>(std::addressof(f)));
		index >= 0 ? pool::instance().trampolines()[index](run, arg) : run(arg);
	}

private:
	int index;
};

} // namespace dynamic_label

#endif
