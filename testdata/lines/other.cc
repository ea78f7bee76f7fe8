#include "inline.h"

volatile int sink;

int __attribute__((noinline)) get(int x)
{
	return sink + x;
}

void __attribute__((noinline)) put(int x)
{
	sink = x;
}

int other(int n)
{
	return shared_inline(n) * shared_inline(n + 1);
}
