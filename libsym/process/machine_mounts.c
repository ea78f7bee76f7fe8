/* machine_mounts.c - mount namespaces, in which one path may be of another file; see
 * machine_internal.h. Recorded with perf record --namespaces. */
#include "libsym/process/machine_internal.h"
#include "base/mem.h"

static int index_mount(struct machine *m, uint64_t ino, uint16_t *index)
{
	uint32_t known;
	*index = 0;
	if (u64map_get(&m->mounts, ino, &known)) {
		*index = (uint16_t)known;
		return 0;
	}
	if (m->mounts.n == UINT16_MAX) /* more than can be told apart */
		return 0;
	*index = (uint16_t)(m->mounts.n + 1);
	return u64map_put(&m->mounts, ino, *index);
}

/* perf starts the recorded command in its own namespaces, and lists it before it calls exec. */
static int is_command(const struct machine *m, const struct thread *t, uint64_t time)
{
	return !time && t->comms.n &&
	       !strcmp(strtab_get(m->strings, t->comms.v[t->comms.n - 1].comm), "perf-exec");
}

int machine_set_mount(struct machine *m, uint32_t thread, const struct pending *p)
{
	const struct thread *t = &m->threads.v[thread];
	uint16_t index;
	if (index_mount(m, p->mount, &index))
		return ERR_NOMEM;
	m->processes.v[t->process].mount = index;
	if (!is_command(m, t, p->time))
		return 0;
	m->own_unsure |= m->own_mount && m->own_mount != index;
	m->own_mount = index;
	return 0;
}

int machine_has_mounts(const struct machine *m)
{
	return m->own_mount && !m->own_unsure && m->mounts.n > 1;
}

/* A DSO's latest mapping in another namespace than perf's. */
struct latest {
	uint64_t since;
	uint32_t process;
	uint8_t unknown; /* it was also mapped where the namespace is not known */
};

static void note_mount(struct machine *m, const struct map *map, uint32_t process,
		       struct latest *l)
{
	struct dso *d = &m->dsos.v[map->dso];
	if (d->kind != DSO_FILE)
		return;
	if (!map->mount)
		l->unknown = 1;
	else if (map->mount == m->own_mount)
		d->mount = MOUNT_OWN;
	else if (d->mount != MOUNT_OWN &&
		 (d->mount == MOUNT_UNKNOWN || map->since >= l->since)) {
		d->mount = MOUNT_OTHER;
		l->since = map->since;
		l->process = process;
	}
}

static void note_mounts(struct machine *m, struct latest *latest)
{
	for (uint32_t p = 0; p < m->processes.n; p++)
		for (size_t k = 0; k < m->processes.v[p].images.n; k++) {
			const struct space *s =
				&m->spaces.v[m->processes.v[p].images.v[k].space];
			for (size_t i = 0; i < s->by_start.n; i++) {
				const struct map *map = &m->maps.v[s->by_start.v[i]];
				note_mount(m, map, p, &latest[map->dso]);
			}
		}
}

int machine_find_mounts(struct machine *m)
{
	if (!machine_has_mounts(m))
		return 0;
	struct latest *latest = mem_zalloc(m->dsos.n, sizeof(*latest));
	uint8_t *ended = mem_zalloc(m->processes.n, 1);
	if (latest && ended) {
		for (size_t i = 0; i < m->threads.n; i++)
			if (m->threads.v[i].tid == m->threads.v[i].pid)
				ended[m->threads.v[i].process] =
					m->threads.v[i].exit != TIME_END;
		for (size_t i = 0; i < m->dsos.n; i++)
			m->dsos.v[i].mount = MOUNT_UNKNOWN;
		note_mounts(m, latest);
	}
	/* a later process may still enter the namespace of one that has ended */
	int all_known = m->applied == TIME_END;
	for (size_t i = 0; latest && ended && i < m->dsos.n; i++) {
		struct dso *d = &m->dsos.v[i];
		if (d->mount == MOUNT_OTHER && latest[i].unknown)
			d->mount = MOUNT_UNKNOWN;
		else if (d->mount == MOUNT_OTHER && all_known && ended[latest[i].process])
			d->mount = MOUNT_GONE;
	}
	int rc = latest && ended ? 0 : ERR_NOMEM;
	mem_free(latest);
	mem_free(ended);
	return rc;
}
