// flame_ui.js - the user's actions: zoom, search, focus, hide, flip, merge from the leaf; by mouse or
// keyboard; saved in the URL's fragment.

const conf = host ? host.conf : readConf();
const frames = host ? host.frames : readFrames();
let base = host ? host.tree : readTree(conf.two > 0);
if (!conf.span && !host)
	base.total[0] = Math.max(base.total[0], conf.total);

// The state of the view. `zoom` counts nodes of tree 0 (the function and what it calls) or 1 (its callers) of
// the view; names are labels.
const state = {tree: 0, zoom: 0, search: "", fold: false, hide: [], focus: null, leaf: false,
	icicle: conf.inverted > 0, towers: false, plumbing: false};
let view = null, boxes = [], rows = new Map(), matcher = null, hits = [], hitAt = -1;
let selected = null, baseLine = 0, drawMs = 0, leastHeight = 0;

const ui = {frames: svg.querySelector("#frames"), drawn: svg.querySelector("#drawn"), axis: svg.querySelector("#axis")};

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
	if (merged || hidden.size)
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

// A thin row matches by any frame in it.
function isHit(b) {
	return matcher !== null && (b.h === ROW ? matches(b.tree.frame[b.node]) : inRun(b.tree, b.node, (i) => matches(b.tree.frame[i])));
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

// The outermost matching nodes below `top`; each stack counts once.
function hitsBelow(tree, top) {
	const found = [];
	let sum = 0;
	for (let i = top; matcher && i < tree.end[top];) {
		if (!matches(tree.frame[i])) {
			i++;
			continue;
		}
		sum += tree.total[i];
		found.push(i);
		i = tree.end[i];
	}
	return [found, sum];
}

// Hits are those in the zoomed part; their weight is shown as a share of everything and of that part.
function findHits() {
	const tree = view.trees[0], top = state.tree === 0 ? state.zoom : 0;
	const [found, sum] = hitsBelow(tree, top), all = top ? hitsBelow(tree, 0)[1] : sum;
	hits = found.sort((a, b) => tree.total[b] - tree.total[a] || a - b); // Enter goes to the widest first
	bar.matched.textContent = matcher ? "Matched: " + weightText(all) + ", " +
		percent(all, tree.whole) + " of all" + (top ? " \u00b7 " + percent(sum, tree.total[top]) +
		" of the view" : "") + " \u00b7 " + hits.length + (hits.length === 1 ? " place" : " places") : "";
}

// What the view omits, in the corner below the graph.
function showDrawn(pruned) {
	const tree = view.trees[0], top = state.tree === 0 ? state.zoom : 0, parts = [];
	const share = pruned / tree.total[top];
	if (state.focus !== null)
		parts.push("calls of " + state.focus);
	if (state.hide.length)
		parts.push("without " + state.hide.join(", "));
	const diff = conf.mode === "diff", all = diff ? conf.after : base.total[0];
	const shown = diff ? bothWeights(tree, top)[1] : tree.total[top];
	parts.push(weightText(shown) + (shown < all ? " of " + weightText(all) : "") +
		(diff && !top ? ", before " + weightText(conf.before) : ""));
	if (share > 0)
		parts.push((100 * share).toFixed(share < 0.00095 ? 3 : 1) + "% in frames too narrow to draw");
	ui.drawn.textContent = parts.join(" \u00b7 ");
}

// --- drawing -------------------------------------------------------------------------------

// Rows of narrower boxes are folded if there are this many and they are this small a share.
const NARROW = 600, FOLD_PX = 3, FOLD_ROWS = 4, FOLD_SHARE = 0.02;

// Where the rows shown begin and end: towers of slivers end at the last row with a box to point at. With
// the number and weight of the omitted rows.
function shownRows() {
	const widest = new Map(), wide = new Map(), folded = {rows: 0, weight: 0};
	let low = 0, high = ROW, top = 0, bottom = 0;
	for (const b of boxes) {
		widest.set(b.row, Math.max(widest.get(b.row) || 0, b.w));
		wide.set(b.row, (wide.get(b.row) || 0) + b.w);
	}
	const isWide = (row) => widest.get(row) >= FOLD_PX || wide.get(row) >= FOLD_SHARE * conf.width;
	for (const b of boxes) {
		top = Math.max(top, b.row + b.h);
		bottom = Math.min(bottom, b.row);
		if (isWide(b.row)) {
			high = Math.max(high, b.row + b.h);
			low = Math.min(low, b.row);
		}
	}
	folded.rows = Math.floor((top - high + low - bottom) / ROW);
	if (folded.rows < FOLD_ROWS)
		return [bottom, top, {rows: 0}];
	for (const b of boxes)
		if (b.row >= high && b.tree.row && b.tree.row[b.tree.parent[b.node]] < high)
			folded.weight += b.tree.total[b.node];
	return state.towers ? [bottom, top, folded] : [low, high, folded];
}

function setRows() {
	const [low, high, folded] = shownRows(), h = conf.frameHeight / ROW;
	const own = (high - low) * h, mark = folded.rows ? 20 : 0;
	boxes = boxes.filter((b) => b.row >= low && b.row + b.h <= high);
	leastHeight = leastHeight || own + mark;
	const graph = Math.max(own + mark, view.trees[0] === base ? leastHeight : 0);
	baseLine = conf.top + (state.icicle ? -low * h : graph - own + high * h - conf.frameHeight);
	rows = new Map();
	for (const b of boxes) {
		b.y = baseLine + (state.icicle ? b.row * h : conf.frameHeight - (b.row + b.h) * h);
		if (!rows.has(b.row))
			rows.set(b.row, []);
		rows.get(b.row).push(b);
	}
	showFolded(folded, state.icicle ? conf.top + own + 14 : conf.top + graph - own - 6);
	ui.drawn.setAttribute("x", conf.width - conf.pad);
	ui.drawn.setAttribute("y", conf.top + graph + 17);
	setHeight(conf.top + graph + conf.foot);
}

function showFolded(folded, y) {
	ui.folded.setAttribute("display", folded.rows ? "inline" : "none");
	if (!folded.rows)
		return;
	ui.folded.setAttribute("x", conf.width / 2);
	ui.folded.setAttribute("y", y);
	const what = (state.towers ? "\u25be fold " : "\u25b8 ") + folded.rows + " more rows";
	ui.folded.textContent = conf.width < NARROW ? what + " (t)" : what + " of frames narrower than " + FOLD_PX + " px (" +
		weightText(folded.weight) + ", " + percent(folded.weight, view.trees[0].whole) + "): " + (state.towers ? "hide" : "show") + " them (t)";
}

// Head, bar and graph for the current width.
function relayout() {
	conf.top = Math.ceil(layoutHead());
	conf.top += bar.layout(conf.top) + 4 + (conf.span ? conf.axisH : 0);
	leastHeight = 0;
	redraw();
}

function redraw() {
	const start = performance.now();
	const made = boxesOf(view, {tree: state.tree, node: state.zoom});
	boxes = made.boxes;
	setRows();
	showDrawn(made.pruned);
	findHits();
	painter.draw(boxes, isHit, matcher !== null);
	select(selected);
	hideTip();
	setButtons();
	drawMs = performance.now() - start;
}

// The root keeps its place in the window when rows above it come or go.
function redrawInPlace() {
	const before = baseLine;
	redraw();
	if (!state.icicle && svg === document.documentElement)
		window.scrollBy(0, baseLine - before);
}

function outline(id, b) {
	const r = svg.querySelector("#" + id);
	r.setAttribute("display", b ? "inline" : "none");
	if (b) {
		r.setAttribute("x", b.x - 0.5);
		r.setAttribute("y", b.y - 0.5);
		r.setAttribute("width", b.w + 1);
		r.setAttribute("height", conf.frameHeight * b.h / ROW);
	}
}

function say(s) {
	const tree = s && view.trees[s.t];
	bar.say(tree ? [conf.nametype + " " + describe(tree, s.node, Math.max(20, Math.floor(conf.width / 17))).join(" \u00b7 ")] : []);
}

// Select a node; if it is too narrow to be drawn, outline its nearest drawn caller.
function select(s) {
	selected = s ? {t: s.t, node: s.node, frame: view.trees[s.t].frame[s.node]} : null;
	outline("select", selected && selectedBox());
	say(selected);
	setButtons();
}

function selectedBox() {
	if (!selected)
		return null;
	const tree = view.trees[selected.t], drawn = new Map();
	for (const b of boxes)
		if (b.t === selected.t)
			drawn.set(b.node, b);
	let node = selected.node;
	while (node && !drawn.has(node))
		node = tree.parent[node];
	return drawn.get(node) || null;
}

function hideTip() {
	hideCard();
	outline("hover", null);
}

// --- where the mouse is --------------------------------------------------------------------

function boxAt(x, y) {
	const h = conf.frameHeight / ROW, at = Math.floor(state.icicle ? (y - baseLine) / h : (baseLine + conf.frameHeight - y) / h);
	for (let k = 0; k < ROW; k++) {
		const row = rows.get(at - k) || [], b = row[firstWhere(0, row.length, (i) => row[i].x + row[i].w > x)];
		if (b && b.x <= x && b.h > k)
			return b;
	}
	return null;
}

// --- the URL -------------------------------------------------------------------------------

// A node by the names on the path to it, so that a link still works for other data; in a flame chart, where
// neighbours share names, by its number.
function wayTo(tree, node) {
	const names = [];
	for (let i = node; i; i = tree.parent[i])
		names.unshift(nameId(frames.label[tree.frame[i]]));
	return conf.sorted ? names : [String(node)];
}

function nodeAt(tree, names) {
	let at = 0;
	if (!conf.sorted)
		return Number(names[0]) < tree.n ? Number(names[0]) : 0;
	for (const name of names) {
		let i = at + 1;
		while (i < tree.end[at] && frames.label[tree.frame[i]] !== name && nameId(frames.label[tree.frame[i]]) !== name)
			i = tree.end[i];
		if (i >= tree.end[at])
			break;
		at = i;
	}
	return at;
}

function stateText() {
	const q = new URLSearchParams();
	if (state.zoom)
		for (const name of wayTo(view.trees[state.tree], state.zoom))
			q.append(state.tree ? "c" : "z", name);
	if (state.search)
		q.set("s", state.search);
	if (state.fold)
		q.set("ic", "1");
	if (state.focus !== null)
		q.set("f", nameId(state.focus));
	for (const [key, on] of [["leaf", state.leaf], ["flip", state.icicle !== conf.inverted > 0],
		["t", state.towers], ["k", state.plumbing]])
		if (on)
			q.set(key, "1");
	for (const name of state.hide)
		q.append("h", nameId(name));
	return q.toString();
}

function loadState(q) {
	state.search = q.get("s") || "";
	state.fold = q.get("ic") === "1";
	state.focus = q.has("f") ? nameOf(q.get("f")) : null;
	state.leaf = q.get("leaf") === "1";
	state.icicle = conf.inverted > 0 !== (q.get("flip") === "1");
	state.towers = q.get("t") === "1";
	state.plumbing = q.get("k") === "1";
	state.hide = q.getAll("h").map(nameOf);
	buildView();
	state.tree = q.has("c") && view.trees[1] ? 1 : 0;
	state.zoom = nodeAt(view.trees[state.tree], q.getAll(state.tree ? "c" : "z"));
	selected = null;
	compile();
	svg.querySelector("input.search").value = state.search;
	if (conf.top)
		redrawInPlace(); // the first layout draws
}

// --- what can be done ------------------------------------------------------------------------

function zoomTo(t, node) {
	if (state.tree === t && state.zoom === node)
		return;
	state.tree = t;
	state.zoom = node;
	redrawInPlace();
	saveState(true);
}

// Change the view's tree; nodes are renumbered. In lanes, everything keeps its time.
function change(how) {
	if (conf.span)
		return;
	how();
	state.tree = state.zoom = 0;
	selected = null;
	buildView();
	redrawInPlace();
	saveState(true);
}

function search(text) {
	state.search = text;
	hitAt = -1;
	compile();
	redraw();
	saveState(false);
}

// Go to the next (or previous) hit, without another zoom.
function nextHit(step) {
	if (!hits.length)
		return;
	hitAt = (hitAt + step + (hitAt < 0 && step < 0 ? 1 : 0) + hits.length) % hits.length;
	select({t: 0, node: hits[hitAt]});
	const b = selectedBox(), [top, end] = inSight();
	if (b && (b.y < top + bar.height || b.y > end - 30))
		window.scrollBy(0, b.y - (top + end) / 2);
}

function isChanged() {
	return state.focus !== null || state.hide.length > 0 || state.leaf;
}

const actions = {
	reset: () => {
		if (state.zoom)
			zoomTo(0, 0);
		else if (isChanged())
			change(() => Object.assign(state, {focus: null, hide: [], leaf: false}));
	},
	flip: () => {
		state.icicle = !state.icicle;
		redraw();
		saveState(true);
	},
	towers: () => {
		state.towers = !state.towers;
		redrawInPlace();
		saveState(true);
	},
	plumbing: () => {
		state.plumbing = !state.plumbing;
		redrawInPlace();
		saveState(true);
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

const hasThin = !conf.span && frames.thin.some((x) => x);
const buttons = [
	["reset", "Reset zoom", 84, "Show the whole graph (Esc)"],
	["flip", "Icicle", 60, "Flame or icicle (i)"],
	["leaf", conf.reversed ? "From root" : "From leaf", 76,
		"Merge the stacks from their other end (r)"],
	["focus", "Focus", 60, "All calls of the selected function: callers, callees (f, Shift-click)"],
	["hide", "Hide", 52, "Leave out the selected function and what it calls (h, Alt-click)"],
	...hasThin ? [["plumbing", "Plumbing", 68, "Show or fold how threads start, system calls enter and the scheduler switches (k)"]] : [],
	["undo", "Undo", 52, "Take the last step back (u, Backspace, or the browser's Back)"],
];

function setButtons() {
	const some = !conf.span && selected !== null && selected.frame !== base.frame[0];
	mark("reset", false, state.zoom !== 0 || isChanged());
	mark("flip", state.icicle, true);
	mark("leaf", state.leaf, !conf.span);
	mark("focus", state.focus !== null, some || state.focus !== null);
	mark("hide", state.hide.length > 0, some);
	if (hasThin)
		mark("plumbing", state.plumbing, true);
	mark("undo", false, steps() > 0);
	markSearch();
}

// --- mouse and keyboard ----------------------------------------------------------------------

const NAMES_TOLD = 8;

// What a thin row holds.
function describeRun({tree, node}, room) {
	const names = new Set();
	inRun(tree, node, (i) => { names.add(tree.frame[i]); });
	const told = [...names].slice(0, NAMES_TOLD).map((frame) => fitName(frame, room));
	return ["Plumbing: a click, or k, shows it", ...describe(tree, node, room).slice(1, 2), ...told,
		...names.size > told.length ? ["and " + (names.size - told.length) + " more"] : []];
}

function onMove(event) {
	const p = toPicture(event), b = boxAt(p.x, p.y);
	if (!b) {
		hideTip();
		say(selected);
		return;
	}
	outline("hover", b);
	say(b);
	showCard(b.h < ROW ? describeRun(b, cardRoom()) : describe(b.tree, b.node, cardRoom()), p.x, p.y);
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
	else if (b.h < ROW)
		actions.plumbing();
	else
		zoomTo(b.t, b.node);
	pick(b.tree.frame[b.node]);
}

// A report shows more of a frame that was chosen.
function pick(frame) {
	if (host && host.picked && frame)
		host.picked(frame);
}

// Select the box next to, above or below the selected one.
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
	const isOut = (key === "ArrowDown") === state.icicle, meets = (x) => x.x < b.x + b.w && x.x + x.w > b.x;
	const next = isOut ? (rows.get(b.row + b.h) || []).find(meets) :
		[ROW, THIN].flatMap((h) => rows.get(b.row - h) || []).find((x) => x.row + x.h === b.row && meets(x));
	select(next || b);
}

const keys = {i: "flip", r: "leaf", f: "focus", h: "hide", u: "undo", Backspace: "undo", t: "towers", k: "plumbing", n: "next", p: "previous",
	N: "previous", c: "fold", 0: "reset"};

function onOwnKey(e) {
	if (e.key.startsWith("Arrow") && svg.getRootNode().activeElement === ui.frames) {
		e.preventDefault();
		step(e.key);
	} else if (e.key === "Enter" && selected) {
		zoomTo(selected.t, selected.node);
		pick(selected.frame);
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
make("rect", {id: "hover", rx: 2, display: "none"}, svg);
make("rect", {id: "select", rx: 2, display: "none"}, svg);
ui.folded = make("text", {id: "folded", class: "link", "text-anchor": "middle", tabindex: 0, role: "button"}, svg);
onPress(ui.folded, () => actions.towers());
const bar = new Bar(buttons);
make("g", {id: "tip", display: "none"}, svg);
ui.frames.addEventListener("mousemove", onMove);
ui.frames.addEventListener("mouseleave", () => { hideTip(); say(selected); });
ui.frames.addEventListener("click", onClick);
window.addEventListener("keydown", onKey);
startLayout();
startHistory();
relayout();
if (!state.icicle && svg === document.documentElement)
	window.scrollTo(0, Number(svg.getAttribute("height"))); // to the root
bar.stick();

// Show another tree of the same frames, keeping the view as far as possible; `isOther`: the legend is.
function replaceTree(tree, isOther) {
	const at = view.trees[state.tree], way = wayTo(at, state.zoom);
	base = tree;
	selected = null;
	leastHeight = 0;
	buildView();
	state.tree = view.trees[state.tree] ? state.tree : 0;
	state.zoom = nodeAt(view.trees[state.tree], way);
	if (!fitWindow(isOther) && svg.getBoundingClientRect().width)
		redraw();
	return drawMs;
}

// For pages around the picture and for tests: what is drawn, and how long that took.
svg.flame = {state, replaceTree, setButtons, search: (text) => {
	if (state.search !== text)
		search(text);
}, nextHit, load: loadText, tree: () => base,
	focus: (name) => change(() => { state.focus = name; }), boxes: () => boxes.map((b) => ({name: frames.label[b.tree.frame[b.node]],
	tree: b.t, node: b.node, row: b.row / ROW, isThin: b.h < ROW, x: b.x, y: b.y, w: b.w, above: b.above})),
	drawMs: () => drawMs, nodes: base.n};
