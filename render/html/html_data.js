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

// The bytes of an element; its text is given back.
async function inflate(id) {
	const e = document.getElementById(id), bytes = fromBase64(e.textContent);
	const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
	return new Uint8Array(await new Response(stream).arrayBuffer());
}

async function inflateText(id) {
	return new TextDecoder().decode(await inflate(id));
}

// n numbers, first the lowest byte of each, then the second, and so on; signed ones are doubled,
// less one if negative.
function readColumn(bytes, at, n, width, isSigned) {
	const out = new (isSigned || width > 3 ? Float64Array : [Uint8Array, Uint8Array, Uint16Array, Int32Array][width])(n);
	for (let k = 0, unit = 1; k < width; k++, unit *= 256)
		for (let i = 0; i < n; i++)
			out[i] += bytes[at++] * unit;
	for (let i = 0; isSigned && i < n; i++)
		out[i] = out[i] % 2 ? -(out[i] + 1) / 2 : out[i] / 2;
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
		const rows = new Int32Array(table.row.length);
		for (let i = 0; i < rows.length; i++)
			rows[i] = table.row[i] ? table.row[i] - 1 : next++;
		table.row = rows;
		if (table.lines.length)
			table.lines = placeLines(table.lines, rows, m);
	}
}

// Stacks of lines: 0 is the row's last one.
function placeLines(lines, rows, n) {
	const last = new Int32Array(n);
	return Int32Array.from(lines, (x, i) => {
		last[rows[i]] = x ? x - 1 : last[rows[i]];
		return last[rows[i]];
	});
}

// Samples of each CPU get their times; then they stand in the order of time.
function placeSamples(sample) {
	const n = sample.t.length, first = [];
	for (let i = 0, at = 0, tick = 0; i < n; i++) {
		sample.t[i] = at += tick += sample.t[i];
		if (!i || sample.cpu[i] !== sample.cpu[i - 1])
			first.push(i);
	}
	const order = mergeInTime(sample.t, first.map((i, k) => [i, k + 1 < first.length ? first[k + 1] : n]));
	for (const field in sample) {
		const from = sample[field], to = new from.constructor(n);
		for (let i = 0; i < n; i++)
			to[i] = from[order[i]];
		sample[field] = to;
	}
}

// The numbers of v's stretches [from, to), each in order, as one in order: two and two merged.
function mergeInTime(v, parts) {
	let order = new Int32Array(v.length).map((x, i) => i), other = order.slice();
	while (parts.length > 1) {
		const next = [];
		for (let k = 0; k < parts.length; k += 2) {
			const [first, mid] = parts[k];
			let a = first, b = mid;
			const end = k + 1 < parts.length ? parts[k + 1][1] : mid;
			next.push([first, end]);
			for (let i = a; i < end; i++)
				other[i] = b >= end || a < mid && v[order[a]] <= v[order[b]] ? order[a++] : order[b++];
		}
		[order, other] = [other, order];
		parts = next;
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
		out.label.push(name.replace(/_\[[kjiw]\]$/, ""));
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
