/* findings_order.c - findings about times: late records, CPUs whose clocks differ. */
#include "base/count.h"
#include "libtime/doctor/findings_internal.h"

#include <stdio.h>

typedef unsigned long long ull;

enum { TIME_TEXT = 32 };

/* Milliseconds, cut and not rounded: what is said is "at least" or "up to". */
static const char *ms_text(uint64_t ns, char text[TIME_TEXT])
{
	if (ns < 100000000)
		snprintf(text, TIME_TEXT, "%llu.%02llu ms", (ull)ns / 1000000,
			 (ull)ns / 10000 % 100);
	else
		snprintf(text, TIME_TEXT, "%llu ms", (ull)ns / 1000000);
	return text;
}

static double suspect_share(const struct timeline *tl)
{
	uint64_t suspect = 0;
	for (size_t i = 0; i < tl->off.n; i++)
		suspect += !!(tl->off.v[i].flags & OFF_SUSPECT);
	return percent(suspect, tl->off.n);
}

static enum finding_severity harm_of(double share)
{
	return share >= 50 ? SEVERITY_WRONG : SEVERITY_PARTIAL;
}

void diagnose_ask_the_file(struct diagnosis *j, struct finding *f)
{
	diagnose_remedy(
		j, f,
		"write the recording to a file (perf record -o perf.data) and read that: "
		"a file is sorted as a whole");
}

static void diagnose_late(struct diagnosis *j, const struct tl_disorder *d, double share)
{
	char by[TIME_TEXT];
	if (!d->late)
		return;
	ms_text(d->late_ns, by);
	if (!d->moved) {
		diagnose_add(j, "late-records", SEVERITY_ADVICE,
			     "%s came too late, by up to %s; the file was sorted as a whole",
			     COUNT(d->late, "record"), by);
		return;
	}
	struct finding *f =
		diagnose_add(j, "late-records", harm_of(share),
			     "%s came too late, by up to %s; %.1f %% of waits suspect",
			     COUNT(d->late, "record"), by, share);
	diagnose_ask_the_file(j, f);
}

/* A clock that all CPUs share, where that was not what they had. */
static void remedy_clock(struct diagnosis *j, struct finding *f)
{
	struct remedy change = {.clock = 1};
	for (size_t i = 0; i < j->rec->events.n; i++)
		if (attr_flag(&j->rec->events.v[i].attr, ATTR_USE_CLOCKID)) {
			diagnose_remedy(
				j, f,
				"the recorded machine's CPUs disagree on the time: choose "
				"another of its clock sources (available_clocksource in "
				"/sys/devices/system/clocksource/clocksource0, as root), "
				"then record again");
			return;
		}
	diagnose_record(j, f, &change);
}

static void diagnose_skew(struct diagnosis *j, const struct tl_disorder *d, double share)
{
	char by[TIME_TEXT], more[64] = "";
	if (!d->skew_ns)
		return;
	if (d->skewed_pairs > 1)
		snprintf(more, sizeof(more), ", those of %llu more pairs by less",
			 (ull)d->skewed_pairs - 1);
	struct finding *f = diagnose_add(
		j, "cpu-clocks", harm_of(share),
		"the clocks of CPU %u and %u differ by at least %s%s; %.1f %% of "
		"waits suspect",
		d->skew_cpus[0], d->skew_cpus[1], ms_text(d->skew_ns, by), more, share);
	diagnose_detail(
		j, f, "%s in an impossible order",
		COUNT_MANY(d->skewed, "switch or wakeup is", "switches and wakeups are"));
	remedy_clock(j, f);
}

static void diagnose_back(struct diagnosis *j, const struct tl_disorder *d, double share)
{
	char by[TIME_TEXT];
	if (!d->back)
		return;
	struct finding *f =
		diagnose_add(j, "cpu-clocks", harm_of(share),
			     "the clock of a CPU ran backwards %s, by up to %s; %.1f %% of "
			     "waits suspect",
			     COUNT(d->back, "time"), ms_text(d->back_ns, by), share);
	remedy_clock(j, f);
}

void diagnose_order(struct diagnosis *j)
{
	if (!j->in->timeline)
		return;
	const struct tl_disorder *d = &j->in->timeline->disorder;
	double share = suspect_share(j->in->timeline);
	diagnose_late(j, d, share);
	diagnose_skew(j, d, share);
	diagnose_back(j, d, share);
}
