// timeline_draw.js - from a panel's view to cells (as timeline_layout.c makes them) and paths,
// and the texts about an interval.

// On a narrow screen the names have less room, and no ids.
if (host && svg.getRootNode().host.getBoundingClientRect().width < 600) {
	conf.names = 112;
	svg.classList.add("narrow");
}
const plotX = conf.pad + conf.names, LEAST_PX = 0.5;
let plotW = 0; // follows the window

function round(x) {
	return Math.round(x * 100) / 100;
}

function xOf(view, t) {
	return (t - view.from) * plotW / (view.to - view.from);
}

// --- cells ---------------------------------------------------------------------------------

// Takes a row's pieces from left to right and emits cells: (x, w, paint, low, high, seg, mixed).
class Folder {
	constructor(emit) {
		this.emit = emit;
		this.share = new Float64Array(conf.paints.length);
		this.used = [];
		this.start = -1;
		this.pieces = 0;
		this.gap = false;
	}

	out(x, w, paint, low, high, seg, mixed) {
		if (w < LEAST_PX) {
			x -= (LEAST_PX - w) / 2;
			w = LEAST_PX;
		}
		this.emit(x, w, paint, low, high, seg, mixed);
	}

	endColumn() {
		if (this.start < 0)
			return;
		const span = this.end - this.start, {used} = this, mixed = used.length > 1 || this.gap;
		let low = 0;
		sortFew(used);
		for (let k = 0; k < used.length; k++) {
			const paint = used[k], part = this.share[paint] / span;
			if (!isLine(paint) || !mixed)
				this.out(this.start, span, paint, mixed ? low : 0,
					mixed ? Math.min(low + part, 1) : 1, this.pieces === 1 ? this.seg : -1, mixed);
			low += part;
			this.share[paint] = 0;
		}
		used.length = 0;
		this.start = -1;
		this.pieces = 0;
		this.gap = false;
	}

	// What is added next begins at x.
	toColumn(x) {
		const column = Math.floor(x);
		if (this.start >= 0 && column === this.column)
			return;
		this.endColumn();
		this.start = x;
		this.column = column;
	}

	count(paint, px) {
		if (paint === GAP) {
			this.gap = true;
			return;
		}
		if (!this.share[paint])
			this.used.push(paint);
		this.share[paint] += px;
	}

	// Segments [i, end), all in one column.
	addRange(x0, x1, segs, i, end, scale) {
		this.toColumn(x0);
		this.pieces += end - i;
		this.seg = i;
		this.end = x1;
		const first = Math.ceil(i / BLOCK), last = Math.floor(end / BLOCK), width = segs.paints.length;
		for (let k = 0; first < last && k < width; k++) {
			const ns = segs.sums[last * width + k] - segs.sums[first * width + k];
			if (ns > 0)
				this.count(segs.paints[k], ns * scale);
		}
		for (; i < end; i++) {
			if (first < last && i === first * BLOCK)
				i = last * BLOCK;
			if (i < end)
				this.count(segs.paint[i], (segs.start[i + 1] - segs.start[i]) * scale);
		}
	}

	add(x0, x1, paint, seg) {
		if (x1 - x0 >= conf.wide) {
			this.endColumn();
			if (paint !== GAP)
				this.out(x0, x1 - x0, paint, 0, 1, seg, false);
			return;
		}
		for (let x = x0; x < x1;) {
			const end = Math.min(x1, Math.floor(x) + 1);
			this.toColumn(x);
			this.count(paint, end - x);
			this.seg = seg;
			this.pieces++;
			this.end = end;
			x = end;
		}
	}
}

// Sort a few numbers, the smallest first.
function sortFew(list) {
	for (let i = 1; i < list.length; i++)
		for (let k = i; k > 0 && list[k - 1] > list[k]; k--)
			[list[k - 1], list[k]] = [list[k], list[k - 1]];
}

// The first segment after i that does not end before `to`; segment i does.
function firstBeyond(segs, i, to) {
	const {start, begins, n} = segs, last = begins.length;
	let block = Math.floor(i / BLOCK), step = 1;
	for (; block + step < last && begins[block + step] < to; step *= 2)
		block += step;
	for (; step >= 1; step >>= 1)
		if (block + step < last && begins[block + step] < to)
			block += step;
	let k = Math.max(i + 1, block * BLOCK);
	while (k < n && start[k + 1] < to)
		k++;
	return k;
}

function eachCell(row, view, emit) {
	const segs = row.segs, {start} = segs, folder = new Folder(emit), scale = plotW / (view.to - view.from);
	for (let i = segs.after(view.from); i < segs.n && start[i] < view.to;) {
		const x0 = (Math.max(start[i], view.from) - view.from) * scale;
		const to = Math.min(view.from + (Math.floor(x0) + 1) / scale, view.to);
		if (start[i] < view.from || start[i + 1] >= to) {
			folder.add(x0, (Math.min(start[i + 1], view.to) - view.from) * scale, segs.paint[i], i);
			i++;
			continue;
		}
		const end = firstBeyond(segs, i, to);
		folder.addRange(x0, (start[end] - view.from) * scale, segs, i, end, scale);
		i = end;
	}
	folder.endColumn();
}

// Idle, or unclear and omitted.
function isLine(paint) {
	return paint === conf.idle || paint === conf.idle + 1;
}

function paintHeight(paint) {
	return isLine(paint) ? conf.idleH : paint >= conf.unclear && paint < conf.idle ? conf.unclearH :
		paint >= PAINT.blocked && paint < conf.idle ? conf.blockedH : conf.barH;
}

// Top and height of a cell.
function cellBox(row, paint, low, high, mixed) {
	const bottom = row.y + (row.kind === ROW.cpu ? conf.cpuH - 2 : conf.barY + conf.barH);
	const whole = mixed ? conf.barH : paintHeight(paint);
	return [bottom - whole * high, whole * (high - low)];
}

// --- texts ---------------------------------------------------------------------------------

// A time with the digits that the view needs.
function pointText(t, view) {
	const step = Math.pow(10, Math.floor(Math.log10(Math.max(1, (view.to - view.from) / 100))));
	const unit = Math.abs(t) >= 1e9 ? [1e9, "s"] : Math.abs(t) >= 1e6 ? [1e6, "ms"] :
		Math.abs(t) >= 1e3 ? [1e3, "us"] : [1, "ns"];
	const digits = Math.max(0, Math.min(9, Math.round(Math.log10(unit[0] / step))));
	return (t < 0 ? "\u2212" : "+") + (Math.abs(t) / unit[0]).toFixed(digits) + " " + unit[1];
}

function threadText(t) {
	return t.comm + " " + t.tid;
}

const STACK = 6; // frames of the application that a card shows

function stackLines(title, path) {
	const {where, left} = shortStack(path, STACK);
	return where ? [title + where].concat(left ? ["    " + left] : []) : [];
}

// The CPU of a running thread, from the interval before or after.
function runCpu(row, ref) {
	const i = -1 - ref, n = row.offStart.length;
	return (i > 0 ? row.offs[(i - 1) * F.size + F.cpuIn] : n ? row.offs[F.cpuOut] : 0) - 1;
}

// The numbers of an interval, decoded.
function offOf(row, i) {
	const o = row.offs.subarray(i * F.size, (i + 1) * F.size);
	return {o, start: row.offStart[i], woken: row.offStart[i] + o[F.blocked],
		end: row.offStart[i] + o[F.blocked] + o[F.rest], cause: conf.paints[PAINT.blocked + (o[F.bits] & 31)].name,
		flags: o[F.bits] >> 5 & 255, context: o[F.context] & 7, waker: o[F.waker] - 1,
		queue: (o[F.context] >> 3 || (o[F.bits] >> 5 & OFF.running ? o[F.cpuOut] : o[F.cpuIn])) - 1};
}

function sumByThread(parts) {
	const sums = new Map();
	for (const {thread, from, ns} of parts) {
		const sum = sums.get(thread) || {thread, from, ns: 0};
		sum.ns += ns;
		sums.set(thread, sum);
	}
	return [...sums.values()].sort((a, b) => b.ns - a.ns);
}

// The holders of the lock that the interval waited for, longest first: {thread, from, ns}.
function holdersOf(row, i) {
	return (row.held && row.held.get(i) || []).map(({thread, after, ns}) =>
		({thread, from: row.offStart[i] + after, ns}));
}

// The threads on the CPU that the interval waited for, if the picture has its row.
function ownersOf(p, row, i) {
	const {o, woken, end, queue} = offOf(row, i);
	const cpu = o[F.rest] && !(o[F.bits] >> 10) ? p.rows.find((r) => r.kind === ROW.cpu && r.index === queue) : null;
	const parts = [], segs = cpu && cpu.segs;
	for (let k = segs ? segs.after(woken) : 0; segs && k < segs.n && segs.start[k] < end; k++) {
		const from = Math.max(segs.start[k], woken), ns = Math.min(segs.start[k + 1], end) - from;
		if (segs.ref[k] >= 0 && segs.ref[k] !== row.threadNo && ns > 0)
			parts.push({thread: segs.ref[k], from, ns});
	}
	return parts;
}

// {text, thread, from} of the threads that explain an interval: the holder of its lock, its waker, the thread
// on its CPU. For the blocked part or the one after it, by `paint`.
function becauseOf(p, row, i, paint) {
	const x = offOf(row, i), said = [];
	const name = (thread) => threadText(tables.threads[thread]);
	const waits = paint < PAINT.blocked && paint !== PAINT.unknown;
	if (!waits)
		for (const h of sumByThread(holdersOf(row, i)).slice(0, 3))
			said.push({text: "held by " + name(h.thread) + " for " + timeText(h.ns), thread: h.thread, from: h.from});
	if (!waits && x.context) {
		const where = shortStack(x.o[F.wakerPath], 4).where, how = " (" + conf.contexts[x.context] + ")";
		const did = x.cause === "lock" || x.cause === "rwlock" ? "lock let go by " : "woken by ";
		said.push(x.waker < 0 ? {text: "woken by an interrupt" + how} : {thread: x.waker, from: x.woken - 1,
			text: did + name(x.waker) + how + (where ? " in " + where : "")});
	}
	if (waits)
		for (const h of sumByThread(ownersOf(p, row, i)).slice(0, 3))
			said.push({text: "CPU had by " + name(h.thread) + " for " + timeText(h.ns), thread: h.thread, from: h.from});
	return said;
}

function offLines(p, row, i, paint, length) {
	const {o, cause, flags, queue} = offOf(row, i), state = tables.states[o[F.state]], lines = [];
	const what = paint === PAINT.unknown ? "unknown (" + conf.reasons[o[F.bits] >> 13] + ")" :
		paint < PAINT.blocked ? conf.paints[paint].name : cause === "blocked" ? "blocked" :
			"blocked: " + cause + (paint === conf.idle ? ", at rest" : flags & OFF.unclear ? ", unclear" : "");
	lines.push(threadText(row.thread) + " \u00b7 " + what + " \u00b7 " + timeText(length));
	lines.push(...stackLines("in  ", o[F.path]));
	if (!o[F.path])
		lines.push("no stack was recorded");
	lines.push(...becauseOf(p, row, i, paint).map((b) => b.text));
	if (o[F.blocked] && o[F.rest])
		lines.push("off CPU " + timeText(o[F.blocked] + o[F.rest]) + ": " +
			timeText(o[F.blocked]) + " blocked, then " + timeText(o[F.rest]) + " runnable");
	const waited = paint < PAINT.blocked && queue >= 0 && queue !== o[F.cpuIn] - 1 ? "waited for CPU " + queue : "";
	const cpus = [o[F.cpuOut] ? "left CPU " + (o[F.cpuOut] - 1) : "", waited, o[F.cpuIn] ?
		"came back on CPU " + (o[F.cpuIn] - 1) : "", state ? "state " + state : ""].filter((s) => s);
	if (cpus.length)
		lines.push(cpus.join(" \u00b7 "));
	if (flags & OFF.open)
		lines.push("cut off by the edge of the recording or of --time: it lasted longer");
	if (flags & OFF.suspect)
		lines.push("records were lost here");
	return lines;
}

function segmentLines(p, row, seg) {
	const segs = row.segs, paint = segs.paint[seg], ref = segs.ref[seg];
	const length = segs.start[seg + 1] - segs.start[seg];
	if (paint === GAP)
		return [];
	if (row.kind === ROW.cpu)
		return ["CPU " + row.cpu + " \u00b7 " + threadText(tables.threads[ref]) +
			" \u00b7 " + timeText(length)];
	if (paint !== PAINT.run)
		return offLines(p, row, ref, paint, length);
	const cpu = runCpu(row, ref);
	return [threadText(row.thread) + " \u00b7 running \u00b7 " + timeText(length) +
		(cpu >= 0 ? " \u00b7 CPU " + cpu : "")];
}

// The contents of one pixel column, by share.
function columnLines(row, from, to) {
	const sums = new Map(), segs = row.segs;
	let pieces = 0;
	for (let i = segs.after(from); i < segs.n && segs.start[i] < to; i++) {
		const part = Math.min(segs.start[i + 1], to) - Math.max(segs.start[i], from);
		const name = segs.paint[i] === GAP ? row.kind !== ROW.cpu || isCut ? "without the label" : "idle" :
			row.kind !== ROW.cpu ? conf.paints[segs.paint[i]].name : tables.threads[segs.ref[i]].comm;
		sums.set(name, (sums.get(name) || 0) + part);
		pieces++;
	}
	const lines = [(row.kind === ROW.cpu ? "CPU " + row.cpu : threadText(row.thread)) + " \u00b7 " +
		pieces + (pieces === 1 ? " interval in " : " intervals in ") + timeText(to - from)];
	[...sums].sort((a, b) => b[1] - a[1]).slice(0, 8).forEach(([name, ns]) =>
		lines.push((100 * ns / (to - from)).toFixed(1) + "%  " + name + " \u00b7 " + timeText(ns)));
	return lines;
}

// --- drawing -------------------------------------------------------------------------------

// Bars and samples of a block as pixels instead of paths, because building the paths' text takes longer than
// a frame.
class Pixels {
	constructor(before) {
		this.box = make("foreignObject", {x: plotX, display: "none"});
		this.box.style.pointerEvents = "none";
		before.parentNode.insertBefore(this.box, before);
		this.canvas = document.createElementNS("http://www.w3.org/1999/xhtml", "canvas");
		this.canvas.style.display = "block";
		this.box.appendChild(this.canvas);
		this.context = this.canvas.getContext("2d");
	}

	// `color(paint)`: as CSS has it.
	start(y, width, height, color) {
		if (this.canvas.width !== width || this.canvas.height !== height || !this.image) {
			for (const e of [this.canvas, this.box]) {
				e.setAttribute("width", width);
				e.setAttribute("height", height);
			}
			Object.assign(this, {width, height}); // those of the canvas are slow to read
			this.image = this.context.createImageData(width, height);
			this.all = new Uint32Array(this.image.data.buffer);
		}
		if (this.box.getAttribute("display") !== "inline") {
			this.box.setAttribute("display", "inline");
			this.colors = [];
			this.color = color;
		}
		this.box.setAttribute("y", y);
		this.all.fill(0);
	}

	end() {
		this.context.putImageData(this.image, 0, 0);
	}

	hide() {
		this.box.setAttribute("display", "none");
	}

	// The number of a color, as bytes of red, green, blue and opacity.
	colorOf(paint) {
		if (this.colors[paint] === undefined) {
			const [r, g, b] = this.color(paint).match(/\d+/g).map(Number);
			this.colors[paint] = new Uint32Array(new Uint8Array([r, g, b, paint !== SAMPLES && isDim(paint) ? 255 * DIM : 255]).buffer)[0];
		}
		return this.colors[paint];
	}

	fill(x, y, w, h, paint) {
		const {width, height} = this, color = this.colorOf(paint);
		const x0 = Math.max(Math.floor(x), 0), x1 = Math.min(Math.max(Math.round(x + w), x0 + 1), width);
		const y0 = Math.max(Math.round(y), 0), y1 = Math.min(Math.max(Math.round(y + h), y0 + 1), height);
		for (let i = y0 * width; i < y1 * width; i += width)
			for (let k = x0; k < x1; k++)
				this.all[i + k] = color;
	}
}

const SAMPLES = -1; // a paint, too
const DIM = 0.13; // the opacity of what the legend's choice leaves out

// The rows of a plot are drawn in blocks, so that visible ones come first.
const BLOCK_ROWS = 12, MANY_CELLS = 1000;

class Block {
	constructor(panel, rows, parent) {
		this.panel = panel;
		this.rows = rows;
		const group = make("g", {}, parent);
		this.unrecorded = rows.filter((row) => row.unrecorded).map((row) => [row,
			make("rect", {class: "unrecorded", fill: "url(#hatch)", x: plotX, height: conf.cpuH - 4}, group),
			make("text", {class: "unrecorded", "font-size": 11, x: plotX + 4}, group)]);
		this.bars = make("g", {class: "bars", fill: "none"}, group);
		this.paths = [];
		this.hits = make("path", {class: "hits"}, group);
		this.labels = new Pool("text", make("g", {class: "labels", "font-size": 11}, group));
		for (const [name, css] of [["samples", "samples"], ["sampleHits", "samples hit"],
			["spans", "spans"], ["marks", "marks"], ["boxes", "boxes"], ["vague", "boxes vague"]])
			this[name] = make("path", {class: css}, group);
	}

	layout() {
		const last = this.rows[this.rows.length - 1];
		if (!last)
			return;
		this.top = this.rows[0].y;
		this.end = last.y + last.h;
		for (const [row, rect, text] of this.unrecorded) {
			rect.setAttribute("y", row.y + 2);
			rect.setAttribute("width", plotW);
			text.setAttribute("y", row.y + conf.cpuH / 2 + 3);
			text.textContent = "not recorded";
		}
	}

	draw(isHit) {
		this.stale = false;
		this.labels.start();
		this.drawBars(isHit);
		this.drawEvents(isHit);
		this.labels.finish();
		if (this.isFast)
			this.pixels.end();
	}

	// The path of a paint: strokes upwards for mixed columns, to the right for other cells.
	path(paint, mixed) {
		const i = 2 * paint + (mixed ? 1 : 0);
		if (!this.paths[i])
			this.paths[i] = {d: [], element: make("path", {class: paint === PAINT.run ? "run" : "",
				"stroke-width": mixed ? 1 : paintHeight(paint),
				stroke: mixed && paint !== PAINT.unknown ? conf.paints[paint].color :
					conf.paints[paint].fill}, this.bars)};
		return this.paths[i];
	}

	addPath(x, w, y, h, paint, mixed) {
		this.path(paint, mixed).d.push(mixed ? "M" + round(plotX + x + w / 2) + " " +
			Math.round(10 * y) / 10 + "v" + Math.max(Math.round(10 * h) / 10, 0.1) :
			"M" + round(plotX + x) + " " + (y + h / 2) + "h" + round(w));
	}

	// Where bars go now: into paths, or, while a view with many of them moves (isFast), pixels.
	chooseTarget() {
		const isFast = this.isFast = this.panel.isMoving && this.cells > MANY_CELLS;
		for (const p of this.paths)
			if (p)
				p.d.length = 0;
		this.bars.setAttribute("display", isFast ? "none" : "inline");
		if (this.pixels && !isFast)
			this.pixels.hide();
		if (!isFast)
			return (x, w, y, h, paint, mixed) => this.addPath(x, w, y, h, paint, mixed);
		this.pixels = this.pixels || new Pixels(this.bars);
		this.pixels.start(this.top, Math.ceil(plotW), Math.ceil(this.end - this.top), (paint) => this.colorOf(paint));
		return (x, w, y, h, paint) => this.pixels.fill(x, y - this.top, w, h, paint);
	}

	// "rgb(15, 123, 90)", as style and theme have it.
	colorOf(paint) {
		const {stroke} = getComputedStyle(paint === SAMPLES ? this.samples : this.path(paint, true).element);
		return stroke.startsWith("rgb") ? stroke : "rgb(154, 154, 148)";
	}

	drawBars(isHit) {
		const hits = [], v = this.panel.view, put = this.chooseTarget();
		let cells = 0;
		for (const row of this.rows) {
			if (!row.segs && !row.folded)
				continue;
			(row.folded ? eachShare : eachCell)(row, v, (x, w, paint, low, high, seg, mixed) => {
				const [y, h] = cellBox(row, paint, low, high, mixed);
				cells++;
				put(x, w, y, h, paint, mixed);
				if (!mixed && w > 20 && !isLine(paint) && !isDim(paint))
					this.label(row, x, w, paint, y, h, seg);
			});
			this.rowHits(row, isHit, hits);
		}
		this.cells = cells;
		this.paths.forEach((p, i) => {
			if (!p || this.isFast)
				return;
			p.element.setAttribute("d", p.d.join(""));
			p.element.setAttribute("opacity", isDim(i >> 1) ? DIM : 1);
		});
		this.hits.setAttribute("d", hits.join(""));
	}

	// Inside of the cell; of one that is lower than the text, above it.
	label(row, x, w, paint, y, h, seg) {
		const room = Math.floor((w - 6) / conf.labelChar);
		let text;
		if (row.kind === ROW.cpu) {
			const ref = row.segs.ref[seg];
			text = ref < 0 ? "" : tables.threads[ref].comm;
			text = text.length > room ? text.slice(0, room - 2) + ".." : text;
		} else {
			const name = conf.paints[paint].name;
			text = name + " " + timeText(row.segs.start[seg + 1] - row.segs.start[seg]);
			text = text.length > room ? name : text;
		}
		if (room < 3 || text.length > room || !text)
			return;
		const t = this.labels.take(), {color, fill} = conf.paints[paint] || {};
		t.setAttribute("stroke", row.kind !== ROW.cpu && h >= conf.labelH && fill !== color ? color : "none"); // no stripes behind it
		t.setAttribute("class", paint === PAINT.run ? "light" : h < conf.labelH ? "above" : "");
		t.setAttribute("x", round(plotX + x + 3));
		t.setAttribute("y", round(h < conf.labelH ? y - 1 : y + h / 2 + 4));
		t.textContent = text;
	}

	// Intervals whose stack matches the search, one mark a half pixel.
	rowHits(row, isHit, out) {
		if (!isHit || row.kind !== ROW.thread)
			return;
		const v = this.panel.view, segs = row.segs;
		let last = -1;
		for (let i = segs.after(v.from); i < segs.n && segs.start[i] < v.to; i++) {
			if (segs.ref[i] < 0 || !isHit(row.offs[segs.ref[i] * F.size + F.path]))
				continue;
			const x0 = Math.max(xOf(v, segs.start[i]), 0), x1 = Math.min(xOf(v, segs.start[i + 1]), plotW);
			if (x1 < last + 0.5)
				continue;
			last = x1;
			out.push("M", round(plotX + x0), " ", row.y + conf.barY, "h", round(Math.max(x1 - x0, 1)),
				"v", conf.barH + 3, "h", round(-Math.max(x1 - x0, 1)), "z");
		}
	}

	drawEvents(isHit) {
		const v = this.panel.view, plain = [], hits = [], spans = [], marks = [], boxes = [], vague = [];
		for (const row of this.rows) {
			const s = row.samples, half = (v.to - v.from) / plotW / 2;
			if (row.kind === ROW.lane)
				this.drawLane(row, boxes, vague);
			const y = row.y + conf.barY + conf.barH;
			for (let i = s.firstAt(v.from); i < s.n && s.t[i] < v.to; i = s.firstAt(s.t[i] + half))
				if (this.isFast)
					this.pixels.fill(xOf(v, s.t[i]), y - this.top, 1, 3, SAMPLES);
				else
					plain.push("M", round(plotX + xOf(v, s.t[i])), " ", y, "v3");
			for (let i = s.firstAt(v.from), next = 0; isHit && i < s.n && s.t[i] < v.to; i++)
				if (s.t[i] >= next && isHit(s.path[i])) {
					next = s.t[i] + half;
					hits.push("M", round(plotX + xOf(v, s.t[i])), " ", y, "v3");
				}
			let last = -1;
			for (const s of row.spans) {
				if (s.t + s.length <= v.from || s.t >= v.to || isCutOff(row, s.t, s.t + s.length))
					continue;
				const x0 = Math.max(xOf(v, s.t), 0), x1 = Math.min(xOf(v, s.t + s.length), plotW);
				if (x1 - x0 < 0.5 && x1 < last + 0.5)
					continue;
				last = x1;
				spans.push("M", round(plotX + x0), " ", row.y + 3, "v-1.5h",
					round(Math.max(x1 - x0, 0.5)), "v1.5");
			}
			for (const m of row.marks)
				if (!isQuiet(m) && m.t >= v.from && m.t < v.to)
					marks.push("M", round(plotX + xOf(v, m.t)), " ", row.y, "l2.5 2.5l-2.5 2.5l-2.5-2.5z");
		}
		this.samples.setAttribute("d", plain.join(""));
		this.sampleHits.setAttribute("d", hits.join(""));
		this.spans.setAttribute("d", spans.join(""));
		this.marks.setAttribute("d", marks.join(""));
		this.boxes.setAttribute("d", boxes.join(""));
		this.vague.setAttribute("d", vague.join(""));
	}

	// Boxes of a lane, of those within half a pixel one; wide ones have their name. Of some only
	// an interval is known in which they lie: into `vague`.
	drawLane(row, boxes, vague) {
		const v = this.panel.view, of = this.panel.rows[row.of], ends = [];
		for (const b of row.boxes) {
			if (b.t + b.length <= v.from || b.t >= v.to || isCutOff(of, b.t, b.t + b.length))
				continue;
			const x0 = Math.max(xOf(v, b.t), 0), x1 = Math.min(xOf(v, b.t + b.length), plotW);
			if (x1 < (ends[b.level] || -1) + 0.5)
				continue;
			ends[b.level] = x1;
			const y = row.y + 1 + b.level * LANE_H, w = Math.max(x1 - x0, 0.7), room = Math.floor((w - 6) / conf.labelChar);
			(b.isVague ? vague : boxes).push("M", round(plotX + x0), " ", y, "h", round(w), "v", LANE_H - 2, "h", -round(w), "z");
			const text = b.name + " " + timeText(b.parts ? b.ns : b.length), fits = text.length <= room ? text : b.name;
			if (room < 4)
				continue;
			const t = this.labels.take();
			t.setAttribute("class", "");
			t.setAttribute("x", round(plotX + x0 + 3));
			t.setAttribute("y", y + LANE_H - 3.5);
			t.textContent = fits.length <= room ? fits : fits.slice(0, room - 2) + "..";
		}
	}
}

// The elements of one panel: names, and the plot. The axis and the rows of CPUs stay below the
// bar when the page scrolls, unless there are too many of these.
class Plot {
	constructor(panel) {
		this.panel = panel;
		this.group = svg.querySelector("#plot" + panel.index);
		this.group.textContent = ""; // what was drawn without scripts
		this.caption = svg.querySelector("#c" + panel.index);
		this.captionText = this.caption ? linesOf(this.caption) : "";
		this.names = panel.rows.map((row, i) => svg.querySelector("#n" + panel.index + "-" + i));
		this.ground = make("rect", {class: "ground", x: plotX}, this.group);
		this.lanes = make("path", {class: "lanes"}, this.group);
		this.drawn = make("g", {}, this.group);
		this.because = make("path", {class: "because"}, this.group);
		this.chosen = make("path", {class: "arrows chosen"}, this.group);
		this.stuck = make("g", {class: "stuck"}, this.group);
		this.selected = make("rect", {class: "selected", rx: 2, display: "none"}, this.group);
		this.band = make("rect", {class: "band", display: "none"}, this.group);
		this.cursor = make("path", {class: "cursor"}, this.group);
		this.timer = this.ms = this.dy = 0;
		this.blocks = [];
		this.focus = -1; // the row whose arrows are drawn where all would be too many
		this.makeElements();
	}

	makeElements() {
		const p = this.panel;
		this.gridLine = make("path", {}, make("g", {class: "grid"}, this.drawn));
		this.stuckGround = make("rect", {class: "bar-ground", x: 0}, this.stuck);
		this.ticks = new Pool("text", make("g", {class: "grid", "font-size": 11}, this.stuck));
		this.stuckRows = make("g", {}, this.stuck);
		this.restRows = make("g", {}, this.drawn);
		this.stuckNames = make("g", {class: "names", "font-size": 11}, this.stuck);
		this.markers = make("g", {class: "markers", "font-size": 11}, this.stuck);
		this.restNames = this.names.find((name) => name) && this.names.find((name) => name).parentNode;
		findMembers(p);
		const cpus = makeCpus(p);
		if (cpus >= 0) {
			this.names[cpus] = make("text", {x: conf.pad}, this.restNames);
			this.names[cpus].textContent = "CPUs";
		}
		makeLanes(p);
		p.rows.forEach((row, i) => {
			if (row.kind === ROW.lane)
				this.names[i] = make("text", {class: "dim lane", x: conf.pad + 20}, this.restNames);
			if (row.kind === ROW.lane)
				this.names[i].textContent = row.what;
			row.name = this.names[i] && this.names[i].firstChild ? this.names[i].firstChild.textContent : "";
		});
		this.arrange();
		this.arrows = make("path", {class: "arrows"}, this.drawn);
		this["lost-band"] = make("path", {class: "lost-band"}, this.drawn);
		this.lost = make("path", {class: "lost", fill: "url(#hatch-lost)"}, this.stuck);
		this.high = p.highlights.map(() => make("rect", {class: "highlight", rx: 3}, this.drawn));
	}

	// Make the blocks of the rows in sight.
	arrange() {
		const p = this.panel, cpus = p.rows.filter((row) => row.kind === ROW.cpu).length;
		const [stuck, rest] = arrange(p, cpus * conf.cpuH < window.innerHeight / 3);
		this.stuckRows.textContent = this.restRows.textContent = "";
		this.blocks = [];
		this.order = stuck.concat(rest);
		if (stuck.length)
			this.blocks.push(new Block(p, stuck.map((i) => p.rows[i]), this.stuckRows));
		for (let i = 0; i < rest.length; i += BLOCK_ROWS)
			this.blocks.push(new Block(p, rest.slice(i, i + BLOCK_ROWS).map((k) => p.rows[k]), this.restRows));
		this.names.forEach((name, i) => {
			if (!name)
				return;
			name.setAttribute("display", p.rows[i].shown ? "inline" : "none");
			(p.rows[i].stuck ? this.stuckNames : this.restNames).appendChild(name);
			if (p.rows[i].kind === ROW.group)
				name.firstChild.textContent = (p.rows[i].folded ? "\u25b8 " : "\u25be ") + p.rows[i].name;
		});
	}

	// Put the panel at y; returns where it ends.
	layout(y) {
		const p = this.panel, lanes = [];
		if (this.caption && !isBare)
			y += wrapText(this.caption, this.captionText, conf.pad, y + 13, conf.captionH, conf.width - 2 * conf.pad);
		p.axisY = y;
		y = p.rowsY = y + conf.axisH + (p.losses.length ? conf.lostH : 0);
		p.stuckEnd = p.rowsY;
		for (const row of p.rows)
			row.y = -1000;
		for (const i of this.order) {
			const row = p.rows[i];
			row.y = y;
			y += row.folded ? conf.rowH : row.h;
			p.stuckEnd = row.stuck ? y : p.stuckEnd;
			if (this.names[i])
				this.names[i].setAttribute("y", row.kind === ROW.lane ? row.y + 11 : (row.y + y) / 2 + 4);
			if (row.kind !== ROW.group)
				lanes.push("M", plotX, " ", y - 1.5, "h", plotW);
		}
		p.end = y;
		this.lanes.setAttribute("d", lanes.join(""));
		this.ground.setAttribute("y", p.axisY);
		this.ground.setAttribute("width", plotW);
		this.ground.setAttribute("height", p.end - p.axisY);
		for (const b of this.blocks)
			b.layout();
		this.stuckGround.setAttribute("y", p.axisY);
		this.stuckGround.setAttribute("width", conf.width);
		this.stuckGround.setAttribute("height", p.stuckEnd - p.axisY);
		return y;
	}

	// Keep the axis and the CPUs in sight below `top`, as long as the panel is.
	stick(top) {
		const p = this.panel, room = p.end - p.stuckEnd - conf.rowH;
		this.dy = Math.max(0, Math.min(top - p.axisY, room));
		this.stuck.setAttribute("transform", "translate(0 " + this.dy + ")");
		this.stuck.classList.toggle("afloat", this.dy > 0);
	}

	// Where a point of the picture is in the panel; what stuck is in its old place.
	inPanel(y) {
		const p = this.panel;
		return this.dy && y >= p.axisY + this.dy && y < p.stuckEnd + this.dy ? y - this.dy : y;
	}

	rowShift(row) {
		return this.panel.rows[row].stuck ? this.dy : 0;
	}

	// Draw what is in sight now, the rest soon after.
	draw(isHit) {
		const start = performance.now(), [top, end] = inSight();
		this.drawGrid();
		this.drawArrows();
		this.drawLosses();
		this.drawMarkers();
		this.panel.highlights.forEach((h, i) => {
			const row = this.panel.rows[h.row];
			this.place(this.high[i], h.t, h.t + h.length, row.y + 1, row.h - 2);
		});
		for (const b of this.blocks) {
			b.stale = true;
			if (b.end > top && b.top < end)
				b.draw(isHit);
		}
		this.ms = performance.now() - start;
		this.isHit = isHit;
		this.later(0);
	}

	later(wait) {
		clearTimeout(this.timer);
		if (!this.panel.isMoving && this.blocks.some((b) => b.stale))
			this.timer = setTimeout(() => this.drawNext(), wait);
	}

	// One more block, the nearest to what is in sight.
	drawNext() {
		const [top, end] = inSight(), far = (b) => Math.max(b.top - end, top - b.end, 0);
		this.blocks.filter((b) => b.stale).reduce((a, b) => far(b) < far(a) ? b : a).draw(this.isHit);
		this.later(10);
	}

	// Put a rectangle over a stretch of time; hide it outside the view.
	place(rect, from, to, y, h) {
		const v = this.panel.view;
		const x0 = Math.max(xOf(v, from), 0), x1 = Math.min(xOf(v, to), plotW);
		rect.setAttribute("display", x1 < 0 || x0 > plotW || x1 < x0 ? "none" : "inline");
		rect.setAttribute("x", round(plotX + x0));
		rect.setAttribute("width", round(Math.max(x1 - x0, 1)));
		rect.setAttribute("y", y);
		rect.setAttribute("height", h);
	}

	// Outline, in their rows, when others held the lock, or had the CPU, of the interval.
	drawBecause(row, i, blocked) {
		const p = this.panel, v = p.view, d = [];
		const parts = blocked ? holdersOf(row, i) : ownersOf(p, row, i);
		for (const {thread, from, ns} of parts) {
			const there = p.rows.find((r) => r.shown && r.kind === ROW.thread && r.threadNo === thread);
			const x0 = Math.max(xOf(v, from), 0), x1 = Math.min(xOf(v, from + ns), plotW);
			if (there && x1 > x0)
				d.push("M", round(plotX + x0), " ", there.y + 1, "h", round(Math.max(x1 - x0, 1)), "v", there.h - 3,
					"h", -round(Math.max(x1 - x0, 1)), "z");
		}
		this.because.setAttribute("d", d.join(""));
	}

	// Marks of two moments, to measure between.
	drawMarkers() {
		const p = this.panel, v = p.view;
		this.markers.textContent = "";
		for (const [name, t] of Object.entries(p.markers)) {
			if (t < v.from || t > v.to)
				continue;
			const x = round(plotX + xOf(v, t));
			make("path", {d: "M" + x + " " + (p.rowsY - 6) + "V" + p.end}, this.markers);
			make("text", {x: x + 3, y: p.rowsY - 1}, this.markers).textContent = name;
		}
	}

	drawGrid() {
		const p = this.panel, v = p.view, step = axisStep(v), d = [];
		this.ticks.start();
		const first = Math.ceil((v.from - p.zero) / step);
		for (let k = first; k * step + p.zero <= v.to; k++) {
			const x = round(plotX + xOf(v, k * step + p.zero)), t = this.ticks.take();
			d.push("M", x, " ", p.axisY + conf.axisH - 6, "V", p.end);
			t.setAttribute("x", x);
			t.setAttribute("y", p.axisY + 13);
			t.setAttribute("text-anchor", x > conf.width - conf.pad - 30 ? "end" : "middle");
			t.textContent = tickText(k * step, step);
		}
		this.ticks.finish();
		this.gridLine.setAttribute("d", d.join(""));
	}

	// The wakeups in view of each row: {to, wakeups, first, end}.
	wakeupsInView() {
		const {rows, view: v} = this.panel, parts = [];
		rows.forEach(({shown, wakeups}, to) => {
			if (!shown || !wakeups)
				return;
			const {n, t} = wakeups, first = firstWhere(0, n, (i) => t[i] >= v.from), end = firstWhere(first, n, (i) => t[i] >= v.to);
			if (end > first)
				parts.push({to, wakeups, first, end});
		});
		return parts;
	}

	// Of two rows, those apart from each other: every 4 px the one after the longest wait. `row`: only
	// to or from that one; -1: all.
	longest(parts, row) {
		const found = new Map(), {rows, view: v} = this.panel;
		for (const {to, wakeups, first, end} of parts)
			for (let i = first; i < end; i++) {
				const from = wakeups.from[i], t = wakeups.t[i], waited = wakeups.waited[i];
				if (row >= 0 && from !== row && to !== row || !rows[from].shown)
					continue;
				const key = (Math.floor(xOf(v, t) / 4) * rows.length + from) * rows.length + to, best = found.get(key);
				if (!best || waited > best.waited)
					found.set(key, {from, to, t, waited});
			}
		return [...found.values()];
	}

	// The arrows in view, the longest waits first. More than a few would hide the bars: then only
	// those of the row that is pointed at or selected.
	countArrows() {
		const {rows, view: v, given, arrows, isMoving} = this.panel, parts = this.wakeupsInView();
		const shown = arrows.filter((a) => a.t >= v.from && a.t < v.to && rows[a.from].shown && rows[a.to].shown);
		this.arrowsSeen = given ? shown.length : parts.reduce((sum, {first, end}) => sum + end - first, 0);
		this.arrowsDrawn = 0;
		const few = this.arrowsSeen <= conf.stillArrows;
		if (!given && !few && (this.focus < 0 || isMoving))
			return [];
		const drawn = (given ? shown : this.longest(parts, few ? -1 : this.focus))
			.sort((x, y) => y.waited - x.waited || x.t - y.t || x.to - y.to).slice(0, conf.maxArrows);
		this.arrowsDrawn = drawn.length;
		return drawn;
	}

	drawArrows() {
		const drawn = this.countArrows();
		this.arrows.setAttribute("d", drawn.map((a) => this.arrow(a)).join(""));
		this.arrows.setAttribute("opacity", drawn.length > 20 ? Math.max(20 / drawn.length, 0.3) : 1);
	}

	// The row that the reader is at.
	setFocus(row) {
		if (row === this.focus)
			return;
		this.focus = row;
		this.drawArrows();
	}

	arrow(a) {
		const rows = this.panel.rows, down = rows[a.to].y > rows[a.from].y;
		return "M" + round(plotX + xOf(this.panel.view, a.t)) + " " +
			(rows[a.from].y + conf.barY + conf.barH / 2) + "V" +
			(rows[a.to].y + conf.barY + (down ? 0 : conf.barH)) +
			(down ? "m-2.5-4l2.5 4l2.5-4" : "m-2.5 4l2.5-4l2.5 4");
	}

	// Those that touch are one.
	drawLosses() {
		const v = this.panel.view, lane = [], bands = [], all = [];
		this.losses = this.losses || [...this.panel.losses].sort((a, b) => a.t - b.t);
		for (const l of this.losses) {
			if (l.t + l.length <= v.from || l.t >= v.to)
				continue;
			const x0 = Math.max(xOf(v, l.t), 0), x1 = Math.max(Math.min(xOf(v, l.t + l.length), plotW), x0 + 1), last = all[all.length - 1];
			if (last && x0 <= last[1])
				last[1] = Math.max(last[1], x1);
			else
				all.push([x0, x1]);
		}
		for (const [x0, x1] of all) {
			const x = round(plotX + x0), w = round(x1 - x0);
			lane.push("M", x, " ", this.panel.rowsY - conf.lostH, "h", w, "v", conf.lostH - 2, "h", -w, "z");
			if (state.quiet)
				bands.push("M", x, " ", this.panel.rowsY, "h", w, "V", this.panel.end, "h", -w, "z");
		}
		this.lost.setAttribute("d", lane.join(""));
		this["lost-band"].setAttribute("d", bands.join(""));
	}
}

// Nanoseconds between ticks: 1, 2 or 5 times a power of ten, as tl_axis_step.
function axisStep(view) {
	const least = (view.to - view.from) * conf.tickRoom / plotW;
	for (let power = 1;; power *= 10)
		for (const s of [1, 2, 5])
			if (s * power >= least)
				return s * power;
}
