// timeline_ui.js - the user's actions: zoom, pan, search, select, follow wakers; by mouse or keyboard; saved
// in the URL's fragment.

const LEAST_SPAN = 20; // ns
const isBare = Boolean(host && host.isBare); // without tools
svg.classList.toggle("in-page", Boolean(host));
svg.classList.toggle("bare", isBare);
const state = {search: "", fold: false, quiet: false, only: "", at: 0}; // only: the meaning of the legend that is not dim; at: the panel that keys act on
const episodeAsked = new URLSearchParams(urlState()).get("ep"); // #ep=3 opens at the third panel
let selected = null; // {p, row, seg}: numbers
let pathHit = null, hits = [], hitAt = -1, drawMs = 0, queued = false;

const ui = {frames: svg.querySelector("#plot0"), drawn: svg.querySelector("#drawn"), empty: svg.querySelector("#empty")};
const plots = panels.map((p) => new Plot(p));

// --- the legend: a key is a switch that dims all else, in a page with its time in view -----------------

class Legend {
	constructor(group) {
		const hue = (name) => conf.paints.findIndex((x) => x.color === conf.paints.find((y) => y.name === name).color);
		const keys = [...group.children].map((g, i) => ({g, i, text: g.lastElementChild, name: g.lastElementChild.textContent}));
		this.keys = keys.filter(({name}) => conf.paints.some((x) => x.name === name));
		const others = keys.filter((key) => !this.keys.includes(key));
		for (const key of this.keys)
			key.hue = hue(key.name);
		this.keys.sort((a, b) => a.hue - b.hue || a.i - b.i);
		for (const {g, name, text} of this.keys) {
			g.setAttribute("class", "key");
			g.setAttribute("tabindex", 0);
			g.setAttribute("role", "button");
			g.setAttribute("aria-label", name + ": dim all else");
			if (host && !isBare)
				g.dataset.room = Math.ceil(text.textContent.length * 6.8) + 58;
		}
		group.append(...this.keys.concat(others).map(({g}) => g));
	}

	mark() {
		for (const {g, name} of this.keys) {
			g.setAttribute("aria-pressed", String(state.only === name));
			g.setAttribute("opacity", state.only && state.only !== name ? 0.4 : 1);
		}
	}

	// What the rows shown have of each in view, once it rests.
	sum(p) {
		clearTimeout(this.timer);
		if (host && !isBare)
			this.timer = setTimeout(() => this.put(sumPaints(p)), 250);
	}

	put(sums) {
		for (const {g, text, name} of this.keys) {
			const ns = conf.paints.reduce((all, x, i) => all + (x.name === name ? sums[i] : 0), 0);
			text.textContent = name;
			make("tspan", {class: "dim"}, text).textContent = ns > 0 ? " " + timeText(ns) : "";
			g.setAttribute("aria-label", text.textContent + ": dim all else");
		}
	}
}

// Time in view by paint, of the threads that are not hidden.
function sumPaints(p) {
	const sums = new Float64Array(conf.paints.length), v = p.view;
	for (const {kind, hidden, segs} of p.rows) {
		if (kind !== ROW.thread || hidden || !segs)
			continue;
		const {start, n, paints, paint} = segs, width = paints.length;
		for (let i = segs.after(v.from); i < n && start[i] < v.to;) {
			const block = i / BLOCK;
			if (i % BLOCK === 0 && i + BLOCK <= n && start[i] >= v.from && start[i + BLOCK] <= v.to) {
				for (let k = 0; k < width; k++)
					sums[paints[k]] += segs.sums[(block + 1) * width + k] - segs.sums[block * width + k];
				i += BLOCK;
				continue;
			}
			if (paint[i] !== GAP)
				sums[paint[i]] += Math.min(start[i + 1], v.to) - Math.max(start[i], v.from);
			i++;
		}
	}
	return sums;
}

// Is what has this paint dim, since another meaning is chosen?
function isDim(paint) {
	return state.only !== "" && conf.paints[paint].name !== "" && conf.paints[paint].name !== state.only;
}

function chooseMeaning(name) {
	showMeaning(state.only === name ? "" : name);
	saveSoon();
	if (host && host.onMeaning)
		host.onMeaning(state.only);
}

function showMeaning(name) {
	state.only = legend.keys.some((key) => key.name === name) ? name : "";
	legend.mark();
	panels.forEach(redraw);
}

const legend = new Legend(svg.querySelector("#legend"));
for (const {g, name} of legend.keys)
	onPress(g, () => chooseMeaning(name));

// --- views ---------------------------------------------------------------------------------

function setView(p, from, to) {
	const span = Math.min(Math.max(to - from, Math.min(LEAST_SPAN, p.span)), p.span);
	const start = Math.min(Math.max((from + to - span) / 2, 0), p.span - span);
	p.view = {from: start, to: start + span};
	state.at = p.index;
	move(p);
	redraw(p);
}

// Views in quick succession are drawn in less detail; once they stop, completely.
const REST = 160; // ms

function move(p) {
	const now = performance.now();
	p.isMoving = now - (p.moved || -REST) < REST;
	p.moved = now;
	clearTimeout(p.rest);
	p.rest = setTimeout(() => {
		if (p.isMoving)
			redraw(p);
		p.isMoving = false;
	}, REST);
}

// For the surrounding page: the first panel's view, in ns of the recording's time.
function tellView() {
	if (host && host.onView)
		host.onView(panels[0].view.from, panels[0].view.to);
}

function isWhole(p) {
	return p.view.from === 0 && p.view.to === p.span;
}

function zoomBy(p, factor, at) {
	const v = p.view, center = at === undefined ? (v.from + v.to) / 2 : at;
	const span = Math.min(Math.max((v.to - v.from) * factor, LEAST_SPAN), p.span);
	const from = Math.min(Math.max(center - (center - v.from) * span / (v.to - v.from), 0), p.span - span);
	setView(p, from, from + span);
}

function panBy(p, ns) {
	const v = p.view, by = Math.min(Math.max(ns, -v.from), p.span - v.to);
	setView(p, v.from + by, v.to + by);
}

// --- drawing -------------------------------------------------------------------------------

function isHit(path) {
	return pathHit[path] === 1;
}

function drawPanel(p) {
	const plot = plots[p.index];
	plot.draw(pathHit && isHit);
	drawMs = plot.ms;
	drawSelected();
	showDrawn(p);
	setButtons();
	legend.sum(p);
}

function showDrawn(p) {
	const v = p.view, plot = plots[p.index], parts = [];
	const {A, B} = p.markers;
	if (A !== undefined && B !== undefined)
		parts.push("A to B: " + timeText(B - A));
	if (!isWhole(p))
		parts.push("view: " + timeText(v.to - v.from) + " from " + pointText(v.from - p.zero, v));
	if (plot.arrowsSeen > plot.arrowsDrawn && plot.arrowsDrawn && !printing)
		parts.push(plot.arrowsDrawn + " of " + plot.arrowsSeen + " wakeups drawn" + (conf.width < 600 ? "" : ": those of the row pointed at or selected"));
	ui.drawn.textContent = parts.join(" \u00b7 ");
}

// Rows came or went.
function rearrange(p) {
	plots[p.index].arrange();
	relayout();
	saveSoon();
}

// Head, bar and panels for the current width.
function relayout() {
	plotW = conf.width - conf.names - 2 * conf.pad;
	let y = Math.ceil(layoutHead());
	y += bar.layout(y) + (isBare ? 0 : 6);
	for (const plot of plots)
		y = plot.layout(y) + conf.panelGap;
	y -= conf.panelGap;
	ui.drawn.setAttribute("x", conf.width - conf.pad);
	ui.drawn.setAttribute("y", y + 17);
	if (ui.empty) {
		ui.empty.setAttribute("x", conf.width / 2);
		ui.empty.setAttribute("y", y + 17);
	}
	setHeight(y + conf.foot);
	panels.forEach(drawPanel);
	stickAll();
}

function stickAll() {
	for (const plot of plots) {
		plot.stick(printing ? 0 : bar.end);
		plot.later(0);
	}
	drawSelected();
}

// Draw once per frame for many events.
function redraw(p) {
	p.stale = true;
	if (queued)
		return;
	queued = true;
	requestAnimationFrame(flush);
}

function flush() {
	queued = false;
	for (const q of panels)
		if (q.stale) {
			q.stale = false;
			drawPanel(q);
		}
	tellView();
	saveSoon();
}

// --- the selected interval -------------------------------------------------------------------

function segmentOf(s) {
	const row = panels[s.p].rows[s.row];
	return {row, from: row.segs.start[s.seg], to: row.segs.start[s.seg + 1]};
}

// The wakeup that ended the selected interval: {from, to, t}, or null.
function wakeupOf(s) {
	const p = panels[s.p], row = p.rows[s.row], ref = row.segs.ref[s.seg];
	if (row.kind !== ROW.thread || ref < 0)
		return null;
	const waker = row.offs[ref * F.size + F.waker];
	const from = waker ? p.rows.findIndex((r) => r.kind === ROW.thread && r.threadNo === waker - 1) : -1;
	return from < 0 || from === s.row ? null :
		{from, to: s.row, t: row.offStart[ref] + row.offs[ref * F.size + F.blocked]};
}

const CHAIN = 12; // wakeups

// The wakeup that ended an interval, the one that ended the waker's wait before, and so on, while they lie in the interval.
function chainOf(s) {
	const p = panels[s.p], found = [], least = segmentOf(s).from;
	for (let at = s, a = wakeupOf(at); a && a.t >= least && found.length < CHAIN; a = at && wakeupOf(at)) {
		found.push(a);
		const {segs} = p.rows[a.from], isWait = (k) => segs.ref[k] >= 0;
		let seg = Math.min(segs.after(a.t - 1), segs.n - 1);
		while (seg >= 0 && !isWait(seg))
			seg--;
		at = seg < 0 || segs.start[seg + 1] <= least ? null : {p: s.p, row: a.from, seg};
		if (at && found.some((b) => b.to === at.row && b.t <= wakeTime(at)))
			break;
	}
	return found;
}

function wakeTime(s) {
	const a = wakeupOf(s);
	return a ? a.t : Infinity;
}

function drawSelected() {
	for (const plot of plots) {
		plot.selected.setAttribute("display", "none");
		plot.chosen.setAttribute("d", "");
		plot.because.setAttribute("d", "");
	}
	if (!selected)
		return;
	const {row, from, to} = segmentOf(selected), plot = plots[selected.p];
	plot.place(plot.selected, from, to, row.y + 2 + plot.rowShift(selected.row), row.h - 4);
	const seg = selected.seg, paint = row.segs.paint[seg];
	if (row.kind === ROW.thread && row.segs.ref[seg] >= 0 && paint !== PAINT.unknown)
		plot.drawBecause(row, row.segs.ref[seg], paint >= PAINT.blocked);
	const {view: v, rows} = panels[selected.p];
	plot.chosen.setAttribute("d", chainOf(selected).filter((a) => a.t >= v.from && a.t < v.to && rows[a.from].shown && rows[a.to].shown)
		.map((a) => plot.arrow(a)).join(""));
}

function select(s) {
	selected = s;
	drawSelected();
	focusRow(null);
	say(s);
	setButtons();
}

// Arrows of the row under the pointer, else of the selected one.
function focusRow(u) {
	const at = u || selected;
	for (const plot of plots)
		plot.setFocus(at && at.p === plot.panel.index ? at.row : -1);
	if (at)
		showDrawn(panels[at.p]);
}

function say(s) {
	if (!s) {
		bar.say([]);
		return;
	}
	const {row, from} = segmentOf(s), p = panels[s.p], ref = row.segs.ref[s.seg], paint = row.segs.paint[s.seg];
	const lines = segmentLines(p, row, s.seg), isOff = row.kind === ROW.thread && ref >= 0;
	const because = isOff ? becauseOf(p, row, ref, paint) : row.kind === ROW.cpu && ref >= 0 ?
		[{text: "its row", thread: ref, from}] : [];
	const told = new Set(because.map((b) => b.text));
	bar.say(lines.slice(0, 1).concat("at " + pointText(from - p.zero, p.view), because.map((b) => linkTo(p, b)),
		lines.slice(1).filter((l) => !l.startsWith("  ") && !told.has(l))));
}

// A link in the details to a thread's row, at a time, if the picture has it.
function linkTo(p, {text, thread, from}) {
	const row = thread === undefined ? -1 : p.rows.findIndex((r) => r.kind === ROW.thread && r.threadNo === thread);
	return row < 0 ? text : {text, go: () => goTo(p, row, from)};
}

function goTo(p, row, t) {
	const seg = p.rows[row].segs.after(t);
	if (seg < p.rows[row].segs.n)
		show({p: p.index, row, seg});
	saveSoon();
}

// Go to the thread that held the lock, or had the CPU, of the selected interval for longest.
function toHolder() {
	const p = selected && panels[selected.p], row = p && p.rows[selected.row];
	const ref = row && row.kind === ROW.thread ? row.segs.ref[selected.seg] : -1;
	const found = ref < 0 ? [] : becauseOf(p, row, ref, row.segs.paint[selected.seg]).map((b) => linkTo(p, b))
		.filter((b) => b.go && !b.text.startsWith("woken"));
	if (found.length)
		found[0].go();
}

// Bring a segment into view, wide enough to see.
function show(s) {
	const p = panels[s.p], {from, to} = segmentOf(s), v = p.view, span = v.to - v.from;
	if ((to - from) * plotW / span < 3)
		setView(p, (from + to) / 2 - 10 * (to - from), (from + to) / 2 + 10 * (to - from));
	else if (from < v.from || to > v.to)
		setView(p, (from + to) / 2 - Math.max(span, to - from) / 2,
			(from + to) / 2 + Math.max(span, to - from) / 2);
	select(s);
	const row = p.rows[s.row], [top, end] = inSight();
	const least = bar.end + p.stuckEnd - p.axisY;
	if (!row.stuck && (row.y < least || row.y + row.h > end))
		window.scrollBy(0, row.y - (top + end) / 2);
}

// --- the mouse -------------------------------------------------------------------------------

let pointed = null, cursorAt = null; // a row's number, a moment

function onMove(event) {
	const q = toPicture(event), u = under(q.x, q.y), lines = tipLines(q, u), p = panelAt(q.y);
	pointed = p ? rowAt(p, plots[p.index].inPanel(q.y)) : null;
	cursorAt = p && q.x >= plotX ? timeAt(p, q.x) : null;
	state.at = p ? p.index : state.at;
	moveCursor(q);
	focusRow(u);
	if (lines.length)
		showCard(lines, q.x, q.y);
	else
		hideCard();
}

function moveCursor(q) {
	for (const plot of plots) {
		const p = plot.panel, inside = q && q.x >= plotX && q.y >= p.axisY && q.y < p.end;
		plot.cursor.setAttribute("d", inside ? "M" + round(q.x) + " " + (p.rowsY - 4) + "V" + p.end : "");
	}
}

// Dragging selects a time to zoom to; on the axis, or with Shift, it moves the view.
const drag = {p: null};

function onDown(event) {
	const q = toPicture(event), p = panelAt(q.y);
	if (event.button !== 0 || !p || q.x < plotX)
		return;
	event.preventDefault();
	plots[p.index].group.focus({preventScroll: true});
	Object.assign(drag, {p, x: q.x, y: q.y, view: p.view, far: false,
		pan: event.shiftKey || onAxis(p, q.y)});
	hideCard();
}

function onDrag(event) {
	const q = toPicture(event), p = drag.p;
	if (!p) {
		if (targetOf(event) === svg || !svg.contains(targetOf(event)) || !targetOf(event).closest(".plot"))
			moveCursor(null);
		return;
	}
	drag.far = drag.far || Math.abs(q.x - drag.x) > 4;
	if (!drag.far)
		return;
	const plot = plots[p.index];
	if (drag.pan) {
		plot.group.classList.add("moving");
		const by = (drag.x - q.x) / plotW * (drag.view.to - drag.view.from);
		const start = Math.min(Math.max(drag.view.from + by, 0), p.span - (drag.view.to - drag.view.from));
		setView(p, start, start + drag.view.to - drag.view.from);
		return;
	}
	const from = timeAt(p, Math.min(q.x, drag.x)), to = timeAt(p, Math.max(q.x, drag.x));
	plot.place(plot.band, from, to, p.rowsY - 4, p.end - p.rowsY + 4);
	showCard([timeText(to - from), pointText(from - p.zero, p.view) + " \u2026 " +
		pointText(to - p.zero, p.view)], q.x, q.y);
}

function onUp(event) {
	const p = drag.p, q = toPicture(event);
	if (!p)
		return;
	drag.p = null;
	const plot = plots[p.index];
	plot.band.setAttribute("display", "none");
	plot.group.classList.remove("moving");
	if (drag.far) {
		hideCard();
		if (!drag.pan)
			setView(p, timeAt(p, Math.min(q.x, drag.x)), timeAt(p, Math.max(q.x, drag.x)));
		return;
	}
	state.at = p.index;
	const u = under(q.x, q.y);
	select(u);
	saveSoon();
}

function onDouble(event) {
	const q = toPicture(event), u = under(q.x, q.y);
	if (u && !u.fine)
		zoomToSelected();
	else if (panelAt(q.y))
		zoomBy(panelAt(q.y), 0.25, timeAt(panelAt(q.y), q.x));
}

// One finger pans (up and down it scrolls the page), two zoom: what was below them stays there.
let touched = null; // {p, from, to: times below the fingers; of one finger the same}

function fingers(event) {
	const x = [...event.touches].map((t) => toPicture(t).x).sort((a, b) => a - b);
	return [x[0], x[x.length - 1]];
}

function onTouchStart(event) {
	const p = panelAt(toPicture(event.touches[0]).y), [x0, x1] = fingers(event);
	touched = p && event.touches.length < 3 ? {p, from: timeAt(p, x0), to: timeAt(p, x1), n: event.touches.length} : null;
}

function onTouchMove(event) {
	if (!touched || event.touches.length !== touched.n)
		return;
	const {p, from, to, n} = touched, [x0, x1] = fingers(event), v = p.view;
	if (event.cancelable)
		event.preventDefault();
	const scale = n === 1 || x1 - x0 < 10 ? (v.to - v.from) / plotW : Math.min((to - from) / (x1 - x0), p.span / plotW);
	const start = Math.min(Math.max(from - (x0 - plotX) * scale, 0), p.span - scale * plotW);
	setView(p, start, start + scale * plotW);
}

function onWheel(event) {
	const q = toPicture(event), p = panelAt(q.y);
	if (!p || q.x < plotX)
		return; // over the names the page scrolls
	const unit = event.deltaMode ? 30 : 1, dx = event.shiftKey ? event.deltaY || event.deltaX : event.deltaX;
	const isPan = event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY);
	if (!isPan && !event.ctrlKey && !event.metaKey)
		return; // the page scrolls
	event.preventDefault();
	hideCard();
	if (isPan)
		panBy(p, dx * unit / plotW * (p.view.to - p.view.from));
	else
		zoomBy(p, Math.pow(1.0025, event.deltaY * unit), timeAt(p, q.x));
}

// --- the search ------------------------------------------------------------------------------

function compile() {
	const input = svg.querySelector("input.search");
	pathHit = null;
	let re = null;
	if (input)
		input.classList.remove("bad");
	try {
		re = state.search ? new RegExp(state.search, state.fold ? "i" : "") : null;
	} catch (e) {
		if (input)
			input.classList.add("bad");
	}
	if (re) {
		const frameHit = tables.frames.map((f) => re.test(f.name));
		pathHit = new Uint8Array(tables.allPaths);
		for (let i = 1; i < tables.allPaths; i++)
			pathHit[i] = frameHit[frameOf(i)] || pathHit[callerOf(i)] ? 1 : 0;
	}
	findHits(re);
}

// Threads by their names, intervals and samples by the functions of their stacks.
function findHits(re) {
	let threads = 0, ns = 0, samples = 0;
	hits = [];
	for (const p of panels)
		p.rows.forEach((row, r) => {
			const name = svg.querySelector("#n" + p.index + "-" + r);
			const named = re !== null && row.kind === ROW.thread && re.test(threadText(row.thread));
			if (name)
				name.classList.toggle("hit", named);
			threads += named ? 1 : 0;
			for (let i = 0; pathHit && row.offs && i < row.segs.n; i++) {
				const ref = row.segs.ref[i];
				if (ref < 0 || !isHit(row.offs[ref * F.size + F.path]))
					continue;
				ns += row.segs.start[i + 1] - row.segs.start[i];
				hits.push({p: p.index, row: r, seg: i});
			}
			for (let i = 0; pathHit && i < row.samples.n; i++)
				samples += isHit(row.samples.path[i]) ? 1 : 0;
		});
	const length = (h) => segmentOf(h).to - segmentOf(h).from;
	hits.sort((a, b) => length(b) - length(a) || a.p - b.p || segmentOf(a).from - segmentOf(b).from || a.row - b.row); // Enter goes to the longest first
	hitAt = -1;
	const many = (n, what) => n + " " + what + (n === 1 ? "" : "s");
	bar.matched.textContent = re ? "Matched: " + [many(threads, "thread"), many(hits.length, "interval") +
		" of " + timeText(ns) + " off CPU", many(samples, "sample")].join(" \u00b7 ") : "";
}

function search(text) {
	state.search = text;
	compile();
	panels.forEach(redraw);
}

function nextHit(step) {
	if (!hits.length)
		return;
	hitAt = (hitAt + step + (hitAt < 0 && step < 0 ? 1 : 0) + hits.length) % hits.length;
	show(hits[hitAt]);
}

// --- the URL -------------------------------------------------------------------------------

// Pools are folded at first, and CPUs where they are many.
const MANY_CPUS = 8;

function usualRows(p, flag) {
	const isFolded = (row) => row.pool || row.isCpus && row.members.length > (host && !isBare ? 2 : MANY_CPUS);
	return flag === "folded" ? p.rows.map((row, i) => i).filter((i) => isFolded(p.rows[i])).join() : "";
}

function stateText() {
	const q = new URLSearchParams();
	for (const p of panels) {
		if (!isWhole(p))
			q.set("z" + p.index, Math.round(p.view.from) + "," + Math.round(p.view.to));
		for (const flag of ROW_FLAGS) {
			const rows = p.rows.map((row, i) => i).filter((i) => p.rows[i][flag]);
			if (rows.join() !== usualRows(p, flag))
				q.set(flag + p.index, rows.join());
		}
		for (const name in p.markers)
			q.set(name + p.index, Math.round(p.markers[name]));
	}
	if (episodeAsked)
		q.set("ep", episodeAsked);
	if (state.search)
		q.set("s", state.search);
	if (state.fold)
		q.set("ic", "1");
	if (state.quiet)
		q.set("quiet", "1");
	if (state.only)
		q.set("only", state.only);
	if (selected)
		q.set("i", [selected.p, selected.row, Math.round(segmentOf(selected).from)].join(","));
	return q.toString();
}

// A view of another time is a new one in the history; browsers refuse too many in a row.
let saveTimer = 0;

function saveSoon() {
	const stretch = (text) => [...new URLSearchParams(text || "")].filter(([key]) => /^z\d+$/.test(key)).join();
	clearTimeout(saveTimer);
	saveTimer = setTimeout(() => saveState(stretch(stateText()) !== stretch(views.text)), 120);
}

function loadState(q) {
	state.quiet = q.get("quiet") === "1";
	state.only = legend.keys.some((key) => key.name === q.get("only")) ? q.get("only") : "";
	for (const p of panels) {
		const [from, to] = (q.get("z" + p.index) || "").split(",").map(Number);
		p.view = to > from && from >= 0 && to <= p.span ? {from, to} : {from: 0, to: p.span};
		for (const flag of ROW_FLAGS) {
			const rows = (q.get(flag + p.index) ?? usualRows(p, flag)).split(",");
			p.rows.forEach((row, i) => { row[flag] = rows.includes(String(i)) && (flag !== "folded" || row.members !== undefined); });
		}
		p.markers = {};
		for (const name of ["A", "B"])
			if (q.get(name + p.index) !== null)
				p.markers[name] = Number(q.get(name + p.index));
		plots[p.index].arrange();
	}
	state.search = q.get("s") || "";
	state.fold = q.get("ic") === "1";
	const [p, row, from] = (q.get("i") || "").split(",").map(Number);
	const there = from !== undefined && panels[p] && panels[p].rows[row] && panels[p].rows[row].segs;
	const seg = there ? there.after(from) : 0;
	selected = there && seg < there.n ? {p, row, seg} : null;
	svg.querySelector("input.search").value = state.search;
	legend.mark();
	compile();
	if (!plotW)
		return; // the first layout draws
	relayout();
	focusRow(null);
	say(selected);
}

// --- what can be done ------------------------------------------------------------------------

function here() {
	return panels[state.at];
}

function zoomToSelected() {
	if (!selected)
		return;
	const {from, to} = segmentOf(selected), margin = (to - from) / 8;
	setView(panels[selected.p], from - margin, to + margin);
}

// Go to the row and time of the wakeup that ended the selected interval.
function toWaker() {
	const a = selected && wakeupOf(selected);
	if (!a)
		return;
	goTo(panels[selected.p], a.from, a.t - 1);
}

// Select the interval before or after, or the row above or below.
function step(key) {
	if (key === "," || key === ".") {
		const seg = selected.seg + (key === "." ? 1 : -1);
		if (seg >= 0 && seg < segmentOf(selected).row.segs.n)
			show({p: selected.p, row: selected.row, seg});
		return;
	}
	const p = panels[selected.p], by = key === "ArrowDown" ? 1 : -1;
	const t = Math.max(segmentOf(selected).from, p.view.from);
	for (let r = selected.row + by; r >= 0 && r < p.rows.length; r += by) {
		const segs = p.rows[r].segs, seg = segs ? segs.after(t) : 0;
		if (segs && seg < segs.n) {
			select({p: p.index, row: r, seg});
			return;
		}
	}
}

const ROW_FLAGS = ["pinned", "hidden", "folded"];

// The current row: under the pointer, else selected.
function rowHere() {
	return here().rows[pointed !== null ? pointed : selected ? selected.row : -1];
}

function toggle(row, flag) {
	if (!row)
		return;
	row[flag] = !row[flag];
	if (row.hidden && row.pinned)
		row[flag === "hidden" ? "pinned" : "hidden"] = false;
	rearrange(here());
}

// The page's label has changed.
function cut() {
	selected = null;
	cutRows(here());
	compile();
	rearrange(here());
	select(null);
}

function showAllRows() {
	for (const row of here().rows)
		row.hidden = row.pinned = row.folded = false;
	rearrange(here());
}

// Set mark A or B at the pointer's time, or remove it if it is there.
function putMarker(name) {
	const p = here(), t = cursorAt === null ? (p.view.from + p.view.to) / 2 : cursorAt;
	if (Math.abs(xOf(p.view, p.markers[name]) - xOf(p.view, t)) < 2)
		delete p.markers[name];
	else
		p.markers[name] = t;
	redraw(p);
}

// A time as typed: "+12.3 ms" from the zero of the axis, or "7183.812494" on the clock (from a log, --time);
// undefined: neither.
function momentOf(p, text) {
	const [, digits, unit] = /^\+?\s*(-?\d+(?:\.\d+)?)\s*(ns|us|ms|s)$/.exec(text) || [];
	if (digits)
		return p.zero + Number(digits) * {ns: 1, us: 1e3, ms: 1e6, s: 1e9}[unit];
	const [, s, part] = /^(\d+)(?:\.(\d{1,9}))?$/.exec(text) || [];
	return s && Number(BigInt(s) * 1000000000n + BigInt((part || "").padEnd(9, "0")) - BigInt(conf.clock)) - p.base;
}

// Show that time, with mark A.
function goToMoment(text) {
	const p = here(), t = momentOf(p, text.trim());
	const isThere = t >= 0 && t <= p.span;
	if (!isThere)
		return false;
	const span = isWhole(p) ? p.span / 20 : p.view.to - p.view.from;
	p.markers.A = t;
	setView(p, t - span / 2, t + span / 2);
	return true;
}

// Interrupts, own probes and bands of missing records.
function showQuiet() {
	state.quiet = !state.quiet;
	panels.forEach((p) => plots[p.index].arrange());
	relayout();
	saveSoon();
}

// Only the rows of threads that `is` says; null: all. False where the picture has none of them.
function only(is) {
	const p = panels[0], threads = p.rows.filter((row) => row.kind === ROW.thread), some = is ? threads.filter((row) => is(row.thread.tid)) : threads;
	const isSome = some.length > 0;
	for (const row of threads)
		row.hidden = isSome && is !== null && !some.includes(row);
	for (const row of p.rows)
		if (row.members && !row.isCpus)
			row.hidden = row.members.length > 0 && row.members.every((member) => member.hidden);
	rearrange(p);
	return isSome;
}

const actions = {
	quiet: showQuiet,
	pin: () => toggle(rowHere(), "pinned"),
	hideRow: () => toggle(rowHere(), "hidden"),
	rows: showAllRows,
	A: () => putMarker("A"),
	B: () => putMarker("B"),
	reset: () => { panels.forEach((p) => setView(p, 0, p.span)); },
	wider: () => zoomBy(here(), 2),
	closer: () => zoomBy(here(), 0.5),
	left: () => panBy(here(), -0.2 * (here().view.to - here().view.from)),
	right: () => panBy(here(), 0.2 * (here().view.to - here().view.from)),
	selected: zoomToSelected,
	waker: toWaker,
	holder: toHolder,
	undo: takeBack,
	...searchActions,
};

const buttons = [
	["reset", "Reset zoom", 84, "Show the whole timeline (Esc)"],
	["closer", "+", 24, "Zoom in (w, +, Ctrl-wheel, or drag a stretch)"],
	["wider", "\u2212", 24, "Zoom out (s, -)"],
	["left", "\u2190", 24, "Earlier (a, Left, or Shift-drag)"],
	["right", "\u2192", 24, "Later (d, Right)"],
	["selected", "To interval", 80, "Zoom to the selected interval (Enter, double click)"],
	["waker", "To waker", 70, "Who ended this wait (g; h: who held its lock or had its CPU)"],
	["rows", "All rows", 62, "Show all rows again (X). A row pointed at: t pins it on top, x hides it. A click on a process folds its threads"],
	...panels.some(hasQuiet) ? [["quiet", "Quiet lanes", 80, "Show or hide interrupts, perfkit's own probes and bands where records are missing (e)"]] : [],
	["A", "A", 24, "Mark the moment pointed at (Shift-a), to measure from"],
	["B", "B", 24, "Mark another (Shift-b): the difference stands below"],
	["undo", "Undo", 52, "Take the last step back (u, Backspace, or the browser's Back)"],
];

function setButtons() {
	mark("reset", false, panels.some((p) => !isWhole(p)));
	mark("wider", false, !isWhole(here()));
	mark("left", false, here().view.from > 0);
	mark("right", false, here().view.to < here().span);
	mark("selected", false, selected !== null);
	mark("waker", false, selected !== null && wakeupOf(selected) !== null);
	mark("rows", false, here().rows.some((row) => row.hidden || row.pinned || row.folded));
	if (panels.some(hasQuiet))
		mark("quiet", state.quiet, true);
	mark("undo", false, steps() > 0);
	markSearch();
}

const keys = {"+": "closer", "=": "closer", "-": "wider", ArrowLeft: "left", ArrowRight: "right", w: "closer", s: "wider", a: "left", d: "right",
	Enter: "selected", g: "waker", h: "holder", t: "pin", x: "hideRow", X: "rows", e: "quiet", A: "A", B: "B", u: "undo", Backspace: "undo", n: "next", p: "previous", N: "previous", c: "fold", 0: "reset"};

function onOwnKey(e) {
	if (selected && [",", ".", "ArrowUp", "ArrowDown"].includes(e.key)) {
		e.preventDefault();
		step(e.key);
		saveSoon();
	} else if (e.key === "Escape") {
		select(null);
		actions.reset();
	} else if (keys[e.key]) {
		e.preventDefault();
		actions[keys[e.key]]();
	}
}

const bar = new Bar(buttons, [makeField("moment", 110, "Go to +12.3 ms", "Go to a time: +12.3 ms from the start, or the clock's seconds",
	() => {}, (input) => input.classList.toggle("bad", !goToMoment(input.value)))]);
make("g", {id: "tip", display: "none"}, svg);
for (const plot of plots) {
	const g = plot.group;
	g.setAttribute("tabindex", 0);
	g.setAttribute("role", "application");
	g.setAttribute("aria-label", "timeline: w and s zoom, a and d move, g goes to the waker");
	g.addEventListener("mousemove", (e) => { if (!drag.p) onMove(e); });
	g.addEventListener("mouseleave", () => { hideCard(); moveCursor(null); focusRow(null); });
	g.addEventListener("mousedown", onDown);
	g.addEventListener("dblclick", onDouble);
	g.addEventListener("wheel", onWheel, {passive: false});
	g.addEventListener("touchstart", onTouchStart, {passive: true});
	g.addEventListener("touchmove", onTouchMove, {passive: false});
	g.addEventListener("touchend", () => { touched = null; });
}
// Names: of a process to fold its threads; t and x pin and hide the row under the pointer.
for (const plot of plots)
	plot.names.forEach((name, i) => {
		const row = plot.panel.rows[i];
		if (!name)
			return;
		name.addEventListener("mouseenter", () => { pointed = i; state.at = plot.panel.index; });
		if (row.kind === ROW.group) {
			name.setAttribute("class", "group link");
			name.setAttribute("tabindex", 0);
			name.setAttribute("role", "button");
			onPress(name, () => toggle(row, "folded"));
		} else if (row.kind === ROW.thread && host && host.onThread) {
			name.classList.add("thread");
			onPress(name, () => host.onThread(row.thread.tid));
		}
	});
window.addEventListener("mousemove", onDrag);
window.addEventListener("mouseup", onUp);
window.addEventListener("keydown", onKey);
window.addEventListener("scroll", stickAll);
startLayout();
startHistory();
relayout();
focusRow(null);
say(selected);
const episode = host ? null : plots[Number(episodeAsked) - 1];
if (episode)
	window.scrollTo(0, episode.panel.axisY - bar.height - 60);

// The row of a thread by its ids, at a time; for the surrounding page.
function showThread(tid, t) {
	const p = panels[0], row = p.rows.findIndex((r) => r.kind === ROW.thread && r.thread.tid === tid);
	if (row >= 0 && !p.rows[row].shown)
		showAllRows();
	if (row >= 0)
		goTo(p, row, t);
	return row >= 0;
}

// Select a thread's interval at a time, in whatever view there is; for the surrounding page.
function markThread(tid, t) {
	const p = panels[0], row = p.rows.findIndex((r) => r.kind === ROW.thread && r.thread.tid === tid), segs = row < 0 ? null : p.rows[row].segs;
	const seg = segs ? segs.after(t) : 0;
	select(segs && seg < segs.n ? {p: 0, row, seg} : null);
}

// For pages around the picture and for tests: what is drawn, and how long that took.
svg.timeline = {state, setButtons, only, panels, search, actions, goToMoment, setView, showThread, markThread, plotX, chooseMeaning, showMeaning, cut, load: loadText, relayout: fitWindow, plots, drawMs: () => drawMs, selected: () => selected, under,
	linesOf: (row, seg) => segmentLines(panels[0], row, seg),
	xOf: (p, t) => plotX + xOf(panels[p].view, t), view: (p) => panels[p].view};
