/* findings_order.c - findings about times: late records, CPUs whose clocks differ. */
#include "libtime/doctor/findings_internal.h"

static struct fact suspect_share(const struct timeline *tl)
{
	uint64_t suspect = 0;
	for (size_t i = 0; i < tl->offcpu.n; i++)
		suspect += !!(tl->offcpu.v[i].flags & OFF_SUSPECT);
	return fact_share("suspect", suspect, tl->offcpu.n);
}

static enum finding_severity severity_of(const struct fact *suspect)
{
	return percent(suspect->number, suspect->whole) >= 50 ? SEVERITY_WRONG
							      : SEVERITY_PARTIAL;
}

void diagnose_suggest_file(struct diagnosis *j, struct finding *f)
{
	diagnose_remedy(j, f, FORM_ASK_THE_FILE, NO_FACTS);
}

static void diagnose_late(struct diagnosis *j, const struct tl_disorder *d,
			  const struct fact *suspect)
{
	const struct fact late = fact_number("late", FACT_COUNT, d->late);
	const struct fact by = fact_number("by", FACT_TIME, d->late_ns);
	if (!d->late)
		return;
	if (!d->moved) {
		diagnose_add(j, FORM_LATE_SORTED, SEVERITY_ADVICE, FACTS(late, by));
		return;
	}
	struct finding *f = diagnose_add(j, FORM_LATE_RECORDS, severity_of(suspect),
					 FACTS(late, by, *suspect));
	diagnose_suggest_file(j, f);
}

/* Suggest a clock that all CPUs share, if another one was used. */
static void remedy_clock(struct diagnosis *j, struct finding *f)
{
	struct remedy change = {.clock = 1};
	for (size_t i = 0; i < j->rec->events.n; i++)
		if (attr_flag(&j->rec->events.v[i].attr, ATTR_USE_CLOCKID)) {
			diagnose_remedy(j, f, FORM_CLOCK_SOURCE, NO_FACTS);
			return;
		}
	diagnose_record(j, f, &change);
}

static void diagnose_skew(struct diagnosis *j, const struct tl_disorder *d,
			  const struct fact *suspect)
{
	if (!d->skew_ns)
		return;
	const struct fact facts[] = {fact_number("cpu", FACT_CPU, d->skew_cpus[0]),
				     fact_number("other_cpu", FACT_CPU, d->skew_cpus[1]),
				     fact_number("by", FACT_TIME, d->skew_ns), *suspect,
				     fact_number("more", FACT_COUNT, d->skewed_pairs - 1)};
	struct finding *f = diagnose_add(j, FORM_CPU_CLOCKS, severity_of(suspect), facts,
					 d->skewed_pairs > 1 ? 5 : 4);
	diagnose_detail(j, f, FORM_IMPOSSIBLE_ORDER,
			FACTS(fact_number("skewed", FACT_COUNT, d->skewed)));
	remedy_clock(j, f);
}

static void diagnose_back(struct diagnosis *j, const struct tl_disorder *d,
			  const struct fact *suspect)
{
	if (!d->back)
		return;
	struct finding *f =
		diagnose_add(j, FORM_CLOCK_BACK, severity_of(suspect),
			     FACTS(fact_number("times", FACT_COUNT, d->back),
				   fact_number("by", FACT_TIME, d->back_ns), *suspect));
	remedy_clock(j, f);
}

void diagnose_order(struct diagnosis *j)
{
	if (!j->in->timeline)
		return;
	const struct tl_disorder *d = &j->in->timeline->disorder;
	if (!d->late && !d->skew_ns && !d->back)
		return;
	const struct fact suspect = suspect_share(j->in->timeline);
	diagnose_late(j, d, &suspect);
	diagnose_skew(j, d, &suspect);
	diagnose_back(j, d, &suspect);
}
