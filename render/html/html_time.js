// html_time.js - sums over a stretch of time, as collapse, svg and report make them: CPU samples,
// time off the CPU, both, by stack; and what threads and CPUs did.

// enum html_wait (html_data.h); unknown: why it is.
const BIT = {open: 1, suspect: 2, running: 8, unclear: 1 << 8, hidden: 1 << 9, cutLeft: 1 << 10, cutRight: 1 << 11, out: 1 << 12, unknown: 7 << 13};
const MARK = {open: 0, unknown: 1, suspect: 2, unclear: 3, waitUnclear: 4, runnable: 5, preempted: 6, waitUnknown: 7, noSample: 8, isRunnable: 9};
const SYSTEM = 3, IDLE_TASK = 16; // flags of threads that are the kernel's or perf's, or none

// --- labels: as --label does ---------------------------------------------------------------------

// The chosen one: number of its key, the value's string; null: all there is.
let label = null;

// "KEY=VALUE" of `perfkit --label`; false where the recording has no such label.
function chooseLabel(text) {
	const at = text.indexOf("="), no = head.labels.indexOf(text.slice(0, at)), value = strings.indexOf(text.slice(at + 1));
	label = text && no >= 0 && value >= 0 ? {no, value} : null;
	return !text || label !== null;
}

// Calls take(from, to, is) of each piece of an interval that has a value, or none, of its own; those
// of the chosen value are one if they follow each other.
function eachPiece(table, i, take) {
	if (!label) {
		take(table.start[i], table.end[i], true);
		return;
	}
	const {no, value} = label, piece = data["piece" + no], first = table["first" + no][i], n = table["parts" + no][i];
	let at = table.start[i];
	for (let k = first; k < first + n; k++) {
		const end = piece.ns[k] ? at + piece.ns[k] : table.end[i];
		take(at, end, piece.value[k] === value);
		at = end;
	}
	if (!n)
		take(at, table.end[i], false);
}

// Calls take(from, to) of the parts of an interval that have the chosen label.
function eachPart(table, i, take) {
	let from = -1, last = 0;
	eachPiece(table, i, (a, z, is) => {
		if (!is && from >= 0)
			take(from, a);
		from = !is ? -1 : from < 0 ? a : from;
		last = z;
	});
	if (from >= 0)
		take(from, last);
}

function hasLabel(table, i) {
	return !label || table["label" + label.no][i] === label.value;
}

// --- one wait in a stretch: population_wait and wait_split_off of population.c -----------------

const part = {blocked: 0, runnable: 0, preempted: 0, unknown: 0, hidden: 0, isOpen: false, bits: 0};

let causeNames = null;

// What a wait's time before its wakeup means, and after it, by the names of the legend.
function meaningsOf(i) {
	const bits = data.wait.bits[i];
	causeNames = causeNames || head.causes.map((f) => frames.label[f].replace(/^\[|\]$/g, "").replace(/^unknown$/, "blocked"));
	return [bits & BIT.hidden ? "at rest" : bits & BIT.unknown ? "unknown" : causeNames[data.wait.cause[i]] + (bits & BIT.unclear ? "?" : ""),
		bits & BIT.running ? "preempted" : "runnable"];
}

// A point of a map has one: of what took most of it.
function meaningOf(i, map) {
	return meaningsOf(i)[map === "delay" || data.wait.rest[i] > data.wait.blocked[i] ? 1 : 0];
}

// Is it what the legend's choice leaves?
function isMeant(i, map) {
	return !view.only || meaningOf(i, map) === view.only;
}

// The part that the legend's choice leaves; false if there is none.
function keepMeant(i) {
	const [before, after] = meaningsOf(i);
	if (before !== view.only)
		part.blocked = part.unknown = part.hidden = 0;
	if (after !== view.only)
		part.runnable = part.preempted = 0;
	return before === view.only || after === view.only;
}

function isRunningMeant() {
	return !view.only || view.only === "running";
}

// The part of wait i in [from, to), into `part`; false if there is none. [low, high): the part that
// has the chosen label, which is not open for ending there.
function cutWait(i, from, to, low, high) {
	const w = data.wait, first = Math.max(w.start[i], from), last = Math.min(w.end[i], to);
	const start = Math.max(first, low), end = Math.min(last, high);
	if (end <= start || w.bits[i] & BIT.out)
		return false;
	const bits = w.bits[i], wake = w.start[i] + w.blocked[i];
	const split = bits & BIT.unknown ? end : Math.min(Math.max(wake, start), end);
	const waiting = split - start;
	part.bits = bits;
	part.runnable = end - split;
	part.preempted = bits & BIT.running ? part.runnable : 0;
	part.hidden = bits & BIT.hidden ? waiting : 0;
	part.blocked = bits & (BIT.hidden | BIT.unknown) ? 0 : waiting;
	part.unknown = bits & BIT.unknown && !(bits & BIT.hidden) ? waiting : 0;
	if (bits & BIT.hidden)
		part.isOpen = (bits & (BIT.open | BIT.cutRight)) !== 0 || first > wake || last < w.end[i];
	else
		part.isOpen = (bits & (BIT.open | BIT.cutLeft | BIT.cutRight)) !== 0 || first > w.start[i] || last < w.end[i];
	return !view.only || keepMeant(i);
}

// Where each thread's rows begin, of waits and runs, which are in the order of threads, then of time.
let bounds = null;

function lifeBounds() {
	const of = (table) => {
		const first = new Int32Array(data.thread.comm.length + 1);
		for (let i = 0; i < table.n; i++)
			first[table.thread[i] + 1]++;
		for (let i = 1; i < first.length; i++)
			first[i] += first[i - 1];
		return first;
	};
	bounds = bounds || {wait: of(data.wait), run: of(data.run)};
	return bounds;
}

// Calls take(i) for the waits, or runs, that overlap [from, to).
function eachOverlapping(kind, from, to, take) {
	const {start, end} = data[kind], first = lifeBounds()[kind];
	for (let t = 0; t + 1 < first.length; t++)
		for (let i = firstWhere(first[t], first[t + 1], (k) => end[k] > from); i < first[t + 1] && start[i] < to; i++)
			take(i);
}

// Calls take(i) if wait i is of the chosen threads, and label, with its part in [from, to) in `part`.
function takeWait(i, from, to, chosen, take) {
	const w = data.wait;
	if (chosen && !chosen(w.thread[i], data.row.comm[w.row[i]]))
		return;
	if (!label && cutWait(i, from, to, -Infinity, Infinity))
		take(i);
	else if (label)
		eachPart(w, i, (low, high) => {
			if (cutWait(i, from, to, low, high))
				take(i);
		});
}

// --- stacks ------------------------------------------------------------------------------------

// A flame graph whose nodes are made when a stack first has weight, and then stay: another
// stretch has other weights.
class Graph {
	constructor(two) {
		this.merger = new Merger(0, false);
		this.two = two;
		this.known = [];
		this.skeleton = null;
	}

	// The node of a row's stack below marks `state` and `below` and under frame `top`; 0 is none of
	// them. `slot` tells such triples apart.
	node(slot, row, below, top, state) {
		const known = this.known[slot] = this.known[slot] || new Int32Array(data.row.comm.length);
		if (known[row])
			return known[row];
		const way = top ? [top] : [], m = this.merger;
		for (let p = data.row.path[row]; p; p = data.path.parent[p - 1])
			way.push(data.path.frame[p - 1]);
		let at = m.child(0, data.row.comm[row]);
		if (state)
			at = m.child(at, state);
		if (below)
			at = m.child(at, below);
		for (let i = way.length - 1; i >= 0; i--)
			at = m.child(at, way[i]);
		return known[row] = at;
	}

	start() {
		this.merger.self.fill(0);
	}

	// The tree of what has weight.
	tree() {
		const m = this.merger;
		if (!this.skeleton || this.skeleton.n !== m.parent.length) {
			this.skeleton = m.tree(frames.order);
			this.ids = new Int32Array(m.at.length);
			m.at.forEach((i, id) => { this.ids[i] = id; });
		}
		const s = this.skeleton, self = new Float64Array(s.n), total = new Float64Array(s.n), place = new Int32Array(s.n);
		for (let i = 0; i < s.n; i++)
			total[i] = self[i] = m.self[this.ids[i]];
		for (let i = s.n - 1; i > 0; i--)
			total[s.parent[i]] += total[i];
		let n = 1;
		for (let i = 1; i < s.n; i++)
			place[i] = total[i] > 0 ? n++ : 0;
		const out = newTree(n, this.two);
		for (let i = 0; i < s.n; i++) {
			const to = place[i];
			if (i && !to)
				continue;
			out.parent[to] = place[s.parent[i]];
			out.frame[to] = s.frame[i];
			out.depth[to] = s.depth[i];
			out.self[to] = self[i];
			if (this.two && frames.kind[s.frame[i]] === KIND.wait)
				out.self1[to] = self[i];
		}
		return sumUp(out);
	}
}

// --- ladders -------------------------------------------------------------------------------------

const LADDER = 1 << 20; // numbers in one, about

// Sums by node at moments, the rungs. Of a stretch they give all but what lies near its ends.
class Ladder {
	constructor() {
		const size = data.row.comm.length + 1;
		this.steps = Math.floor(Math.min(Math.max(LADDER / size, 8), 32));
		this.rungs = Array.from({length: this.steps + 1}, () => new Float64Array(size));
	}

	// A rung with room for n nodes.
	rung(k, n) {
		const sums = this.rungs[k];
		if (n > sums.length) {
			this.rungs[k] = new Float64Array(n);
			this.rungs[k].set(sums);
		}
		return this.rungs[k];
	}

	// A rung gets what lies between it and the one below.
	add(k, node, x) {
		const sums = this.rungs[k];
		(node < sums.length ? sums : this.rung(k, 2 * node))[node] += x;
	}

	// Now each has what all below it have, too.
	finish() {
		for (let k = 1; k <= this.steps; k++) {
			const below = this.rungs[k - 1], sums = this.rung(k, below.length);
			for (let i = 0; i < below.length; i++)
				sums[i] += below[i];
		}
		return this;
	}

	// Adds what lies between rungs a and z to `self`.
	climb(a, z, self) {
		const low = this.rungs[a], high = this.rungs[z];
		for (let i = 1; i < self.length && i < high.length; i++)
			self[i] += high[i] - (i < low.length ? low[i] : 0);
	}
}

// The ladders of a graph stay while the same threads, label and event are chosen.
function laddersOf(graph, make) {
	const of = [view.who, view.event, view.only, label ? label.no + "=" + label.value : ""].join("\n");
	if (graph.laddersOf !== of) {
		graph.ladders = make();
		graph.laddersOf = of;
	}
	return graph.ladders;
}

// What has ended by a rung. weigh(i, from, to, add) calls add(node, ns) for what interval i weighs in that
// stretch.
function makeLadder(kind, weigh) {
	const ladder = new Ladder(), {end, n} = data[kind], step = Math.max(1, Math.ceil(head.span_ns / ladder.steps));
	let rung = 0;
	const add = (node, ns) => ladder.add(rung, node, ns);
	for (let i = 0; i < n; i++) {
		rung = Math.max(Math.ceil(end[i] / step), 0);
		if (rung <= ladder.steps)
			weigh(i, -Infinity, Infinity, add);
	}
	return {ladder: ladder.finish(), step};
}

// Adds what intervals weigh in [from, to) to `self`, by node: those between two rungs by the ladder, those
// that cross one or lie outside one by one.
function climb(kind, {ladder, step}, from, to, weigh, self) {
	const {start, end} = data[kind], first = lifeBounds()[kind], a = Math.ceil(from / step), z = Math.floor(to / step);
	const low = a * step, high = z * step, add = (node, ns) => { self[node] += ns; }, takeOff = (node, ns) => { self[node] -= ns; };
	if (a >= z) {
		eachOverlapping(kind, from, to, (i) => weigh(i, from, to, add));
		return;
	}
	ladder.climb(a, z, self);
	for (let t = 0; t + 1 < first.length; t++) {
		const last = first[t + 1];
		let i = firstWhere(first[t], last, (k) => end[k] > from);
		for (; i < last && start[i] < low; i++) {
			weigh(i, from, to, add);
			if (end[i] > low && end[i] <= high) // the ladder has all of it
				weigh(i, -Infinity, Infinity, takeOff);
		}
		for (i = firstWhere(i, last, (k) => end[k] > high); i < last && start[i] < to; i++)
			weigh(i, from, to, add);
	}
}

// Is a cgroup's path another's, or below it?
function isInside(path, of) {
	return path === of || path.startsWith(of + "/");
}

// What tells by a thread's number and its name then (a frame) whether it is among those chosen,
// "comm:NAME", "tid:TID", "cgroup:PATH" or "program:NAME"; null: all are.
function chosenThreads() {
	const [, by, what] = /^(comm|tid|cgroup|program):(.*)$/s.exec(view.who) || [];
	if (by === "program")
		return (thread) => thread >= 0 && head.programs[data.thread.program[thread]] === what;
	if (by === "tid")
		return (thread) => data.thread.tid[thread] - 1 === Number(what);
	if (by === "cgroup") {
		const inside = head.cgroups.map(({path}) => isInside(path, what));
		return (thread) => inside[data.thread.cgroup[thread]];
	}
	return by ? (thread, comm) => frames.label[comm] === what : null;
}

const graphs = {};

function graphOf(kind) {
	graphs[kind] = graphs[kind] || new Graph(kind === "wall");
	graphs[kind].start();
	return graphs[kind];
}

// As `perfkit collapse --event`: samples from `from` to `to`, both included.
function sumCpu(from, to, event) {
	const g = graphOf("cpu"), s = data.sample, n = s.t.length, self = g.merger.self, chosen = chosenThreads();
	const each = (i, last, add) => {
		for (; i < last; i++) {
			const row = s.row[i];
			if (s.event[i] === event && hasLabel(s, i) && (!chosen || chosen(s.thread[i] - 1, data.row.comm[row])))
				add(g.known[0] && g.known[0][row] || g.node(0, row, 0, 0), s.weight[i]);
		}
	};
	const {ladder, step} = laddersOf(g, () => {
		const made = new Ladder(), size = Math.max(1, Math.ceil(n / made.steps));
		for (let k = 0; k < made.steps; k++)
			each(k * size, Math.min((k + 1) * size, n), (node, x) => made.add(k + 1, node, x));
		return {ladder: made.finish(), step: size};
	});
	const first = firstWhere(0, n, (k) => s.t[k] >= from), last = firstWhere(first, n, (k) => s.t[k] > to);
	const a = Math.ceil(first / step), z = Math.floor(last / step), add = (node, x) => { self[node] += x; };
	if (a < z)
		ladder.climb(a, z, self);
	each(first, a < z ? a * step : last, add);
	each(a < z ? z * step : last, last, add);
	return g.tree();
}

function inBand(i, band) {
	const length = data.wait.end[i] - data.wait.start[i];
	return length >= band.low && length < band.high;
}

// As `perfkit svg --offcpu`: run-queue delay below [runnable], and the cause on top of a wait that was
// seen whole, also below [unclear].
function sumOff(from, to, band) {
	const g = graphOf("off"), w = data.wait, m = head.marks, chosen = chosenThreads(), self = g.merger.self;
	let take = null;
	const add = (slot, row, below, top, ns, state) => {
		if (ns > 0)
			take(g.node(slot, row, below, top, state), ns);
	};
	const put = (i) => {
		const row = w.row[i], cause = w.cause[i], rest = part.blocked + part.unknown;
		const mark = part.isOpen ? MARK.open : part.bits & BIT.unknown ? MARK.unknown :
			part.bits & BIT.suspect ? MARK.suspect : -1;
		if (mark >= 0)
			add(mark, row, m[mark], 0, rest);
		else if (part.bits & BIT.unclear)
			add(7 + head.causes.length + cause, row, m[MARK.unclear], head.causes[cause], part.blocked);
		else
			add(7 + cause, row, 0, head.causes[cause], rest);
		add(mark < 0 ? 6 : 3 + mark, row, mark < 0 ? 0 : m[mark], m[MARK.runnable], part.runnable,
			m[MARK.isRunnable]);
	};
	const weigh = (i, low, high, to) => {
		take = to;
		takeWait(i, low, high, chosen, put);
	};
	if (!band)
		climb("wait", laddersOf(g, () => makeLadder("wait", weigh)), from, to, weigh, self);
	else
		eachOverlapping("wait", from, to, (i) => {
			if (inBand(i, band))
				weigh(i, from, to, (node, ns) => { self[node] += ns; });
		});
	return g.tree();
}

function isShown(thread) {
	return head.shows_system || !(data.thread.flags[thread] & SYSTEM);
}

// Samples by thread, each in the order of time: numbers of samples, and where a thread's begin.
let samplesOf = null;

function indexSamples() {
	const s = data.sample, n = data.thread.comm.length, first = new Int32Array(n + 2);
	for (let i = 0; i < s.t.length; i++)
		first[s.thread[i] + 1]++;
	for (let i = 1; i < n + 2; i++)
		first[i] += first[i - 1];
	const at = first.slice(), list = new Int32Array(s.t.length);
	for (let i = 0; i < s.t.length; i++)
		list[at[s.thread[i]]++] = i;
	return {first, list};
}

const reached = {thread: -1, t: 0, next: 0, end: 0}; // in samplesOf.list

// Where a thread's samples at t or later begin there.
function samplesFrom(thread, t) {
	samplesOf = samplesOf || indexSamples();
	const {list, first} = samplesOf, at = data.sample.t;
	if (thread !== reached.thread || t < reached.t) {
		reached.end = first[thread + 2];
		reached.next = firstWhere(first[thread + 1], reached.end, (k) => at[list[k]] >= t);
	}
	while (reached.next < reached.end && at[list[reached.next]] < t)
		reached.next++;
	reached.thread = thread;
	reached.t = t;
	return reached.next;
}

// The samples of a thread in [from, to) share that time; without any, it is taken if `is`.
function shareTime(thread, from, to, is, take) {
	const begin = samplesFrom(thread, from), n = samplesFrom(thread, to) - begin, each = n ? Math.floor((to - from) / n) : 0;
	if (!n && is)
		take(-1, from, to);
	for (let k = 0; k < n; k++) {
		const sample = samplesOf.list[begin + k];
		if (hasLabel(data.sample, sample))
			take(sample, from + k * each, k + 1 < n ? from + (k + 1) * each : to);
	}
}

// What ran in [low, high) of run i, and has the label: samples share the time of their piece of it.
// Calls take(sample, from, to), with -1 for pieces without any: wall_running of wall.c.
function eachRunShare(i, low, high, take) {
	const r = data.run, cut = (p, q, is) => {
		const from = Math.max(p, low), to = Math.min(q, high);
		if (from < to)
			shareTime(r.thread[i], from, to, is, take);
	};
	if (label)
		eachPiece(r, i, cut);
	else if (r.start[i] >= low && r.end[i] <= high) // nearly all: nothing is cut
		shareTime(r.thread[i], r.start[i], r.end[i], true, take);
	else
		cut(r.start[i], r.end[i], true);
}

// As `perfkit svg --wall`.
function sumWall(from, to) {
	const g = graphOf("wall"), r = data.run, w = data.wait, s = data.sample, m = head.marks;
	const chosen = chosenThreads();
	const noSample = new Int32Array(frames.n); // by comm: its node
	let comm = 0, take = null;
	const putRun = (k, low, high) => {
		if (k < 0 && !noSample[comm])
			noSample[comm] = g.merger.child(g.merger.child(0, comm), m[MARK.noSample]);
		take(k < 0 ? noSample[comm] : g.node(0, s.row[k], 0, 0), high - low);
	};
	const weighRun = (i, low, high, to) => {
		if (r.out[i] || !isRunningMeant() || !isShown(r.thread[i]) || chosen && !chosen(r.thread[i], r.comm[i]))
			return;
		comm = r.comm[i];
		take = to;
		eachRunShare(i, low, high, putRun);
	};
	const add = (slot, row, top, ns) => {
		if (ns > 0)
			take(g.node(slot, row, 0, top), ns);
	};
	const putWait = (i) => {
		const row = w.row[i], cause = w.cause[i];
		if (part.bits & BIT.unclear)
			add(1, row, m[MARK.waitUnclear], part.blocked);
		else
			add(5 + cause, row, head.causes[cause], part.blocked);
		add(2, row, m[MARK.runnable], part.runnable - part.preempted);
		add(3, row, m[MARK.preempted], part.preempted);
		add(4, row, m[MARK.waitUnknown], part.unknown);
	};
	const weighWait = (i, low, high, to) => {
		take = to;
		takeWait(i, low, high, chosen, putWait);
	};
	const of = laddersOf(g, () => [makeLadder("run", weighRun), makeLadder("wait", weighWait)]);
	climb("run", of[0], from, to, weighRun, g.merger.self);
	climb("wait", of[1], from, to, weighWait, g.merger.self);
	return g.tree();
}

// All time off the CPU by what it means.
function sumMeanings() {
	const sums = new Map(), chosen = chosenThreads(), many = head.causes.length, ns = new Float64Array(2 * many + 3), first = [];
	const take = (i) => {
		const cause = data.wait.cause[i] + (part.bits & BIT.unclear ? many : 0);
		if (first[cause] === undefined && part.blocked > 0)
			first[cause] = i;
		ns[cause] += part.blocked;
		ns[2 * many] += part.unknown;
		ns[2 * many + 1] += part.runnable - part.preempted;
		ns[2 * many + 2] += part.preempted;
	};
	for (let i = 0; i < data.wait.n; i++)
		takeWait(i, 0, head.span_ns, chosen, take);
	first.forEach((i, cause) => sums.set(meaningsOf(i)[0], ns[cause]));
	["unknown", "runnable", "preempted"].forEach((name, k) => sums.set(name, ns[2 * many + k]));
	return sums;
}

// --- threads and CPUs --------------------------------------------------------------------------

// What each thread and CPU did in the stretch: ns by state.
function sumThreads(from, to) {
	const sums = new Map(), cpus = new Float64Array(head.cpus);
	const of = (i) => {
		if (!sums.has(i))
			sums.set(i, {thread: i, run: 0, blocked: 0, unclear: 0, runnable: 0, preempted: 0, unknown: 0, hidden: 0});
		return sums.get(i);
	};
	const r = data.run, add = (i, ns) => {
		if (r.cpu[i] && r.cpu[i] <= cpus.length)
			cpus[r.cpu[i] - 1] += ns;
		if (isShown(r.thread[i]) && isRunningMeant())
			of(r.thread[i]).run += ns;
	};
	eachOverlapping("run", from, to, (i) => {
		if (r.out[i])
			return;
		if (label)
			eachRunShare(i, from, to, (k, low, high) => add(i, high - low));
		else
			add(i, Math.min(r.end[i], to) - Math.max(r.start[i], from));
	});
	const addWait = (i) => {
		const s = of(data.wait.thread[i]);
		s[part.bits & BIT.unclear ? "unclear" : "blocked"] += part.blocked;
		s.runnable += part.runnable - part.preempted;
		s.preempted += part.preempted;
		s.unknown += part.unknown;
		s.hidden += part.hidden;
	};
	eachOverlapping("wait", from, to, (i) => takeWait(i, from, to, null, addWait));
	return {threads: [...sums.values()], cpus};
}
