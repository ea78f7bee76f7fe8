/*
 * futures LOG - requests that wait for a std::future which a worker of a pool fulfils.
 * "request": the stay in get(); "idle": a worker on its empty queue.
 */
#include <condition_variable>
#include <deque>
#include <future>
#include <mutex>
#include <thread>
#include <vector>

#include "log.hh"

namespace
{
std::mutex m;
std::condition_variable work;
std::deque<std::packaged_task<int()>> tasks;
std::deque<uint64_t> came;
bool stop;

bool run_one()
{
	std::unique_lock<std::mutex> lock(m);
	while (tasks.empty() && !stop) {
		uint64_t t = log_now();
		work.wait(lock);
		log_idle(t, came.empty() ? 0 : came.front());
	}
	if (tasks.empty())
		return false;
	auto task = std::move(tasks.front());
	tasks.pop_front();
	came.pop_front();
	lock.unlock();
	task();
	return true;
}

__attribute__((noinline)) int compute(int n)
{
	log_burn(50000);
	if (n % 8 == 3)
		std::this_thread::sleep_for(std::chrono::milliseconds(7));
	return n;
}

__attribute__((noinline)) int handle(int n)
{
	std::packaged_task<int()> task([n] { return compute(n); });
	auto answer = task.get_future();
	uint64_t t = log_now();
	{
		std::lock_guard<std::mutex> lock(m);
		tasks.push_back(std::move(task));
		came.push_back(log_now());
	}
	work.notify_one();
	int got = answer.get();
	log_line("request", t);
	return got;
}
} // namespace

int main(int argc, char **argv)
{
	std::vector<std::thread> workers, fronts;
	log_begin(argc, argv);
	for (int i = 0; i < 2; i++)
		workers.emplace_back([] {
			log_role("worker");
			while (run_one()) {
			}
		});
	for (int i = 0; i < 3; i++)
		fronts.emplace_back([] {
			log_role("front");
			for (int n = 0; log_more(); n++) {
				handle(n);
				log_burn(30000);
			}
		});
	for (auto &t : fronts)
		t.join();
	{
		std::lock_guard<std::mutex> lock(m);
		stop = true;
	}
	work.notify_all();
	for (auto &t : workers)
		t.join();
	return log_end();
}
