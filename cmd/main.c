#include <stdio.h>
int main(void)
{
	puts("perfkit " PERFKIT_VERSION);
	return 0;
}
