/* patient.c - what the recordings of recipe.sh are of: patient deep|printf|sleep|astray|
 * bottom N. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static volatile int sink;

/* Deeper than a small stack copy holds. */
__attribute__((noinline)) static int down(int n)
{
	volatile char room[200];
	memset((void *)room, n, sizeof(room));
	if (n)
		return down(n - 1) + room[3];
	for (int i = 0; i < 20000; i++)
		sink += i;
	return room[5];
}

/* Time inside a library that was built without frame pointers. */
__attribute__((noinline)) static void print(void)
{
	char text[256];
	for (int i = 0; i < 300; i++)
		sink += snprintf(text, sizeof(text), "%d %s %g", i, "patient", i * 1.5);
}

/* As code without frame pointers does: %rbp is not a frame's. Here it leads to one whose caller
 * is mapped nowhere; 0 leads nowhere. */
static const long astray[2] = {0, 0x123456789000};

__attribute__((noinline)) static void with_rbp(const long *frame)
{
#ifdef __x86_64__
	__asm__ volatile("push %%rbp; mov %0, %%rbp; mov $20000000, %%ecx\n"
			 "1: dec %%ecx; jnz 1b; pop %%rbp" ::"r"(frame)
			 : "rcx", "memory", "cc");
#else
	sink += frame != NULL;
#endif
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";
	int n = argc > 2 ? atoi(argv[2]) : 1;
	for (int i = 0; i < n; i++) {
		if (!strcmp(what, "deep"))
			sink += down(40);
		else if (!strcmp(what, "printf"))
			print();
		else if (!strcmp(what, "astray"))
			with_rbp(astray);
		else if (!strcmp(what, "bottom"))
			with_rbp(NULL);
		else
			nanosleep(&(struct timespec){0, 1000000}, NULL);
	}
	return 0;
}
