/* log.c - requests.h for C++ programs. */
#include "requests.h"

uint64_t log_now(void);
void log_line(const char *kind, uint64_t since);
void log_idle(uint64_t since, uint64_t work_came);
void log_burn(uint64_t ns);
void log_role(const char *name);
void log_begin(int argc, char **argv);
int log_more(void);
int log_end(void);

uint64_t log_now(void)
{
	return now_ns();
}

void log_line(const char *kind, uint64_t since)
{
	truth(kind, since, now_ns());
}

void log_idle(uint64_t since, uint64_t work_came)
{
	idle_until(since, work_came);
}

void log_burn(uint64_t ns)
{
	burn_ns(ns);
}

void log_role(const char *name)
{
	role(name);
}

void log_begin(int argc, char **argv)
{
	requests_begin(argc, argv, "main");
}

int log_more(void)
{
	return more_requests();
}

int log_end(void)
{
	truth_write();
	return 0;
}
