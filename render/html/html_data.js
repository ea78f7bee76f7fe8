// html_data.js - what the page carries, decoded: a head (JSON), names, and columns of numbers
// (html_data.h says which; html_column.h how they are written).

const conf = {span: 0}; // for flame_merge.js: no lanes here
let head = null, strings = [], data = null, frames = null, given = [];

function fromBase64(text) {
	if (Uint8Array.fromBase64)
		return Uint8Array.fromBase64(text);
	const raw = atob(text), bytes = new Uint8Array(raw.length);
	for (let i = 0; i < raw.length; i++)
		bytes[i] = raw.charCodeAt(i);
	return bytes;
}

// The bytes of an element. (A Blob's stream and a Response would pass them between processes.)
async function inflate(id) {
	const {writable, readable} = new DecompressionStream("deflate"), to = writable.getWriter(), from = readable.getReader(), parts = [];
	const given = to.write(fromBase64(document.getElementById(id).textContent)).then(() => to.close());
	let n = 0;
	for (let part = await from.read(); !part.done; part = await from.read()) {
		parts.push(part.value);
		n += part.value.length;
	}
	await given;
	const out = new Uint8Array(n);
	n = 0;
	for (const part of parts) {
		out.set(part, n);
		n += part.length;
	}
	return out;
}

async function inflateText(id) {
	return new TextDecoder().decode(await inflate(id));
}

// n numbers of up to four bytes: first the lowest of each, then the second, and so on.
function readWords(bytes, at, n, width, out) {
	const b = at + n, c = b + n, d = c + n;
	for (let i = 0; width === 1 && i < n; i++)
		out[i] = bytes[at + i];
	for (let i = 0; width === 2 && i < n; i++)
		out[i] = bytes[at + i] | bytes[b + i] << 8;
	for (let i = 0; width === 3 && i < n; i++)
		out[i] = bytes[at + i] | bytes[b + i] << 8 | bytes[c + i] << 16;
	for (let i = 0; width === 4 && i < n; i++)
		out[i] = bytes[at + i] | bytes[b + i] << 8 | bytes[c + i] << 16 | bytes[d + i] << 24;
	return out;
}

// The same of five bytes and more.
function readLong(bytes, at, n, width, isSigned) {
	const out = new Float64Array(n), b = at + n, c = b + n, d = c + n, e = d + n;
	for (let i = 0; i < n; i++) {
		const low = (bytes[at + i] | bytes[b + i] << 8 | bytes[c + i] << 16 | bytes[d + i] << 24) >>> 0;
		let high = bytes[e + i];
		for (let k = 5, by = 256; k < width; k++, by *= 256)
			high += bytes[at + k * n + i] * by;
		const x = low + 2 ** 32 * high;
		out[i] = !isSigned ? x : low & 1 ? -(x + 1) / 2 : x / 2;
	}
	return out;
}

// Signed numbers are doubled, less one if negative.
function readColumn(bytes, at, n, width, isSigned) {
	if (width > 4)
		return readLong(bytes, at, n, width, isSigned);
	if (width < 2 && !isSigned)
		return width ? bytes.slice(at, at + n) : new Uint8Array(n);
	const out = readWords(bytes, at, n, width, new (width > 2 || isSigned ? isSigned ? Int32Array : Uint32Array : Uint16Array)(n));
	for (let i = 0; isSigned && i < n; i++)
		out[i] = out[i] >>> 1 ^ -(out[i] & 1);
	return out;
}

const SIGNED = new Set(["sample.t", "row.path", "life.thread", "life.gap"]);

// data.sample.row[i] and so on.
function readColumns(bytes, columns) {
	const out = {};
	let at = 0;
	for (const [name, n, width] of columns) {
		const [table, field] = name.split(".");
		out[table] = out[table] || {};
		out[table][field] = readColumn(bytes, at, n, width, SIGNED.has(name));
		at += n * width;
	}
	return out;
}

// Numbers of stacks instead of what tells them from the ones before.
function placeStacks({path, row, sample, wait}) {
	const n = path.frame.length, m = row.path.length, parents = new Int32Array(n), paths = new Int32Array(m);
	for (let i = 0; i < n; i++)
		parents[i] = i - path.parent[i];
	for (let i = 0, most = 0; i < m; i++)
		most = Math.max(most, paths[i] = most + row.path[i]);
	path.parent = parents;
	row.path = paths;
	let next = 0;
	for (const table of [sample, wait]) {
		const rows = new Uint32Array(table.row.length);
		for (let i = 0; i < rows.length; i++)
			rows[i] = table.row[i] ? table.row[i] - 1 : next++;
		table.row = rows;
		if (table.lines.length)
			table.lines = placeLines(table.lines, rows, m);
	}
}

// Stacks of lines: 0 is the row's last one.
function placeLines(lines, rows, n) {
	const last = new Uint32Array(n), out = new Uint32Array(lines.length);
	for (let i = 0; i < out.length; i++)
		out[i] = last[rows[i]] = lines[i] ? lines[i] - 1 : last[rows[i]];
	return out;
}

// Samples of each CPU get their times; then they stand in the order of time.
function placeSamples(sample) {
	const n = sample.t.length, by = sample.t, t = sample.t = new Float64Array(n);
	for (let i = 0, at = 0, tick = 0; i < n; i++)
		t[i] = at += tick += by[i];
	const order = orderOf(t);
	for (const field in sample)
		sample[field] = inOrder(sample[field], order);
}

// By bytes of an element: a loop for each is quick, one for all is not.
const GATHER = {
	1: [Uint8Array, (from, order, to) => { for (let i = 0; i < order.length; i++) to[i] = from[order[i]]; }],
	2: [Uint16Array, (from, order, to) => { for (let i = 0; i < order.length; i++) to[i] = from[order[i]]; }],
	4: [Uint32Array, (from, order, to) => { for (let i = 0; i < order.length; i++) to[i] = from[order[i]]; }],
	8: [Float64Array, (from, order, to) => { for (let i = 0; i < order.length; i++) to[i] = from[order[i]]; }],
};

function inOrder(from, order) {
	const [Kind, gather] = GATHER[from.BYTES_PER_ELEMENT], to = new from.constructor(from.length ? order.length : 0);
	if (from.length)
		gather(new Kind(from.buffer, from.byteOffset, from.length), order, new Kind(to.buffer));
	return to;
}

// The numbers of what is in v, in order: stretches that are in order already, as those of a CPU, are merged
// two by two.
function orderOf(v) {
	const n = v.length, ends = [];
	let order = new Int32Array(n), other = new Int32Array(n);
	for (let i = 0; i < n; i++) {
		order[i] = i;
		if (i + 1 === n || v[i + 1] < v[i])
			ends.push(i + 1);
	}
	while (ends.length > 1) {
		for (let k = 0, a = 0; k < ends.length; k += 2) {
			const middle = ends[k], end = ends[Math.min(k + 1, ends.length - 1)];
			for (let i = a, b = middle, to = a; to < end; to++)
				other[to] = i < middle && (b >= end || v[order[i]] <= v[order[b]]) ? order[i++] : order[b++];
			ends[k / 2] = a = end;
		}
		ends.length = Math.ceil(ends.length / 2);
		[order, other] = [other, order];
	}
	return order;
}

// Waits and runs get their threads and times.
function placeLives({life, wait, run}) {
	let thread = 0, at = 0;
	for (const table of [wait, run]) {
		const n = (table.row || table.ns).length;
		Object.assign(table, {n: 0, thread: new Int32Array(n), start: new Float64Array(n), end: new Float64Array(n)});
	}
	const pieces = head.labels.map(() => 0);
	for (const table of [wait, run])
		head.labels.forEach((key, no) => { table["first" + no] = new Int32Array(table.start.length); });
	for (let i = 0; i < life.wait.length; i++) {
		const table = life.wait[i] ? wait : run, k = table.n++;
		at = life.thread[i] ? life.gap[i] : at + life.gap[i];
		thread += life.thread[i];
		table.thread[k] = thread;
		for (let no = 0; no < pieces.length; no++) {
			table["first" + no][k] = pieces[no];
			pieces[no] += table["parts" + no][k];
		}
		table.start[k] = at;
		table.end[k] = at += table === wait ? wait.blocked[k] + wait.rest[k] : run.ns[k];
	}
	wait.any = wait.bits.some((bits) => !(bits & BIT.out));
	run.any = run.out.some((out) => !out);
	delete data.life;
}

// Threads get the numbers of their cgroups in head.cgroups; the first one is not known.
function placeCgroups(thread) {
	const no = new Map([[0, 0]]);
	head.cgroups = [{path: "", name: ""}];
	thread.cgroup = Int32Array.from(thread.cgroup, (path, i) => {
		if (!no.has(path)) {
			no.set(path, head.cgroups.length);
			head.cgroups.push({path: strings[path], name: strings[thread.container[i]] || strings[path]});
		}
		return no.get(path);
	});
}

// Threads get the numbers of their programs in head.programs: the name of the process's first thread.
function placePrograms(thread) {
	const first = new Map(), no = new Map();
	thread.pid.forEach((pid, i) => {
		if (thread.tid[i] === pid || !first.has(pid))
			first.set(pid, strings[thread.name[i]]);
	});
	head.programs = [];
	thread.program = Int32Array.from(thread.pid, (pid) => {
		const name = first.get(pid);
		if (!no.has(name)) {
			no.set(name, head.programs.length);
			head.programs.push(name);
		}
		return no.get(name);
	});
}

function programOf(thread) {
	return head.programs[data.thread.program[thread]];
}

// The colour of a state or cause, the same in all pictures (palette.c).
function meaning(name) {
	const isDark = !isWorker && window.matchMedia("(prefers-color-scheme: dark)").matches;
	return hex((head.palette[name] || head.palette.unknown)[isDark ? 1 : 0]);
}

function hex(rgb) {
	return "#" + rgb.toString(16).padStart(6, "0");
}

// As the flame graphs' scripts want them (flame_tree.js, readFrames).
function makeFrames() {
	const f = data.frame, n = f.name.length, out = {n, smaller: 0, name: [], label: [], short: [], own: f.own, kind: Uint8Array.from(f.kind),
		part: Uint8Array.from(f.part, (x) => x & 7), thin: Uint8Array.from(f.part, (x) => x >> 3 & 1), dso: [], src: [], hot: [], cold: [], chain: [], order: new Int32Array(n)};
	for (let i = 0; i < n; i++) {
		const name = strings[f.name[i]];
		out.name.push(name);
		out.label.push(labelOf(name));
		out.short.push(f.short[i] ? strings[f.short[i]] : out.label[i]);
		out.dso.push(strings[f.dso[i]]);
		out.src.push(!f.src[i] ? "" : strings[f.src[i]] + (f.line[i] ? ":" + f.line[i] : "") +
			(f.to[i] ? "\u2013" + f.to[i] : ""));
		out.hot.push(hex(f.hot[i]));
		out.cold.push(hex(f.cold[i]));
		out.chain.push(hex(f.chain[i]));
	}
	const byName = Array.from(out.order.keys()).sort((a, b) =>
		out.name[a] < out.name[b] ? -1 : out.name[a] > out.name[b] ? 1 : a - b);
	byName.forEach((frame, rank) => { out.order[frame] = rank; });
	return out;
}

// The graphs that the program computed: {kind, episode, scale, tree}.
function makeGraphs() {
	const {node} = data;
	let at = 0;
	return (head.graphs || []).map(({kind, episode, nodes, before_scale: scale}) => {
		const tree = newTree(nodes, scale > 0), above = [0];
		for (let i = 0; i < nodes; i++, at++) {
			const depth = i ? tree.depth[i - 1] + 1 - node.ups[at] : 0;
			tree.frame[i] = node.frame[at];
			tree.depth[i] = depth;
			tree.parent[i] = depth ? above[depth - 1] : 0;
			tree.self[i] = node.v0[at];
			if (scale > 0)
				tree.self1[i] = node.v1[at];
			above[depth] = i;
		}
		return {kind, episode, scale, tree: sumUp(tree)};
	});
}

async function readHead() {
	head = JSON.parse(await inflateText("head"));
}

async function readData() {
	strings = (await inflateText("strings")).split("\n");
	data = readColumns(await inflate("columns"), head.columns);
	placeStacks(data);
	placeSamples(data.sample);
	placeLives(data);
	placeCgroups(data.thread);
	placePrograms(data.thread);
	frames = makeFrames();
	given = makeGraphs();
}

// --- texts: those of the pictures (svg_common.js) ----------------------------------------------

function countText(x) {
	return String(x).replace(/\B(?=(\d{3})+$)/g, ",");
}

// A moment as the clock has it, to the nanosecond: "7183.812494000", as --time takes it.
function clockText(t) {
	const ns = BigInt(head.from_ns) + BigInt(Math.round(t)), s = String(ns).padStart(10, "0");
	return s.slice(0, -9) + "." + s.slice(-9);
}

// A moment, from the recording's begin, also in a report of a part: "+539 ms", "+2.351 s".
function sinceText(t) {
	const ns = t + head.before_ns;
	return "+" + (ns < 1e9 ? timeText(ns) : (ns / 1e9).toFixed(3) + " s");
}

// --- elements --------------------------------------------------------------------------------

// A text in which nothing can hide or turn the reading: such characters as \u{NNNN} (escape.h).
function visible(text) {
	return text.replace(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]/g,
		(c) => "\\u{" + c.charCodeAt(0).toString(16).padStart(4, "0") + "}");
}

// An element with attributes and children; texts go in as texts, made visible.
function el(name, attrs, ...children) {
	const e = document.createElement(name);
	for (const [key, value] of Object.entries(attrs || {}))
		if (key.startsWith("on"))
			e.addEventListener(key.slice(2), value);
		else if (value !== null && value !== false)
			e.setAttribute(key, value === true ? "" : value);
	for (const c of children.flat())
		if (c !== null && c !== undefined)
			e.append(typeof c === "string" ? visible(c) : c);
	return e;
}

// Text for those who do not see the page.
function unseen(text) {
	return el("span", {class: "unseen"}, text);
}

// Rows of cells as a table; `right`: the numbers of columns that hold numbers.
function table(caption, heads, rows, right) {
	const tall = rows.length > 25 ? " tall" : "";
	const cell = (kind) => (c, i) => el(kind, {class: right.includes(i) ? "number" : null,
		scope: kind === "th" ? "col" : null}, c);
	return el("div", {class: "scroll" + tall, tabindex: 0, role: "region", "aria-label": caption}, el("table", {},
		el("caption", {}, caption), el("thead", {}, el("tr", {}, heads.map(cell("th")))),
		el("tbody", {}, rows.map((r) => el("tr", r.attrs || {}, (r.cells || r).map(cell("td")))))));
}
