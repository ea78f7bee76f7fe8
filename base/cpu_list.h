/* cpu_list.h - CPUs as the kernel and perf write them: "0,2-3". */
#ifndef BASE_CPU_LIST_H
#define BASE_CPU_LIST_H

/* The next number or range of *text, which is moved behind it: 1, 0 at the end; -1 where it is
 * none, runs backwards, or passes `max`. */
int cpu_list_next(const char **text, int max, int *from, int *to);

#endif
