#include "libtime/doctor/describe.h"
#include "libparse/sample.h"

#include <string.h>

static const char *clock_name(const struct recording *rec)
{
	static const char *const names[] = {
		"CLOCK_REALTIME",          "CLOCK_MONOTONIC",     "CLOCK_PROCESS_CPUTIME_ID",
		"CLOCK_THREAD_CPUTIME_ID", "CLOCK_MONOTONIC_RAW", "CLOCK_REALTIME_COARSE",
		"CLOCK_MONOTONIC_COARSE",  "CLOCK_BOOTTIME",
	};
	if (!rec->events.n)
		return "";
	const struct event_attr *a = &rec->events.v[0].attr;
	if (!attr_flag(a, ATTR_USE_CLOCKID))
		return "perf";
	if (a->clockid >= 0 && (size_t)a->clockid < sizeof(names) / sizeof(*names))
		return names[a->clockid];
	return a->clockid == 11 ? "CLOCK_TAI" : "";
}

static enum event_stacks stacks_of(const struct event *ev)
{
	const struct event_attr *a = &ev->attr;
	if (a->sample_type & PERF_SAMPLE_STACK_USER && a->sample_type & PERF_SAMPLE_REGS_USER)
		return EVENT_STACKS_COPIES;
	if (a->sample_type & PERF_SAMPLE_BRANCH_STACK)
		return EVENT_STACKS_BRANCHES;
	return a->sample_type & PERF_SAMPLE_CALLCHAIN || sample_is_off_cpu(ev)
		       ? EVENT_STACKS_CHAINS
		       : EVENT_STACKS_NONE;
}

static int add_texts(struct file_facts *out, struct strtab *s, const struct recording *rec,
		     const char *path)
{
	const struct features *f = &rec->features;
	const struct {
		uint32_t *id;
		const char *text;
	} texts[] = {{&out->path, path},
		     {&out->host, f->hostname},
		     {&out->kernel, f->osrelease},
		     {&out->arch, f->arch},
		     {&out->perf, f->version},
		     {&out->cpu, f->cpudesc},
		     {&out->command, f->cmdline},
		     {&out->clock, clock_name(rec)},
		     {&out->torn, rec->stats.truncated}};
	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++)
		if (texts[i].text &&
		    strtab_intern_line(s, texts[i].text, strlen(texts[i].text), texts[i].id))
			return ERR_NOMEM;
	return 0;
}

static int add_events(struct file_facts *out, struct strtab *s, const struct recording *rec)
{
	for (size_t i = 0; i < rec->events.n; i++) {
		const struct event *ev = &rec->events.v[i];
		struct file_event x = {.rate = ev->attr.sample_period,
				       .tracepoint = ev->is_tracepoint != 0,
				       .by_rate = attr_flag(&ev->attr, ATTR_FREQ) != 0,
				       .stacks = (uint8_t)stacks_of(ev)};
		if (strtab_intern(s, ev->name, &x.name) || vec_push(&out->events, x))
			return ERR_NOMEM;
	}
	return 0;
}

static int add_records(struct file_facts *out, const struct recording_stats *s)
{
	for (uint32_t t = 0; t < RECORD_TYPES_COUNTED; t++) {
		struct file_records x = {.count = s->by_type[t], .type = t};
		if (x.count && vec_push(&out->records, x))
			return ERR_NOMEM;
	}
	return 0;
}

int describe_recording(struct file_facts *out, struct profile *p, const char *path)
{
	const struct recording *rec = p->rec;
	struct strtab *s = &p->stacks.strings;
	*out = (struct file_facts){.stacks = &p->stacks,
				   .cpus = rec->features.cpus_online,
				   .bytes = rec->data_size,
				   .first_ns = UINT64_MAX,
				   .lost = rec->stats.lost,
				   .dropped = recording_dropped_samples(rec, NULL),
				   .broken = rec->stats.bad.n,
				   .unknown_records = rec->stats.unknown_types,
				   .mode = rec->directory   ? FILE_MODE_DIRECTORY
					   : rec->pipe_mode ? FILE_MODE_PIPE
							    : FILE_MODE_FILE,
				   .big_endian = rec->big_endian != 0,
				   .compressed = rec->compressed != 0,
				   .cut_off = rec->cut_off != 0};
	return add_texts(out, s, rec, path) || add_events(out, s, rec) ||
			       add_records(out, &rec->stats)
		       ? ERR_NOMEM
		       : 0;
}

void describe_folded(struct file_facts *out, const struct profile *p)
{
	out->first_ns = p->totals.first_time;
	out->last_ns = p->totals.last_time;
	for (size_t i = 0; i < p->folded.n; i++) {
		const struct folded *f = &p->folded.v[i];
		out->events.v[f->event].samples += f->samples;
		out->events.v[f->event].weight += f->weight;
	}
}

static void count_one(struct file_facts *out, uint32_t event, uint64_t time_ns, uint64_t period)
{
	if (event >= out->events.n)
		return;
	out->events.v[event].samples++;
	out->events.v[event].weight += period;
	if (!sample_is_time(time_ns))
		return;
	out->first_ns = time_ns < out->first_ns ? time_ns : out->first_ns;
	out->last_ns = time_ns > out->last_ns ? time_ns : out->last_ns;
}

void describe_timeline(struct file_facts *out, const struct timeline *tl)
{
	for (size_t i = 0; i < tl->events.n && i < out->events.n; i++) {
		const struct tl_event *ev = &tl->events.v[i];
		out->events.v[i].samples += ev->counted;
		out->events.v[i].weight += ev->counted_period;
		if (ev->counted && ev->first_ns < out->first_ns)
			out->first_ns = ev->first_ns;
		if (ev->last_ns > out->last_ns)
			out->last_ns = ev->last_ns;
	}
	for (size_t i = 0; i < tl->samples.n; i++) {
		const struct tl_sample *s = &tl->samples.v[i];
		count_one(out, s->event, s->time_ns, s->period);
	}
	for (size_t i = 0; i < tl->event_samples.n; i++) {
		const struct tl_event_sample *s = &tl->event_samples.v[i];
		count_one(out, s->event, s->time_ns, s->period);
	}
}
