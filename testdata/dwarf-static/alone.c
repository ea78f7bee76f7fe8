/* Static, not position independent, without .eh_frame_hdr, as static programs of Debian 12 are,
 * and without a C library. _start calls begin calls turn calls descend, which calls itself and
 * leaf; CFI alone can unwind it. */
static volatile unsigned sink;

static unsigned leaf(unsigned x)
{
	for (int i = 0; i < 200; i++)
		x = x * 1664525u + 1013904223u;
	return x;
}

static unsigned descend(unsigned x, int depth)
{
	volatile unsigned local[6] = {x};
	if (depth)
		local[1] = descend(leaf(x), depth - 1);
	return leaf(local[0] + local[1]);
}

static void turn(void)
{
	for (unsigned i = 0; i < 500; i++)
		sink += descend(i, (int)(i % 5));
}

void begin(void)
{
	for (int i = 0; i < 1500; i++)
		turn();
	__asm__ volatile("syscall" : : "a"(60), "D"(0)); /* exit */
}

/* The end of every stack: no return address. */
__asm__(".globl _start\n"
	".type _start, @function\n"
	"_start:\n"
	".cfi_startproc\n"
	".cfi_undefined rip\n"
	"	and $-16, %rsp\n"
	"	call begin\n"
	"	hlt\n"
	".cfi_endproc\n"
	".size _start, .-_start\n");
