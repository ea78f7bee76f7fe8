// timeline_data.js - the intervals inside the picture (timeline_data.h has the format), decoded: panels of
// rows; a row's segments are a thread's states, or the threads on a CPU, in order. In a report the page has
// the intervals, samples and stacks of all pictures: `host.page` (html_lives.js).

const ROW = {cpu: 0, group: 1, thread: 2, pool: 3, lane: 4};
const PAINT = {run: 0, runnable: 1, preempted: 2, unknown: 3, blocked: 4};
const OFF = {open: 1, suspect: 2, idle: 4, running: 8, noStack: 16, unclear: 32};
// The numbers of one off-CPU interval.
const F = {ran: 0, blocked: 1, rest: 2, bits: 3, path: 4, state: 5, waker: 6, context: 7,
	wakerPath: 8, cpuOut: 9, cpuIn: 10, size: 11};

function readConf() {
	const conf = readSettings();
	const pairs = (text) => String(text).split(" ").map((s) => s.split(":"));
	conf.paints = pairs(conf.paints).map(([rgb, name, pattern], i) =>
		({color: "#" + rgb, name, fill: i === PAINT.unknown ? "url(#hatch)" :
			Number(pattern) ? "url(#paint" + pattern + ")" : "#" + rgb}));
	conf.contexts = conf.contexts.split(" ");
	conf.reasons = conf.reasons.split("|");
	conf.losses = conf.losses.split("|");
	conf.takers = conf.takers.split("|");
	return conf;
}

function readTables() {
	const strings = element("t-strings").split("\n"), page = conf.fromPage ? host.page : null;
	const groups = (name, size, make) => {
		const num = readNumbers(element(name)), out = [];
		for (let i = 0; i + size <= num.length; i += size)
			out.push(make(num, i));
		return out;
	};
	const frames = groups("t-frames", 3, (n, i) => ({name: strings[n[i]] ||
		"[" + (strings[n[i + 1]].split("/").pop() || "unknown") + "]", kind: n[i + 2] & 7,
		isRuntime: n[i + 2] > 7}));
	const paths = [null].concat(groups("t-paths", 2, (n, i) => ({parent: n[i], frame: n[i + 1]})));
	const threads = page ? page.threads() : groups("t-threads", 5, (n, i) => ({comm: strings[n[i]], pid: n[i + 1] - 1,
		tid: n[i + 2] - 1, flags: n[i + 3], color: n[i + 4]}));
	if (page)
		groups("t-threads", 2, (n, i) => { threads[n[i]].color = n[i + 1]; });
	return {
		strings, threads, own: paths.length - 1, paths, page,
		states: page ? page.states : strings,
		events: groups("t-events", 1, (n, i) => strings[n[i]]),
		frames: page ? frames.concat(page.frames) : frames, ownFrames: frames.length,
		allPaths: paths.length + (page ? page.parent.length : 0),
	};
}

// The caller's path, and the number of the frame: the page's paths come after the picture's.
function callerOf(path) {
	const i = path - tables.own - 1, above = i < 0 ? tables.paths[path].parent : tables.page.parent[i];
	return i < 0 || !above ? above : above + tables.own;
}

function frameOf(path) {
	const i = path - tables.own - 1;
	return i < 0 ? tables.paths[path].frame : tables.page.frame[i] + tables.ownFrames;
}

// The frames of a call path, leaf first.
function stackOf(path) {
	const frames = [];
	for (; path; path = callerOf(path))
		frames.push(tables.frames[frameOf(path)]);
	return frames;
}

const KERNEL = 1;

// The place of a stack in the program: at most `most` application frames, innermost first; without any, the
// innermost named ones. And the omitted frames, which say how and not where, as one line.
function shortStack(path, most) {
	const all = stackOf(path), own = all.filter((f) => f.kind !== KERNEL && !f.isRuntime);
	const user = all.filter((f) => f.kind !== KERNEL);
	const shown = own.length ? own : user.length ? user : all;
	const kernel = all.filter((f) => f.kind === KERNEL), runtime = all.filter((f) => f.isRuntime && f.kind !== KERNEL);
	const left = [];
	if (shown !== all && kernel.length)
		left.push(kernel.length + (kernel.length === 1 ? " kernel frame" : " kernel frames"));
	if (shown === own && runtime.length)
		left.push(runtime.length + " of the runtime");
	return {where: shown.slice(0, most).map((f) => f.short || f.name).join(" < ") + (shown.length > most ? " < \u2026" : ""),
		left: left.length ? "\u2026 " + left.join(", ") + ": " + all.filter((f) => !shown.includes(f))
			.slice(0, 3).map((f) => f.short || f.name).join(" < ") + " \u2026" : ""};
}

class Reader {
	constructor(text) {
		this.num = readNumbers(text);
		this.at = 0;
	}

	next() {
		return this.num[this.at++];
	}

	signed() {
		const x = this.next();
		return x % 2 ? -(x + 1) / 2 : x / 2;
	}

	list(make) {
		const n = this.next(), out = [];
		for (let i = 0; i < n; i++)
			out.push(make());
		return out;
	}
}

// Segments per stored sum.
const BLOCK = 16;

// Segments: parallel arrays; segment i is [start[i], start[i + 1]).
class Segments {
	constructor(room) {
		this.n = 0;
		this.start = new Float64Array(room + 1);
		this.paint = new Uint8Array(room);
		this.ref = new Int32Array(room); // of threads: interval, or -1; of CPUs: thread
	}

	add(start, paint, ref) {
		this.start[this.n] = start;
		this.paint[this.n] = paint;
		this.ref[this.n++] = ref;
	}

	// When each block begins, and sums by paint up to then, for where many share a pixel.
	end(at) {
		this.start[this.n] = at;
		const seen = new Uint8Array(256);
		for (let i = 0; i < this.n; i++)
			seen[this.paint[i]] = 1;
		this.paints = Array.from(seen.keys()).filter((paint) => seen[paint]);
		const width = this.paints.length, blocks = Math.floor(this.n / BLOCK), place = new Uint8Array(256);
		this.paints.forEach((paint, k) => { place[paint] = k; });
		this.sums = new Float64Array((blocks + 1) * width);
		this.begins = new Float64Array(blocks + 1);
		for (let b = 0; b <= blocks; b++)
			this.begins[b] = this.start[b * BLOCK];
		for (let b = 0, i = 0; b < blocks; b++) {
			const to = (b + 1) * width;
			this.sums.copyWithin(to, b * width, to);
			for (; i < (b + 1) * BLOCK; i++)
				this.sums[to + place[this.paint[i]]] += this.start[i + 1] - this.start[i];
		}
	}

	// The same within `parts`, pairs of times in order; GAPs between them.
	within(parts) {
		const out = new Segments(this.n + 2 * parts.length + 1);
		let at = 0;
		for (const [from, to] of parts) {
			if (from > at)
				out.add(at, GAP, -1);
			for (let i = this.after(from); i < this.n && this.start[i] < to; i++)
				out.add(Math.max(this.start[i], from), this.paint[i], this.ref[i]);
			at = to;
		}
		out.end(at);
		return out;
	}

	// The first segment that ends after t; n when there is none.
	after(t) {
		return firstWhere(0, this.n, (i) => this.start[i + 1] > t);
	}
}

const GAP = 255;

function offPaint(bits, blocked) {
	const flags = bits >> 5 & 255;
	if (bits >> 13)
		return PAINT.unknown;
	if (!blocked)
		return flags & OFF.running ? PAINT.preempted : PAINT.runnable;
	if (flags & OFF.idle)
		return conf.idle;
	if (flags & OFF.unclear)
		return conf.noUnclear ? conf.idle + 1 : conf.unclear + (bits & 31);
	return PAINT.blocked + (bits & 31);
}

// A thread as numbers: its start, its end, off-CPU intervals.
function readOffs(r) {
	const at = r.signed(), last = r.signed();
	r.next();
	const n = r.next(), offs = r.num.subarray(r.at, r.at + n * F.size);
	r.at += n * F.size;
	return {at, last, n, offs};
}

function readThread(r, p, row) {
	row.threadNo = r.next();
	row.thread = tables.threads[row.threadNo];
	const {at: begin, last, n, offs} = tables.page ? tables.page.offs(row.threadNo, p.page, p.page + p.span, F, tables.own) : readOffs(r);
	let at = begin;
	row.offs = offs;
	row.offStart = new Float64Array(n);
	const segs = new Segments(3 * n + 1);
	for (let i = 0, k = 0; i < n; i++, k += F.size) {
		if (offs[k + F.ran])
			segs.add(at, PAINT.run, -1 - i);
		at += offs[k + F.ran];
		row.offStart[i] = at;
		if (offs[k + F.blocked])
			segs.add(at, offPaint(offs[k + F.bits], true), i);
		at += offs[k + F.blocked];
		if (offs[k + F.rest])
			segs.add(at, offPaint(offs[k + F.bits], false), i);
		at += offs[k + F.rest];
	}
	if (last > at)
		segs.add(at, PAINT.run, -1 - n);
	segs.end(Math.max(at, last));
	row.whole = row.segs = segs;
}

// The times that threads had a CPU.
function readRuns(r) {
	const n = r.next(), out = {n, start: new Float64Array(n), end: new Float64Array(n), thread: new Int32Array(n)};
	for (let i = 0, at = 0; i < n; i++) {
		out.start[i] = at + r.signed();
		out.end[i] = at = out.start[i] + r.next();
		out.thread[i] = r.next();
	}
	return out;
}

function readCpu(r, p, row) {
	const {n, start, end, thread} = tables.page ? tables.page.runs(row.cpu, p.page, p.page + p.span, isCut) : readRuns(r);
	const segs = new Segments(2 * n + 2), colors = conf.paints.length - 9;
	row.unrecorded = r ? conf.someCpus > 0 && !n : row.unrecorded;
	let shown = -Infinity; // two threads on a CPU at a time: the first one is shown
	for (let i = 0; i < n; i++) {
		if (end[i] <= shown)
			continue;
		if (start[i] > Math.max(shown, 0))
			segs.add(Math.max(shown, 0), GAP, -1);
		segs.add(Math.max(start[i], shown), colors + tables.threads[thread[i]].color, thread[i]);
		shown = end[i];
	}
	segs.end(Math.max(shown, 0));
	row.segs = segs;
}

// Samples of a row, in the order of time.
class Samples {
	constructor(columns) { // n, t, path, event
		Object.assign(this, columns);
	}

	// The first at t or later.
	firstAt(t) {
		return firstWhere(0, this.n, (i) => this.t[i] >= t);
	}
}

const NO_SAMPLES = new Samples({n: 0, t: [], path: [], event: []});

function readSamples(r, p) {
	const rows = [];
	let row = -1, at = 0;
	for (let n = r.next(); n > 0; n--) {
		const before = row;
		row = r.next();
		at = row === before ? at + r.next() : r.next();
		(rows[row] = rows[row] || []).push([at, r.next(), r.next()]);
	}
	p.rows.forEach((row, i) => {
		const list = rows[i] || [];
		const [t, path, event] = [0, 1, 2].map((k) => list.map((x) => x[k]));
		row.samples = list.length ? new Samples({n: list.length, t, path, event}) : NO_SAMPLES;
	});
	if (tables.page)
		p.rows.filter((row) => row.kind === ROW.thread).forEach((row) => readPageSamples(p, row));
}

function readPageSamples(p, row) {
	row.samples = new Samples(tables.page.samples(row.threadNo, p.page, p.page + p.span, tables.own, isCut));
}

let isCut = false;

// Cut rows to the page's current label, or restore them; rows without it are hidden.
function cutRows(p) {
	isCut = host.isCut();
	for (const row of p.rows) {
		if (row.kind === ROW.cpu)
			readCpu(null, p, row);
		if (row.kind !== ROW.thread)
			continue;
		row.parts = isCut ? tables.page.labelled(row.threadNo, p.page, p.page + p.span) : null;
		row.segs = row.parts ? row.whole.within(row.parts) : row.whole;
		row.hidden = row.parts !== null && row.parts.length === 0;
		readPageSamples(p, row);
	}
	for (const row of p.rows)
		if (row.members)
			row.hidden = row.members.length > 0 && row.members.every((member) => member.hidden);
	findWakeups(p);
}

// true when all of [from, to) lacks the label.
function isCutOff(row, from, to) {
	const {parts} = row, i = parts ? firstWhere(0, parts.length, (k) => parts[k][1] > from) : 0;
	return Boolean(parts) && (i === parts.length || parts[i][0] >= to);
}

function readRow(r, p) {
	const row = {kind: r.next(), samples: NO_SAMPLES, spans: [], marks: []};
	if (row.kind === ROW.thread) {
		readThread(r, p, row);
	} else if (row.kind === ROW.cpu) {
		row.index = row.cpu = r.next();
		readCpu(r, p, row);
	} else {
		row.thread = tables.threads[r.next()];
	}
	row.pool = row.kind === ROW.pool;
	if (row.pool)
		row.kind = ROW.group;
	row.h = [conf.cpuH, conf.groupH, conf.rowH][row.kind];
	return row;
}

const TAKER = {thread: 0, interrupt: 1};

function takerName(by, what) {
	return by === TAKER.thread ? threadText(tables.threads[what]) :
		by === TAKER.interrupt ? tables.strings[what] : "[" + conf.takers[by] + "]";
}

// A CPU's gap is named after what had the CPU for most of it.
function readGap(r) {
	const gap = {cpu: r.next(), t: r.signed(), length: r.next(), ns: r.next(), isVague: r.next() === 1};
	gap.parts = r.list(() => ({ns: r.next(), name: takerName(r.next(), r.next())}));
	gap.name = gap.parts.length ? gap.parts[0].name : "gap";
	return gap;
}

function readPanel(text, index) {
	const r = new Reader(text), p = {index};
	p.page = tables.page ? r.signed() : 0; // its start there
	p.base = r.next();
	p.span = r.next();
	p.zero = r.next() - p.base; // may be negative
	p.rows = r.list(() => readRow(r, p));
	readSamples(r, p);
	r.list(() => p.rows[r.next()].spans.push({t: r.signed(), length: r.next(),
		name: (tables.strings[r.next()] + " " + tables.strings[r.next()]).trim(), last: tables.threads[r.next()]}));
	r.list(() => p.rows[r.next()].marks.push({t: r.next(), name: tables.strings[r.next()],
		text: tables.strings[r.next()], path: r.next()}));
	p.losses = r.list(() => ({t: r.signed(), length: r.next(), cpu: r.next() - 1,
		kind: r.next(), count: r.next()}));
	if (tables.page)
		p.losses = tables.page.losses(p.page, p.page + p.span);
	p.irqs = r.list(() => ({cpu: r.next(), t: r.signed(), length: r.next(), name: tables.strings[r.next()]}));
	p.gaps = r.list(() => readGap(r));
	r.list(() => {
		const row = p.rows[r.next()], interval = r.next();
		row.held = row.held || new Map();
		row.held.set(interval, (row.held.get(interval) || []).concat({thread: r.next(), after: r.next(), ns: r.next()}));
	});
	p.highlights = r.list(() => ({row: r.next(), t: r.signed(), length: r.next()}));
	p.given = r.next() === 1;
	p.arrows = r.list(() => ({from: r.next(), to: r.next(), t: r.signed(), waited: 0}));
	if (!p.given)
		findWakeups(p);
	p.view = {from: 0, to: p.span};
	p.markers = {};
	return p;
}

// For each thread's row, the wakeups by threads of other rows in order of time: when, by which row, and the
// length of the wait.
function findWakeups(p) {
	const rowOf = new Map();
	p.rows.forEach((row, i) => {
		if (row.kind === ROW.thread)
			rowOf.set(row.threadNo, i);
	});
	p.rows.forEach((row, to) => {
		if (row.kind === ROW.thread)
			row.wakeups = wakeupsOf(p, row, to, rowOf);
	});
}

function wakeupsOf(p, row, to, rowOf) {
	const most = row.offStart.length, out = {n: 0, t: new Float64Array(most), from: new Int32Array(most), waited: new Float64Array(most)};
	for (let i = 0, at = 0; i < most; i++, at += F.size) {
		const waker = row.offs[at + F.waker], from = waker ? rowOf.get(waker - 1) : undefined;
		const waited = row.offs[at + F.blocked], t = row.offStart[i] + waited;
		if (from === undefined || from === to || row.offs[at + F.bits] >> 10 || t < 0 || t >= p.span || isCutOff(row, t - 1, t + 1))
			continue;
		out.t[out.n] = t;
		out.from[out.n] = from;
		out.waited[out.n++] = waited;
	}
	return out;
}

const conf = readConf();
const tables = readTables();
const panels = [...svg.getElementsByTagName("t-panel")].map((e, i) => readPanel(e.textContent, i));
