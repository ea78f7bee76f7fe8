// flame_ui.js - what a person does with the picture: zoom, search, focus, hide, flip, merge
// from the leaf; with the mouse or the keyboard; kept in the URL's fragment.

const conf = readConf();
const frames = readFrames();
const base = readTree(conf.two > 0);
base.total[0] = Math.max(base.total[0], conf.total);

// Everything that decides what is seen. `zoom` counts nodes of tree 0 (the function and what
// it calls) or 1 (its callers) of the view; names are labels.
const state = {tree: 0, zoom: 0, search: "", fold: false, hide: [], focus: null, leaf: false,
	icicle: conf.inverted > 0};
const undo = [];
let view = null, boxes = [], rows = new Map(), matcher = null, hits = [], hitAt = -1;
let selected = null, baseLine = 0, drawMs = 0;

const ui = {
	frames: svg.querySelector("#frames"), foot: svg.querySelector("#foot"),
	drawn: svg.querySelector("#drawn"),
	details: svg.querySelector("#details"), matched: svg.querySelector("#matched"),
};

// --- views ---------------------------------------------------------------------------------

function goneNode(tree) {
	for (let i = 1; i < tree.n; i = tree.end[i])
		if (frames.kind[tree.frame[i]] === KIND.gone)
			return i;
	return -1;
}

function buildView() {
	let tree = base;
	const merged = state.leaf || state.focus !== null;
	const hidden = new Set(state.hide);
	tree = without(tree, (f) => hidden.has(frames.label[f]) ||
		(merged && frames.kind[f] === KIND.gone));
	if (state.leaf)
		tree = fromLeaf(tree, frames);
	view = {trees: [tree]};
	if (state.focus !== null) {
		const first = frames.label.indexOf(state.focus);
		view.trees = around(tree, frames, (f) => frames.label[f] === state.focus,
			first < 0 ? 0 : first);
	}
	for (const t of view.trees) {
		t.gone = goneNode(t);
		t.whole = t.total[0];
	}
	if (view.trees[1])
		view.trees[1].upward = true;
}

function matches(frame) {
	return matcher !== null && matcher[frame] === 1;
}

function compile() {
	matcher = null;
	const input = svg.querySelector("input.search");
	if (input)
		input.classList.remove("bad");
	if (!state.search)
		return;
	try {
		const re = new RegExp(state.search, state.fold ? "i" : "");
		matcher = frames.label.map((s, i) => frames.kind[i] !== KIND.gap &&
			(re.test(s) || re.test(frames.name[i])) ? 1 : 0);
	} catch (e) {
		if (input)
			input.classList.add("bad");
	}
}

// The outermost matching nodes in the zoomed part; each stack counts once.
function findHits() {
	const tree = view.trees[0], top = state.tree === 0 ? state.zoom : 0;
	let sum = 0;
	hits = [];
	for (let i = top; matcher && i < tree.end[top];) {
		if (!matches(tree.frame[i])) {
			i++;
			continue;
		}
		sum += tree.total[i];
		hits.push(i);
		i = tree.end[i];
	}
	const whole = top ? tree.total[top] : tree.whole;
	ui.matched.textContent = matcher ? "Matched: " + percent(sum, whole) +
		" (" + weightText(sum) + ", " + hits.length + (hits.length === 1 ? " place)" : " places)") : "";
}

// What the view leaves out, in the corner below the graph.
function showDrawn(pruned) {
	const tree = view.trees[0], top = state.tree === 0 ? state.zoom : 0, parts = [];
	const share = pruned / tree.total[top];
	if (state.focus !== null)
		parts.push("calls of " + state.focus);
	if (state.hide.length)
		parts.push("without " + state.hide.join(", "));
	parts.push(weightText(tree.total[top]) + (tree.total[top] < base.total[0] ?
		" of " + weightText(base.total[0]) : ""));
	if (share > 0)
		parts.push((100 * share).toFixed(share < 0.00095 ? 3 : 1) + "% in frames too narrow to draw");
	ui.drawn.textContent = parts.join(" \u00b7 ");
}

// --- drawing -------------------------------------------------------------------------------

function resize(height) {
	svg.setAttribute("height", height);
	svg.setAttribute("viewBox", "0 0 " + conf.width + " " + height);
}

function setRows() {
	let low = 0, high = 0;
	for (const b of boxes) {
		low = Math.min(low, b.row);
		high = Math.max(high, b.row);
	}
	const h = conf.frameHeight, before = state.icicle ? -low : high;
	const graph = Math.max((high - low + 1) * h, view.trees[0] === base ? conf.graph : 0);
	const slack = state.icicle ? 0 : graph - (high - low + 1) * h;
	baseLine = conf.top + slack + before * h;
	rows = new Map();
	for (const b of boxes) {
		b.y = baseLine + (state.icicle ? b.row : -b.row) * h;
		if (!rows.has(b.row))
			rows.set(b.row, []);
		rows.get(b.row).push(b);
	}
	ui.foot.setAttribute("transform", "translate(0 " + (conf.top + graph) + ")");
	resize(conf.top + graph + conf.foot);
}

function redraw() {
	const start = performance.now();
	const made = boxesOf(view, {tree: state.tree, node: state.zoom});
	boxes = made.boxes;
	setRows();
	showDrawn(made.pruned);
	findHits();
	painter.draw(boxes, matches);
	select(selected && boxes.find((b) => b.t === selected.t && b.node === selected.node) || null);
	hideTip();
	setButtons();
	drawMs = performance.now() - start;
}

function outline(id, b) {
	const r = svg.querySelector("#" + id);
	r.setAttribute("display", b ? "inline" : "none");
	if (b) {
		r.setAttribute("x", b.x - 0.5);
		r.setAttribute("y", b.y - 0.5);
		r.setAttribute("width", b.w + 1);
		r.setAttribute("height", conf.frameHeight);
	}
}

// The line below the graph; it ends before the search's result begins.
function say(b) {
	const text = b ? conf.nametype + " " + describe(b.tree, b.node).join(" \u00b7 ") : "";
	const room = (conf.width - 2 * conf.pad - (matcher ? 340 : 0)) / (12 * conf.fontWidth);
	ui.details.textContent = text.length > room ? text.slice(0, room - 2) + ".." : text;
}

function select(b) {
	selected = b ? {t: b.t, node: b.node, frame: b.tree.frame[b.node]} : null;
	outline("select", b);
	say(b);
	setButtons();
}

function selectedBox() {
	return selected && boxes.find((b) => b.t === selected.t && b.node === selected.node);
}

// --- the tooltip ---------------------------------------------------------------------------

function showTip(b, x, y) {
	showCard(describe(b.tree, b.node), x, y);
}

function hideTip() {
	svg.querySelector("#tip").setAttribute("display", "none");
	outline("hover", null);
}

// --- where the mouse is --------------------------------------------------------------------

function boxAt(x, y) {
	const steps = Math.floor((y - baseLine) / conf.frameHeight);
	const row = rows.get(state.icicle ? steps : -steps) || [];
	let low = 0, high = row.length - 1;
	while (low <= high) {
		const mid = (low + high) >> 1, b = row[mid];
		if (x < b.x)
			high = mid - 1;
		else if (x >= b.x + b.w)
			low = mid + 1;
		else
			return b;
	}
	return null;
}

// --- the URL -------------------------------------------------------------------------------

function saveState() {
	const q = new URLSearchParams();
	if (state.zoom)
		q.set("z", (state.tree ? "c" : "") + state.zoom);
	if (state.search)
		q.set("s", state.search);
	if (state.fold)
		q.set("ic", "1");
	if (state.focus !== null)
		q.set("f", state.focus);
	if (state.leaf)
		q.set("leaf", "1");
	if (state.icicle !== conf.inverted > 0)
		q.set("flip", "1");
	for (const name of state.hide)
		q.append("h", name);
	const text = q.toString();
	try {
		history.replaceState(null, "", text ? "#" + text : location.pathname + location.search);
	} catch (e) {
		location.hash = text;
	}
}

function loadState() {
	const q = new URLSearchParams(location.hash.slice(1) || location.search.slice(1));
	const zoom = /^(c?)(\d+)$/.exec(q.get("z") || "0");
	state.search = q.get("s") || "";
	state.fold = q.get("ic") === "1";
	state.focus = q.has("f") ? q.get("f") : null;
	state.leaf = q.get("leaf") === "1";
	state.icicle = conf.inverted > 0 !== (q.get("flip") === "1");
	state.hide = q.getAll("h");
	buildView();
	state.tree = zoom && zoom[1] && view.trees[1] ? 1 : 0;
	state.zoom = zoom && Number(zoom[2]) < view.trees[state.tree].n ? Number(zoom[2]) : 0;
	compile();
	redraw();
	const input = svg.querySelector("input.search");
	if (input)
		input.value = state.search;
}

// --- what can be done ------------------------------------------------------------------------

function remember() {
	undo.push(JSON.stringify(state));
}

function zoomTo(t, node) {
	if (state.tree === t && state.zoom === node)
		return;
	remember();
	state.tree = t;
	state.zoom = node;
	redraw();
	saveState();
}

// Change what the view is made of; nodes are numbered anew.
function change(how) {
	remember();
	how();
	state.tree = state.zoom = 0;
	selected = null;
	buildView();
	redraw();
	saveState();
}

function takeBack() {
	if (!undo.length)
		return;
	const kept = {search: state.search, fold: state.fold};
	Object.assign(state, JSON.parse(undo.pop()), kept);
	selected = null;
	buildView();
	redraw();
	saveState();
}

function search(text) {
	state.search = text;
	hitAt = -1;
	compile();
	redraw();
	saveState();
}

// Go to the next (or previous) hit; one too narrow to see is zoomed to.
function nextHit(step) {
	if (!hits.length)
		return;
	hitAt = (hitAt + step + (hitAt < 0 && step < 0 ? 1 : 0) + hits.length) % hits.length;
	const node = hits[hitAt];
	let b = boxes.find((x) => x.t === 0 && x.node === node);
	if (!b || b.w < SLIVER) {
		const keep = hitAt, all = hits;
		zoomTo(0, view.trees[0].parent[node]);
		hits = all;
		hitAt = keep;
		b = boxes.find((x) => x.t === 0 && x.node === node);
	}
	select(b || null);
}

const actions = {
	reset: () => { zoomTo(0, 0); },
	flip: () => {
		remember();
		state.icicle = !state.icicle;
		redraw();
		saveState();
	},
	leaf: () => change(() => { state.leaf = !state.leaf; }),
	focus: () => {
		if (state.focus !== null && (!selected || frames.label[selected.frame] === state.focus))
			change(() => { state.focus = null; });
		else if (selected && selected.frame !== base.frame[0])
			change(() => { state.focus = frames.label[selected.frame]; });
	},
	hide: () => {
		if (selected && selected.frame !== base.frame[0])
			change(() => { state.hide.push(frames.label[selected.frame]); });
	},
	undo: takeBack,
	...searchActions,
};

// --- buttons -------------------------------------------------------------------------------

const buttons = [
	["reset", "Reset zoom", 84, "Show the whole graph (Esc)"],
	["flip", "Icicle", 60, "Flame or icicle (i)"],
	["leaf", conf.reversed ? "From root" : "From leaf", 76,
		"Merge the stacks from their other end (r)"],
	["focus", "Focus", 60, "All calls of the selected function: callers, callees (f, Shift-click)"],
	["hide", "Hide", 52, "Leave out the selected function and what it calls (h, Alt-click)"],
	["undo", "Undo", 52, "Take the last step back (u)"],
];

function setButtons() {
	const some = selected !== null && selected.frame !== base.frame[0];
	mark("reset", false, state.zoom !== 0);
	mark("flip", state.icicle, true);
	mark("leaf", state.leaf, true);
	mark("focus", state.focus !== null, some || state.focus !== null);
	mark("hide", state.hide.length > 0, some);
	mark("undo", false, undo.length > 0);
	markSearch();
}

function makeTools() {
	makeToolRow(buttons, conf.top - 28);
	make("rect", {id: "hover", rx: 2, display: "none"}, svg);
	make("rect", {id: "select", rx: 2, display: "none"}, svg);
	make("g", {id: "tip", display: "none"}, svg);
}

// --- mouse and keyboard ----------------------------------------------------------------------

function onMove(event) {
	const p = toPicture(event), b = boxAt(p.x, p.y);
	if (!b) {
		hideTip();
		say(selectedBox());
		return;
	}
	outline("hover", b);
	say(b);
	showTip(b, p.x, p.y);
}

function onClick(event) {
	const p = toPicture(event), b = boxAt(p.x, p.y);
	if (!b)
		return;
	ui.frames.focus({preventScroll: true});
	select(b);
	if (event.altKey)
		actions.hide();
	else if (event.shiftKey)
		change(() => { state.focus = frames.label[b.tree.frame[b.node]]; });
	else
		zoomTo(b.t, b.node);
}

// The box beside, above or below the selected one.
function step(key) {
	const b = selectedBox();
	if (!b) {
		select(boxes.find((x) => x.t === state.tree && x.node === state.zoom) || boxes[0]);
		return;
	}
	if (key === "ArrowLeft" || key === "ArrowRight") {
		const row = rows.get(b.row);
		select(row[row.indexOf(b) + (key === "ArrowRight" ? 1 : -1)] || b);
		return;
	}
	const row = rows.get(b.row + ((key === "ArrowDown") === state.icicle ? 1 : -1)) || [];
	select(row.find((x) => x.x < b.x + b.w && x.x + x.w > b.x) || b);
}

const keys = {i: "flip", r: "leaf", f: "focus", h: "hide", u: "undo", n: "next", p: "previous",
	N: "previous", c: "fold", 0: "reset"};

function onKey(e) {
	if (document.documentElement !== svg && !svg.contains(e.target))
		return; // inside a page, the rest of the page keeps its keys
	if ((e.ctrlKey && e.key === "f") || e.key === "F3" || (e.key === "/" && !e.ctrlKey)) {
		e.preventDefault();
		svg.querySelector("input.search").focus();
	} else if (e.ctrlKey && e.key === "i") {
		e.preventDefault();
		actions.fold();
	} else if (e.ctrlKey || e.altKey || e.metaKey) {
		return;
	} else if (e.key.startsWith("Arrow") && document.activeElement === ui.frames) {
		e.preventDefault();
		step(e.key);
	} else if (e.key === "Enter" && selected) {
		zoomTo(selected.t, selected.node);
	} else if (e.key === "Escape") {
		actions.reset();
		select(null);
	} else if (keys[e.key]) {
		actions[keys[e.key]]();
	}
}

const painter = new Painter(ui.frames);
ui.frames.classList.add("live");
ui.frames.setAttribute("tabindex", 0);
ui.frames.setAttribute("role", "application");
ui.frames.setAttribute("aria-label", "flame graph: arrow keys select a frame, Enter zooms");
ui.details.setAttribute("aria-live", "polite");
makeTools();
ui.frames.addEventListener("mousemove", onMove);
ui.frames.addEventListener("mouseleave", () => { hideTip(); say(selectedBox()); });
ui.frames.addEventListener("click", onClick);
window.addEventListener("keydown", onKey);
window.addEventListener("hashchange", loadState);
loadState();

// For scripts around the picture and for tests: what is drawn, and how long that took.
svg.flame = {state, boxes: () => boxes.map((b) => ({name: frames.label[b.tree.frame[b.node]],
	tree: b.t, node: b.node, row: b.row, x: b.x, y: b.y, w: b.w, above: b.above})),
	drawMs: () => drawMs, nodes: base.n};
