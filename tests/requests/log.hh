/* log.hh - the log of requests.h, for C++ (whose atomics truth.h does not know). */
#pragma once
#include <cstdint>

extern "C" {
uint64_t log_now(void);
void log_line(const char *kind, uint64_t since);
void log_idle(uint64_t since, uint64_t work_came);
void log_burn(uint64_t ns);
void log_role(const char *name);
void log_begin(int argc, char **argv);
int log_more(void);
int log_end(void);
}
