/* cpu_list.h - CPUs as the kernel and perf write them: "0,2-3". */
#ifndef BASE_CPU_LIST_H
#define BASE_CPU_LIST_H

/* Read the next number or range and move *text past it. 1; 0 at the end; -1 if the text is not
 * a range, the range runs backwards, or it exceeds `max`. */
int cpu_list_next(const char **text, int max, int *from, int *to);

#endif
