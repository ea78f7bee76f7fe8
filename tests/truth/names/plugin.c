/* plugin.c - one version of a plugin that native.c loads: TN(x) appends the version to each name. */
#include <stdint.h>
#define TEXT_(x) #x
#define TEXT(x) TEXT_(x)
#define SPIN(n) for (uint32_t i_ = 0; i_ < (n); i_++) sink = sink * 31 + i_
static volatile uint64_t sink;
#ifdef MOVED
__attribute__((noinline)) void TN(tn_moved)(void)
{
	SPIN(MOVED);
	SPIN(MOVED + 1);
}
#endif
__attribute__((noinline)) static void TN(tn_work)(void) { SPIN(200000); }
void tn_plugin(void);
void tn_plugin(void)
{
	TN(tn_work)();
	__asm__ volatile("");
}
const char *tn_chain = "tn_plugin;" TEXT(TN(tn_work));
