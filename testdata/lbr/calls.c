/* Calls as an LBR call stack has them: plain, inlined, and through a jump. The samples are in
 * samples.txt. */
volatile unsigned long sink;

static inline __attribute__((always_inline)) void turn(unsigned long n)
{
	for (unsigned long i = 0; i < n; i++)
		sink += i * n;
}

__attribute__((noinline)) void target(unsigned long n)
{
	turn(n);
}

/* Ends in a jump: target has no return address of its own. */
__attribute__((noinline)) void by_jump(unsigned long n)
{
	sink = n;
	target(n + 1);
}

__attribute__((noinline)) void by_call(unsigned long n)
{
	target(n + 2);
	sink = n;
}

int main(void)
{
	for (unsigned long k = 0; k < 1000; k++) {
		by_jump(k);
		by_call(k);
	}
	return 0;
}
