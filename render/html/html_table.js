// html_table.js - functions of the flame graph as a table: self, total, and of one of them who
// calls it and what it calls.

const TABLE_ROWS = 100, NAME_ROOM = 56, LEAST_ROOM = 24;
const NUMBERS = 280, CHARACTER = 7.6; // px

// enum in html_data.c: a runtime's or the kernel's; how: wrappers of waits, the scheduler.
const PART = {runtime: 1, kernel: 2, how: 4};
const HOW_KERNEL = PART.kernel | PART.how;

function hasWaits(graph) {
	return graph === "off" || graph === "wall" || graph === "tail";
}

// By node, where a thread waits that is off the CPU there: the innermost named function of the program, else of
// the kernel, and not the scheduler that all waits end in (app_frame.h).
function waitsWhere(tree) {
	const own = new Int32Array(tree.n), kernel = new Int32Array(tree.n), where = new Int32Array(tree.n);
	for (let i = 1; i < tree.n; i++) {
		const up = tree.parent[i], frame = tree.frame[i], part = frames.part[frame], kind = frames.kind[frame];
		const isCode = tree.depth[i] > 1 && kind !== KIND.mark && kind !== KIND.wait, isHow = part & PART.how;
		const isOwn = isCode && frames.label[frame][0] !== "[" && !(part & (PART.runtime | PART.kernel)) && !(isHow && own[up] === up);
		own[i] = isOwn ? i : own[up];
		kernel[i] = isCode && part & PART.kernel && !isHow ? i : kernel[up];
		where[i] = own[i] || kernel[i] || (kind === KIND.wait ? up : i);
	}
	return where;
}

// Functions: the frames of one name, by number.
let functionNames = null, functionNo = null;

function numberFunctions() {
	const seen = new Map();
	functionNo = Int32Array.from(frames.label, (name) => {
		if (!seen.has(name))
			seen.set(name, seen.size);
		return seen.get(name);
	});
	functionNames = [...seen.keys()];
}

// Which of the names are functions, not marks like [open] or causes: those are told only where no function is known.
function codeNames() {
	const isCode = new Uint8Array(functionNames.length);
	for (let i = 0; i < frames.n; i++)
		if (frames.kind[i] !== KIND.mark && frames.kind[i] !== KIND.wait)
			isCode[functionNo[i]] = 1;
	return isCode;
}

// By function: self and total; each stack counts once. Of waits, self is where the program waits.
function functionsOf(tree, graph) {
	if (!functionNo)
		numberFunctions();
	const where = hasWaits(graph) ? waitsWhere(tree) : null, no = (i) => functionNo[tree.frame[i]];
	const isWait = (i) => graph === "off" || frames.kind[tree.frame[i]] === KIND.wait || (graph === "tail" && frames.part[tree.frame[i]] === HOW_KERNEL);
	const n = functionNames.length, numbers = () => new Float64Array(n), two = tree.self1 !== null;
	const self = numbers(), total = numbers(), self1 = numbers(), total1 = numbers(), above = new Int32Array(n), open = [];
	for (let i = 1; i < tree.n; i++) {
		while (open.length && tree.end[open[open.length - 1]] <= i)
			above[no(open.pop())]--;
		const own = no(i), at = where && isWait(i) ? no(where[i]) : own;
		self[at] += tree.self[i];
		self1[at] += two ? tree.self1[i] : 0;
		if (tree.depth[i] === 1)
			continue; // a thread, which stands here only for what has no function
		if (!above[own]++) {
			total[own] += tree.total[i];
			total1[own] += two ? tree.total1[i] : 0;
		}
		open.push(i);
	}
	const isCode = codeNames();
	return functionNames.map((name, k) => ({name, self: self[k], total: Math.max(total[k], self[k]), self1: self1[k], total1: Math.max(total1[k], self1[k])}))
		.filter((f, k) => (isCode[k] || f.self > 0 || f.self1 > 0) && (f.total > 0 || f.total1 > 0));
}

// Weights of the callers and callees of all calls of a function.
function neighbours(tree, name) {
	const callers = new Map(), callees = new Map();
	const add = (map, frame, x) => map.set(frames.label[frame], (map.get(frames.label[frame]) || 0) + x);
	for (let i = 1; i < tree.n; i++) {
		if (frames.label[tree.frame[i]] === name)
			add(callers, tree.frame[tree.parent[i]], tree.total[i]);
		else if (frames.label[tree.frame[tree.parent[i]]] === name && tree.parent[i])
			add(callees, tree.frame[i], tree.total[i]);
	}
	return [callers, callees];
}

function share(x, whole) {
	return whole > 0 ? (100 * x / whole).toFixed(1) + " %" : "";
}

let frameByLabel = null;

// A function's name, cut as in the graph.
function functionText(name, room = NAME_ROOM) {
	if (name.length <= room)
		return name;
	frameByLabel = frameByLabel || new Map(frames.label.map((label, i) => [label, i]));
	return frameByLabel.has(name) ? fitName(frameByLabel.get(name), room) : name;
}

// How many characters of a name fit into what is left of a box.
function roomFor(box, taken, least = LEAST_ROOM) {
	return Math.min(Math.max(Math.floor((box.clientWidth - taken) / CHARACTER), least), NAME_ROOM);
}

function functionLink(name, room) {
	const text = functionText(name, room);
	return el("button", {class: "link", title: text === name ? null : name, onclick: () => chooseFunction(name)}, text);
}

function sideTable(caption, map, kind, whole) {
	const rows = [...map].sort((a, b) => b[1] - a[1]).slice(0, 12);
	return table(caption, ["function", "time", "share"].map((h) => h === "time" && unitOf(kind) !== "ns" ? "weight" : h),
		rows.map(([name, x]) => [functionLink(name), weighText(kind, x), share(x, whole)]), [1, 2]);
}

function drawSandwich(tree, kind) {
	const box = document.getElementById("sandwich"), whole = tree.total[0], all = view.functions;
	const key = view.sort === "self" ? "self" : "total";
	all.sort((a, b) => b[key] - a[key] || (a.name < b.name ? -1 : 1));
	const sorter = (k) => el("button", {class: "link", "aria-pressed": String(key === k), onclick: () => {
		view.sort = k;
		drawSandwich(view.tree, view.graph);
		saveView(false);
	}}, k);
	const isDiff = kinds[kind].mode === "diff", cells = (all) => all.filter((x, i) => isDiff || i % 3);
	box.textContent = "";
	box.classList.toggle("two", isDiff);
	// What the numbers leave: they are never pushed out.
	const room = roomFor(box, isDiff ? 400 : NUMBERS);
	if (hasWaits(kind))
		box.append(el("p", {class: "note"}, "self, of waits: the innermost function of the program, without how the runtime and the kernel wait"));
	box.append(table("Functions of " + kinds[kind].what() + (all.length > TABLE_ROWS ? ", the first " + TABLE_ROWS + " of " + all.length : ""),
		["function", ...cells(["median's", sorter("self"), unseen("share"), "median's", sorter("total"), unseen("share")])], all.slice(0, TABLE_ROWS).map((f) => ({
			attrs: {class: f.name === view.fn ? "chosen" : null},
			cells: [functionLink(f.name, room), ...cells([isDiff && share(f.self1, tree.total1[0]), weighText(kind, f.self), share(f.self, whole),
				isDiff && share(f.total1, tree.total1[0]), weighText(kind, f.total), share(f.total, whole)])]})),
		[1, 2, 3, 4, 5, 6]));
	if (view.fn && all.some((f) => f.name === view.fn)) {
		const [callers, callees] = neighbours(tree, view.fn);
		box.append(el("div", {class: "beside"}, sideTable("Callers of " + functionText(view.fn), callers, kind, whole),
			sideTable("Called by " + functionText(view.fn), callees, kind, whole)));
	}
	dimRows();
}

// Callers and callees of one function, in the graph and beside it; the same again: of none.
function chooseFunction(name) {
	view.fn = view.fn === name ? "" : name;
	const f = flames[flameKey(view.graph)];
	if (f && !f.host.hidden)
		f.svg.flame.focus(view.fn || null);
	drawSandwich(view.tree, view.graph);
	showSource(view.fn, null);
	saveView(true);
}
