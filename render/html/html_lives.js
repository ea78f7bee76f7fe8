// html_lives.js - what threads and CPUs did, as the pictures of timelines take it from the page
// (timeline_data.js, host.page): intervals and samples of a stretch, counted from its begin.

let runsByCpu = null, pageFrames = null;

function newRuns(room) {
	return {n: 0, start: new Float64Array(room), end: new Float64Array(room), thread: new Int32Array(room)};
}

function cutRuns(list, from, to) {
	const parts = [], out = newRuns(0);
	for (const i of list)
		eachRunShare(i, from, to, (k, a, z) => parts.push([a - from, z - from, data.run.thread[i]]));
	["start", "end", "thread"].forEach((field, k) => { out[field] = parts.map((part) => part[k]); });
	out.n = parts.length;
	return out;
}

// The times on each CPU + 1, by begin, and when each and all before it have ended.
function indexRuns() {
	const {n, cpu, start, end} = data.run, room = new Int32Array(cpu.reduce((most, c) => Math.max(most, c), 0) + 1);
	for (let i = 0; i < n; i++)
		room[cpu[i]]++;
	const lists = Array.from(room, (k) => new Int32Array(k));
	for (let i = n - 1; i >= 0; i--)
		lists[cpu[i]][--room[cpu[i]]] = i;
	return lists.map((found) => {
		const list = inOrder(found, orderOf(inOrder(start, found))), reach = new Float64Array(list.length);
		for (let i = 0, at = -Infinity; i < list.length; i++)
			reach[i] = at = Math.max(at, end[list[i]]);
		return {list, reach};
	});
}

// The rows of a thread that overlap [from, to): the first, and the one behind the last.
function overlapping(table, first, thread, from, to) {
	const end = first[thread + 1], i = firstWhere(first[thread], end, (k) => table.end[k] > from);
	let next = i;
	while (next < end && table.start[next] < to)
		next++;
	return [i, next];
}

const page = {
	get states() { return head.states; },
	get parent() { return data.path.parent; },
	get frame() { return data.path.frame; },

	get frames() {
		pageFrames = pageFrames || frames.label.map((label, i) => ({name: frames.name[i], short: fitName(i, NAME_ROOM), kind: data.frame.part[i] & 2 ? 1 : 0,
			isRuntime: (data.frame.part[i] & 1) !== 0}));
		return pageFrames;
	},

	// Their colours are the picture's.
	threads() {
		const t = data.thread;
		return Array.from(t.name, (name, i) => ({comm: strings[name], pid: t.pid[i] - 1, tid: t.tid[i] - 1,
			flags: t.flags[i], color: 8}));
	},

	// Pieces that reach over the edge are whole; F: places of the numbers of an interval; `own`: as below.
	offs(thread, from, to, F, own) {
		const w = data.wait, r = data.run;
		lifeBounds();
		const [a, b] = overlapping(w, bounds.wait, thread, from, to), [c, d] = overlapping(r, bounds.run, thread, from, to);
		const n = b - a, offs = new Float64Array(n * F.size), isRun = c < d && (!n || r.start[c] < w.start[a]);
		const begin = isRun ? r.start[c] : n ? w.start[a] : from, runLast = c < d && (!n || r.end[d - 1] > w.end[b - 1]);
		for (let i = a, k = 0, at = begin; i < b; i++, k += F.size) {
			const bits = w.bits[i], path = data.row.path[w.row[i]];
			offs[k + F.ran] = w.start[i] - at;
			offs[k + F.blocked] = w.blocked[i];
			offs[k + F.rest] = w.rest[i];
			offs[k + F.bits] = w.cause[i] | (bits & 255 | (bits & (BIT.cutLeft | BIT.cutRight) ? 1 : 0)) << 5 | bits >> 13 << 13;
			offs[k + F.path] = path ? path + own : 0;
			offs[k + F.state] = w.state[i];
			offs[k + F.waker] = w.waker[i];
			offs[k + F.context] = w.context[i];
			offs[k + F.wakerPath] = w.wakerPath[i] ? w.wakerPath[i] + own : 0;
			offs[k + F.cpuOut] = w.out[i];
			offs[k + F.cpuIn] = w.in[i];
			at = w.end[i];
		}
		return {at: begin - from, last: (runLast ? r.end[d - 1] : n ? w.end[b - 1] : begin) - from, n, offs};
	},

	// Stretches [from, to) in which a thread has the chosen label, in order: [begin, end] pairs counted
	// from `from`; null: none is chosen.
	labelled(thread, from, to) {
		if (!label)
			return null;
		lifeBounds();
		const found = [], out = [];
		const put = (a, z) => found.push([Math.max(a, from) - from, Math.min(z, to) - from]);
		const [wait, waits] = overlapping(data.wait, bounds.wait, thread, from, to);
		for (let i = wait; i < waits; i++)
			eachPart(data.wait, i, put);
		const [run, runs] = overlapping(data.run, bounds.run, thread, from, to);
		for (let i = run; i < runs; i++)
			eachRunShare(i, from, to, (k, a, z) => put(a, z));
		for (const [a, z] of found.sort((x, y) => x[0] - y[0]))
			if (out.length && out[out.length - 1][1] === a)
				out[out.length - 1][1] = z;
			else if (z > a)
				out.push([a, z]);
		return out;
	},

	// The times on a CPU, by begin; isCut: only with the chosen label.
	runs(cpu, from, to, isCut) {
		const r = data.run;
		runsByCpu = runsByCpu || indexRuns();
		const {list, reach} = runsByCpu[cpu + 1] || {list: [], reach: []};
		const first = firstWhere(0, list.length, (k) => reach[k] > from), last = firstWhere(first, list.length, (k) => r.start[list[k]] >= to);
		if (isCut)
			return cutRuns(list.slice(first, last), from, to);
		const out = newRuns(last - first);
		for (let k = first; k < last; k++) {
			const i = list[k];
			if (r.end[i] <= from)
				continue;
			out.start[out.n] = r.start[i] - from;
			out.end[out.n] = r.end[i] - from;
			out.thread[out.n++] = r.thread[i];
		}
		return out;
	},

	// `own`: paths of the picture alone.
	samples(thread, from, to, own, isCut) {
		const s = data.sample, {t} = s;
		samplesOf = samplesOf || indexSamples();
		const {list, first} = samplesOf, end = first[thread + 2];
		const begin = firstWhere(first[thread + 1], end, (k) => t[list[k]] >= from), last = firstWhere(begin, end, (k) => t[list[k]] >= to);
		const out = {n: 0, t: new Float64Array(last - begin), path: new Int32Array(last - begin), event: new Uint16Array(last - begin)};
		for (let k = begin; k < last; k++) {
			const i = list[k], path = data.row.path[s.row[i]];
			if (isCut && !hasLabel(s, i))
				continue;
			out.t[out.n] = t[i] - from;
			out.path[out.n] = path ? path + own : 0;
			out.event[out.n++] = s.event[i];
		}
		return out;
	},

	losses(from, to) {
		const l = data.loss, found = [];
		for (let i = 0; i < l.t.length; i++)
			if (l.t[i] + l.ns[i] > from && l.t[i] < to)
				found.push({t: l.t[i] - from, length: l.ns[i], cpu: l.cpu[i] - 1, kind: l.kind[i], count: l.count[i]});
		return found;
	},
};
