#include "libtime/doctor/survey.h"

static int user_side(const struct sample *s, int swap)
{
	int side = 0;
	if (s->regs_abi && s->stack_dyn)
		return 1;
	for (uint64_t i = 0; i < s->callchain.n; i++) {
		uint64_t w = load_u64(s->callchain.p + 8 * i, swap);
		if (w >= PERF_CONTEXT_MAX)
			side = w == PERF_CONTEXT_USER || w == PERF_CONTEXT_USER_DEFERRED;
		else if (side)
			return 1;
	}
	return 0;
}

static void count_stack(struct survey *v, struct survey_event *se, const struct sample *s,
			int swap)
{
	uint32_t seen;
	int mode = s->misc & PERF_RECORD_MISC_CPUMODE_MASK;
	if (mode == PERF_RECORD_MISC_USER) {
		se->user_mode++;
		se->user_without_frames += !user_side(s, swap);
	} else if (mode == PERF_RECORD_MISC_KERNEL && s->tid > 0 &&
		   u64map_get(&v->user_pids, (uint64_t)(uint32_t)s->pid, &seen)) {
		se->kernel_mode++;
		se->no_user += !user_side(s, swap);
	}
}

/* A counter's times. */
static int count_reading(struct survey *v, const struct sample *s)
{
	uint64_t key =
		hash_u64(s->id) ^ hash_u64((uint64_t)s->event->index << 32 | (uint32_t)s->tid);
	uint32_t at;
	if (!u64map_get(&v->reading_of, key, &at)) {
		at = (uint32_t)v->readings.n;
		if (vec_push(&v->readings, (struct survey_reading){0}) ||
		    u64map_put(&v->reading_of, key, at))
			return ERR_NOMEM;
	}
	v->readings.v[at] = (struct survey_reading){s->time_enabled, s->time_running};
	return 0;
}

static int count_sample(struct survey *v, const struct sample *s, int swap)
{
	uint32_t index = s->event->index;
	while (v->events.n <= index)
		if (vec_push(&v->events, (struct survey_event){0}))
			return ERR_NOMEM;
	struct survey_event *se = &v->events.v[index];
	uint64_t period = s->event->attr.sample_type & PERF_SAMPLE_PERIOD ? s->period : 0;
	se->samples++;
	if (s->time && sample_is_time(s->time)) {
		if (!v->last_ns || s->time < v->first_ns)
			v->first_ns = s->time;
		if (s->time > v->last_ns)
			v->last_ns = s->time;
	}
	se->stand_for =
		se->stand_for > UINT64_MAX - period ? UINT64_MAX : se->stand_for + period;
	int mode = s->misc & PERF_RECORD_MISC_CPUMODE_MASK;
	v->kernel_samples += mode == PERF_RECORD_MISC_KERNEL;
	if (s->event->attr.sample_type & PERF_SAMPLE_CALLCHAIN)
		count_stack(v, se, s, swap);
	return s->time_enabled ? count_reading(v, s) : 0;
}

static int count_map(struct survey *v, const struct recording *rec, const struct record *r)
{
	struct record_mmap m;
	if (record_mmap_decode(r, rec->swap, &m, NULL))
		return 0;
	if (m.pid == -1 ||
	    (r->misc & PERF_RECORD_MISC_CPUMODE_MASK) == PERF_RECORD_MISC_KERNEL) {
		v->kernel_maps += m.filename[0] == '[';
		return 0;
	}
	return u64map_put(&v->user_pids, (uint64_t)(uint32_t)m.pid, 1);
}

/* THREAD_MAP: u64 nr, then { u64 pid; char comm[16] }; pid -1 means all threads. */
static void count_threads(struct survey *v, const struct recording *rec, const struct record *r)
{
	if (r->size >= RECORD_HEADER_SIZE + 16 &&
	    (int32_t)load_u64(r->p + RECORD_HEADER_SIZE + 8, rec->swap) == -1)
		v->all_threads = 1;
}

void survey_watch(void *survey, const struct recording *rec, const struct record *r,
		  const struct record_id *id, const struct sample *s)
{
	struct survey *v = survey;
	int rc = 0;
	(void)id;
	if (s)
		rc = count_sample(v, s, rec->swap);
	else if (r->type == PERF_RECORD_MMAP || r->type == PERF_RECORD_MMAP2)
		rc = count_map(v, rec, r);
	else if (r->type == PERF_RECORD_THREAD_MAP)
		count_threads(v, rec, r);
	if (rc)
		v->failed = rc;
}

void survey_rewatch(void *survey)
{
	survey_release(survey);
}

void survey_release(struct survey *v)
{
	vec_release(&v->events);
	vec_release(&v->readings);
	u64map_release(&v->reading_of);
	u64map_release(&v->user_pids);
	*v = (struct survey){0};
}
