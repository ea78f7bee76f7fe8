// html_heat.js - the maps: samples by their place in equal stretches of time (one column a
// stretch, as FlameScope has it), or waits, run-queue delays and spans by time and length: grey for
// the mass, dots for the longest. A drag, or the keyboard, selects a stretch, with Shift a band
// of lengths, too; a click opens the episode that it hits.

const HEAT = {rows: 45, height: 90, top: 12, left: 62, foot: 20, near: 9, drag: 4};

const maps = {
	cpu: {name: "CPU samples", what: "samples", y: "offset", has: () => data.sample.t.length > 0},
	off: {name: "Off-CPU", what: "waits", y: "length", has: () => data.wait.any},
	delay: {name: "Run-queue delay", what: "run-queue delays", y: "delay", has: () => data.wait.any},
	span: {name: "Span latency", what: "spans", y: "length", has: () => data.span.t.length > 0},
};

// 1, 2 or 5 times a power of ten, at least x.
function niceStep(x) {
	let step = 1;
	for (let k = 0; step < x; k++)
		step *= k % 3 === 1 ? 2.5 : 2;
	return step;
}

// A power of ten of ns: "10 ms".
function decadeText(k) {
	const unit = Math.floor(k / 3);
	return unit > 3 ? 10 ** (k - 9) + " s" : 10 ** (k - 3 * unit) + " " + ["ns", "us", "ms", "s"][unit];
}

function isSpanShown(i, chosen) {
	const thread = data.span.thread[i] - 1;
	return hasLabel(data.span, i) && (!chosen || thread >= 0 && chosen(thread, data.thread.comm[thread]));
}

// The points of a latency map: call emit(time, length) of each.
function eachPoint(map, emit) {
	const w = data.wait, chosen = chosenThreads();
	if (map === "span") {
		data.span.t.forEach((t, i) => { if (isSpanShown(i, chosen)) emit(t, data.span.ns[i]); });
		return;
	}
	for (let i = 0; i < w.n; i++) {
		const bits = w.bits[i], woken = w.start[i] + w.blocked[i];
		if (chosen && !chosen(w.thread[i], data.row.comm[w.row[i]]) || !isMeant(i, map))
			continue;
		if (bits & BIT.out || (map === "delay" ? bits & BIT.unknown : bits & BIT.hidden))
			continue;
		eachPart(w, i, (from, to) => {
			const start = map === "delay" ? Math.max(woken, from) : from;
			if (to > start)
				emit(start, to - start);
		});
	}
}

// Losses that leave a blank: not records out of order.
let missingLosses = null;

function missing() {
	missingLosses = missingLosses || Array.from(data.loss.kind.keys()).filter((i) => data.loss.kind[i] < 3).sort((a, b) => data.loss.t[a] - data.loss.t[b]);
	return missingLosses;
}

// A wait's colour in timelines: of what took most of it.
function waitColor(i) {
	const w = data.wait;
	if (w.rest[i] > w.blocked[i])
		return meaning(w.bits[i] & BIT.running ? "preempted" : "runnable");
	return w.bits[i] & BIT.unknown ? meaning("unknown") : frames.cold[head.causes[w.cause[i]]];
}

const SPAN_COLOR = "#7b52c9";
const DOTS = {least: 40, most: 400, share: 0.01};

// Keeps the longest DOTS.most of all intervals that are added, the longest first.
class Longest {
	constructor() {
		this.n = 0; // of all
		this.kept = [];
		this.least = 0;
	}

	add(ns, i) {
		this.n++;
		if (ns < this.least)
			return;
		this.kept.push([ns, i]);
		if (this.kept.length > 16 * DOTS.most)
			this.sort();
	}

	sort() {
		this.kept.sort((a, b) => b[0] - a[0] || a[1] - b[1]).splice(DOTS.most);
		this.least = this.kept.length < DOTS.most ? 0 : this.kept[DOTS.most - 1][0];
		return this.kept;
	}
}

// The longest of a latency map, the longest first: {t, ns, color, ep}; ep: the episode it is. Waits that
// may be at rest are no answer, so they stay grey.
function longestOf(map) {
	const all = new Longest(), w = data.wait, s = data.span, chosen = chosenThreads();
	if (map === "span")
		for (let i = 0; i < s.t.length; i++)
			if (isSpanShown(i, chosen))
				all.add(s.ns[i], i);
	for (let i = 0; map !== "span" && i < w.n; i++) {
		const bits = w.bits[i], isSure = !(bits & (BIT.out | BIT.hidden | BIT.unclear | BIT.open | BIT.suspect));
		const ns = map === "delay" ? bits & BIT.unknown ? 0 : w.rest[i] : w.end[i] - w.start[i];
		if (isSure && ns > 0 && isMeant(i, map) && (!chosen || chosen(w.thread[i], data.row.comm[w.row[i]])) && (!label || map === "off" && eachHas(w, i)))
			all.add(ns, i);
	}
	const n = Math.min(Math.max(DOTS.least, Math.ceil(all.n * DOTS.share)), DOTS.most);
	const byPlace = new Map((head.tail ? head.tail.episodes : []).map((ep) => [placeOf(ep).from + "/" + ep.duration_ns, ep.rank]));
	return all.sort().slice(0, n).map(([ns, i]) => {
		const t = map === "span" ? s.t[i] : map === "delay" ? w.start[i] + w.blocked[i] : w.start[i];
		const color = map === "span" ? SPAN_COLOR : map === "delay" ? meaning(meaningOf(i, map)) : waitColor(i);
		return {t, ns, color, name: map === "span" ? "" : meaningOf(i, map), ep: map === "delay" ? 0 : byPlace.get(t + "/" + ns) || 0};
	});
}

// What the colours of the dots mean, with all time of that, most first; each a switch that leaves only
// that in all views.
function dotKeys(dots) {
	const colors = new Map(dots.filter(({name}) => name).map(({name, color}) => [name, color])), sums = colors.size ? sumMeanings() : null;
	const all = [...colors].map(([name, color]) => [name, color, sums.get(name) || 0]);
	return all.sort((a, b) => b[2] - a[2] || (a[0] < b[0] ? -1 : 1)).map(([name, color, ns]) => {
		const mark = el("span", {class: "swatch"});
		mark.style.background = color;
		return el("button", {class: "key", "aria-pressed": String(view.only === name), title: view.only === name ? "show all" : "only " + name + ", in all views",
			onclick: () => chooseMeaning(view.only === name ? "" : name)}, mark, name, el("span", {class: "dim"}, " " + timeText(ns)));
	});
}

// Does an interval have the chosen label anywhere?
function eachHas(table, i) {
	let has = false;
	eachPart(table, i, () => { has = true; });
	return has;
}

class Heat {
	constructor(canvas, says) {
		this.canvas = canvas;
		this.says = says;
		this.cursor = {x: 0, y: 0};
		canvas.addEventListener("pointerdown", (e) => this.down(e));
		canvas.addEventListener("pointermove", (e) => this.move(e));
		canvas.addEventListener("pointerup", (e) => this.up(e));
		canvas.addEventListener("pointercancel", () => { this.from = this.pending = null; });
		canvas.addEventListener("pointerleave", () => { if (!this.from) this.says(""); });
		canvas.addEventListener("keydown", (e) => this.key(e));
	}

	// Count what there is for the width there is.
	make(map, width) {
		const span = head.span_ns || 1;
		this.map = map;
		this.width = width;
		this.isOffset = maps[map].y === "offset";
		this.columns = Math.max(20, Math.floor((width - HEAT.left) / (this.isOffset ? 10 : 3)));
		this.step = this.isOffset ? niceStep(span / this.columns) : span / this.columns;
		this.columns = Math.max(1, Math.ceil(span / this.step));
		this.counts = new Float64Array(this.columns * HEAT.rows);
		this.low = 0;
		this.high = 1;
		this.dots = [];
		if (this.isOffset)
			this.countSamples();
		else
			this.countLengths();
		this.picture = null;
		this.most = this.counts.reduce((a, b) => Math.max(a, b), 0);
	}

	countSamples() {
		const s = data.sample, unit = this.step / HEAT.rows, chosen = chosenThreads();
		for (let i = 0; i < s.t.length; i++) {
			if (s.event[i] !== view.event || !hasLabel(s, i) || chosen && !chosen(s.thread[i] - 1, data.row.comm[s.row[i]]))
				continue;
			const c = Math.min(Math.floor(s.t[i] / this.step), this.columns - 1);
			const r = Math.min(Math.floor((s.t[i] - c * this.step) / unit), HEAT.rows - 1);
			this.counts[c * HEAT.rows + r]++;
		}
	}

	// Rows from one power of ten to another.
	countLengths() {
		let low = Infinity, high = 0;
		eachPoint(this.map, (t, ns) => {
			low = Math.min(low, Math.max(ns, 1));
			high = Math.max(high, ns);
		});
		this.low = Math.floor(Math.log10(Math.min(low, high || 1)));
		this.high = Math.max(Math.ceil(Math.log10((high || 1) * 1.1)), this.low + 1);
		eachPoint(this.map, (t, ns) => {
			const c = Math.min(Math.max(Math.floor(t / this.step), 0), this.columns - 1);
			this.counts[c * HEAT.rows + this.rowOf(ns)]++;
		});
		this.dots = this.most === 0 ? [] : longestOf(this.map);
	}

	rowOf(ns) {
		return Math.min(Math.max(Math.floor(this.heightOf(ns) * HEAT.rows), 0), HEAT.rows - 1);
	}

	// Of a length, from 0 at the foot to 1.
	heightOf(ns) {
		return (Math.log10(Math.max(ns, 1)) - this.low) / (this.high - this.low);
	}

	// What the map shows, where nothing is pointed at.
	caption() {
		const {what} = maps[this.map], many = what[0].toUpperCase() + what.slice(1);
		return (this.isOffset ? many + ": each column is " + timeText(this.step) + ", from its foot up" :
			many + " by begin and length" + (this.dots.length ? "; dots: the " + this.dots.length + " longest" : "") +
			(this.marked().length ? "; triangles: the worst" : "")) + (missing().length ? "; hatched: missing" : "");
	}

	lengthAt(row) {
		return Math.pow(10, this.low + row / HEAT.rows * (this.high - this.low));
	}

	// --- drawing

	draw() {
		const c = this.canvas, dpr = window.devicePixelRatio || 1, g = c.getContext("2d");
		const high = HEAT.top + HEAT.height + HEAT.foot, style = getComputedStyle(c);
		c.width = Math.round(this.width * dpr);
		c.height = Math.round(high * dpr);
		c.style.height = high + "px";
		g.setTransform(dpr, 0, 0, dpr, 0, 0);
		this.w = (this.width - HEAT.left) / this.columns;
		this.h = HEAT.height / HEAT.rows;
		const isDark = window.matchMedia("(prefers-color-scheme: dark)").matches;
		if (isDark !== this.isDark || dpr !== this.dpr)
			this.picture = null;
		Object.assign(this, {isDark, dpr});
		this.picture = this.picture || this.drawCells(dpr);
		g.translate(0, HEAT.top);
		g.drawImage(this.picture, 0, 0, this.width, HEAT.height);
		this.drawLosses(g);
		this.drawAxes(g, style.color);
		this.drawDots(g);
		this.drawLine(g);
		this.drawEpisodes(g);
		this.drawSelection(g, style.color);
	}

	// The mass, which no selection changes: grey, so that what is marked stands out.
	drawCells(dpr) {
		const picture = document.createElement("canvas"), g = picture.getContext("2d");
		const [ground, ink] = this.isDark ? [[32, 35, 40], [190, 194, 200]] : [[255, 255, 255], [96, 98, 104]];
		const tint = (t) => "rgb(" + ground.map((x, i) => Math.round(x + (ink[i] - x) * t)).join(",") + ")";
		picture.width = Math.max(Math.round(this.width * dpr), 1);
		picture.height = Math.round(HEAT.height * dpr);
		g.setTransform(dpr, 0, 0, dpr, 0, 0);
		g.fillStyle = tint(0);
		g.fillRect(HEAT.left, 0, this.width - HEAT.left, HEAT.height);
		for (let x = 0; x < this.columns; x++)
			for (let y = 0; y < HEAT.rows; y++) {
				const n = this.counts[x * HEAT.rows + y];
				if (!n)
					continue;
				g.fillStyle = tint(0.25 + 0.75 * Math.log(1 + n) / Math.log(1 + this.most));
				g.fillRect(HEAT.left + x * this.w, HEAT.height - (y + 1) * this.h, Math.max(this.w, 1), Math.max(this.h, 1));
			}
		return picture;
	}

	xOf(t) {
		return HEAT.left + t / this.step * this.w;
	}

	yOf(ns) {
		return HEAT.height * (1 - this.heightOf(ns));
	}

	drawLosses(g) {
		const l = data.loss;
		g.save();
		g.beginPath();
		let end = 0; // many overlap: one after the other, each once
		for (const i of missing()) {
			const x = Math.max(this.xOf(l.t[i]), end), last = Math.max(this.xOf(l.t[i] + l.ns[i]), x + (x > end ? 2 : 0));
			if (last > x)
				g.rect(x, 0, last - x, HEAT.height);
			end = Math.max(end, last);
		}
		g.clip();
		g.beginPath();
		for (let x = -HEAT.height; missing().length && x < this.width; x += 5) {
			g.moveTo(x, HEAT.height);
			g.lineTo(x + HEAT.height, 0);
		}
		g.strokeStyle = this.isDark ? "#ff8a80" : "#b3261e";
		g.lineWidth = 1;
		g.globalAlpha = 0.45; // however much is missing, the dots stay the first that is seen
		g.stroke();
		g.restore();
	}

	// Powers of ten across.
	drawGrid(g, color) {
		g.save();
		g.strokeStyle = color;
		for (let k = this.low; k <= this.high; k++) {
			const y = Math.round(this.yOf(10 ** k)) + 0.5, isNamed = this.high - this.low < 6 || (this.high - k) % 2 === 0;
			g.globalAlpha = 0.14;
			g.beginPath();
			g.moveTo(HEAT.left, y);
			g.lineTo(this.width, y);
			g.stroke();
			g.globalAlpha = 1;
			if (isNamed)
				g.fillText(decadeText(k), HEAT.left - 6, Math.min(Math.max(y, 6), HEAT.height - 4));
		}
		g.restore();
	}

	// Over the dots, so that it can be read.
	drawLine(g) {
		const p = head.tail && head.tail.population.p999_ns;
		g.save();
		g.font = "11px Verdana, DejaVu Sans, sans-serif";
		g.textAlign = "right";
		g.textBaseline = "middle";
		if (p && this.most && this.ranked()) {
			const y = Math.round(this.yOf(p)) + 0.5, isLow = y < 14;
			g.strokeStyle = g.fillStyle = this.isDark ? "#ff9ec4" : "#a1004f";
			g.setLineDash([5, 3]);
			g.beginPath();
			g.moveTo(HEAT.left, y);
			g.lineTo(this.width, y);
			g.stroke();
			// At the end that the shown episode's mark leaves free.
			const text = "p99.9 " + timeText(p), room = g.measureText(text).width + 8, ep = caseEpisode();
			const end = ep && this.xOf(placeOf(ep).from) > this.width - room - 8 ? HEAT.left + room + 4 : this.width;
			g.fillStyle = this.isDark ? "rgba(32,35,40,0.85)" : "rgba(255,255,255,0.85)";
			g.fillRect(end - room, isLow ? y + 1 : y - 14, room, 13);
			g.fillStyle = g.strokeStyle;
			g.fillText(text, end - 4, isLow ? y + 8 : y - 7);
		}
		g.restore();
	}

	// Is it what the episodes are of?
	ranked() {
		return Boolean(head.tail) && {wait: "off", activation: "off", span: "span"}[head.tail.by] === this.map;
	}

	drawDots(g) {
		g.save();
		g.strokeStyle = this.isDark ? "#1b1d21" : "#ffffff";
		g.lineWidth = 0.8;
		for (let i = this.dots.length - 1; i >= 0; i--) {
			const {t, ns, color} = this.dots[i];
			g.fillStyle = color;
			g.beginPath();
			g.arc(this.xOf(t), this.yOf(ns), 3.2, 0, 7);
			g.fill();
			g.stroke();
		}
		g.restore();
	}

	// Where the worst episodes begin, in what the map shows.
	marked() {
		return head.tail && !this.isOffset ? caseEpisodes().map((ep) => ({ep, t: placeOf(ep).from})).filter(({t}) => t >= 0 && t <= head.span_ns) : [];
	}

	drawEpisodes(g) {
		const chosen = caseEpisode();
		for (const {ep, t} of this.marked().reverse()) {
			const x = this.xOf(t), is = ep === chosen, size = is ? 5.5 : 4;
			g.fillStyle = is ? this.isDark ? "#ff9ec4" : "#b00060" : this.isDark ? "#c9ccd2" : "#3c3c38";
			g.beginPath();
			g.moveTo(x - size, -HEAT.top + 1);
			g.lineTo(x + size, -HEAT.top + 1);
			g.lineTo(x, -HEAT.top + 2 + 1.5 * size);
			g.fill();
			if (!is)
				continue;
			g.fillRect(x - 0.6, -2, 1.2, HEAT.height + 2);
			g.strokeStyle = g.fillStyle;
			g.lineWidth = 1.6;
			if (this.ranked()) {
				g.beginPath();
				g.arc(x, this.yOf(ep.duration_ns), 5.5, 0, 7);
				g.stroke();
			}
		}
	}

	drawAxes(g, color) {
		g.fillStyle = color;
		g.font = "11px Verdana, DejaVu Sans, sans-serif";
		g.textAlign = "right";
		g.textBaseline = "middle";
		if (!this.most) {
			g.textAlign = "center";
			g.fillText("no " + maps[this.map].what + (label ? " with " + view.label : ""), HEAT.left + (this.width - HEAT.left) / 2, HEAT.height / 2);
			g.textAlign = "right";
		} else if (this.isOffset) {
			for (const share of [0, 0.5, 1])
				g.fillText(timeText(share * this.step), HEAT.left - 6, Math.min(Math.max(HEAT.height * (1 - share), 6), HEAT.height - 4));
		} else {
			this.drawGrid(g, color);
		}
		const step = niceStep(head.span_ns * 90 / (this.width - HEAT.left));
		g.textAlign = "left";
		g.textBaseline = "top";
		for (let t = Math.ceil(head.before_ns / step) * step - head.before_ns; t < head.span_ns; t += step) {
			const x = this.xOf(t), text = tickText(t + head.before_ns, step);
			g.fillRect(x, HEAT.height, 1, 5);
			if (x + 2 + g.measureText(text).width < this.width)
				g.fillText(text, x + 3, HEAT.height + 4);
		}
	}

	drawSelection(g, color) {
		const s = this.pending || view.stretch, band = this.pending ? this.pending.band : view.band;
		g.strokeStyle = color;
		g.lineWidth = 1.5;
		if (document.activeElement === this.canvas && this.isByKey)
			g.strokeRect(HEAT.left + this.cursor.x * this.w, HEAT.height - (this.cursor.y + 1) * this.h, this.w, this.h);
		if (!s && !band)
			return;
		g.fillStyle = "rgba(59,111,209,0.22)";
		g.strokeStyle = "#3b6fd1";
		const {from, to} = s || stretch();
		if (this.isOffset) {
			for (let c = Math.floor(from / this.step); c < this.columns && c * this.step < to; c++) {
				const a = Math.max(from / this.step - c, 0), b = Math.min(to / this.step - c, 1);
				g.fillRect(HEAT.left + c * this.w, HEAT.height * (1 - b), this.w, HEAT.height * (b - a));
				g.strokeRect(HEAT.left + c * this.w, HEAT.height * (1 - b), this.w, HEAT.height * (b - a));
			}
			return;
		}
		const x = this.xOf(from), x1 = this.xOf(to);
		const top = band ? Math.max(this.yOf(band.high), 0) : 0, end = band ? Math.min(this.yOf(band.low), HEAT.height) : HEAT.height;
		g.fillRect(x, top, Math.max(x1 - x, 1), end - top);
		g.strokeRect(x, top, Math.max(x1 - x, 1), end - top);
	}

	// --- selecting

	at(event) {
		const r = this.canvas.getBoundingClientRect();
		const x = Math.floor((event.clientX - r.left - HEAT.left) / this.w);
		const y = Math.floor((HEAT.top + HEAT.height - (event.clientY - r.top)) / this.h);
		return {x: Math.min(Math.max(x, 0), this.columns - 1), y: Math.min(Math.max(y, 0), HEAT.rows - 1)};
	}

	// The dot or the episode's mark near a point, or null.
	near(event) {
		const r = this.canvas.getBoundingClientRect(), px = event.clientX - r.left, py = event.clientY - r.top - HEAT.top;
		let best = null, least = HEAT.near;
		const offer = (x, y, found) => {
			const d = Math.hypot(x - px, y - py);
			if (d < least) {
				least = d;
				best = found;
			}
		};
		for (const dot of this.dots)
			offer(this.xOf(dot.t), this.yOf(dot.ns), dot);
		for (const {ep, t} of this.marked())
			offer(this.xOf(t), 3 - HEAT.top, {t, ns: ep.duration_ns, ep: ep.rank});
		return best;
	}

	// The stretch between two cells, both included; isBand: and of lengths the band.
	between(a, b, isBand) {
		const cut = (t) => Math.min(Math.max(Math.round(t), 0), head.span_ns);
		if (this.isOffset) {
			const unit = this.step / HEAT.rows, ta = a.x * this.step + a.y * unit, tb = b.x * this.step + b.y * unit;
			return {from: cut(Math.min(ta, tb)), to: cut(Math.max(ta, tb) + unit), band: null};
		}
		const low = Math.min(a.y, b.y), high = Math.max(a.y, b.y) + 1;
		return {from: cut(Math.min(a.x, b.x) * this.step), to: cut((Math.max(a.x, b.x) + 1) * this.step),
			band: isBand && this.map === "off" ? {low: Math.floor(this.lengthAt(low)), high: Math.ceil(this.lengthAt(high))} : null};
	}

	describe(cell) {
		const n = this.counts[cell.x * HEAT.rows + cell.y], t = cell.x * this.step;
		const {what} = maps[this.map], count = countText(n) + " " + (n === 1 ? what.slice(0, -1) : what);
		return this.isOffset ? sinceText(t + cell.y * this.step / HEAT.rows) + ": " + count :
			timeText(this.lengthAt(cell.y)) + " to " + timeText(this.lengthAt(cell.y + 1)) + " long, from " + sinceText(t) + ": " + count;
	}

	describeDot({t, ns, ep}) {
		const found = head.tail && head.tail.episodes.find((x) => x.rank === ep);
		return (found ? "#" + ep + " " + threadText(found) + ", " : "") + timeText(ns) + " from " + sinceText(t) +
			(found ? ": " + head.roots[head.tail.episodes.indexOf(found)] + "; a click opens it" : "; a click selects its time");
	}

	down(event) {
		if (event.button !== 0)
			return;
		this.canvas.setPointerCapture(event.pointerId);
		this.from = {...this.at(event), px: event.clientX, py: event.clientY};
		this.isByKey = this.isFar = false;
	}

	move(event) {
		const cell = this.at(event), dot = this.near(event);
		if (!this.from) {
			this.canvas.style.cursor = dot ? "pointer" : "";
			this.says(dot ? this.describeDot(dot) : this.describe(cell));
			return;
		}
		this.isFar = this.isFar || Math.hypot(event.clientX - this.from.px, event.clientY - this.from.py) > HEAT.drag;
		if (!this.isFar)
			return;
		this.pending = this.between(this.from, cell, event.shiftKey);
		this.says(stretchText(this.pending));
		this.draw();
	}

	up(event) {
		if (!this.from)
			return;
		const cell = this.at(event), s = this.between(this.from, cell, event.shiftKey), dot = this.isFar ? null : this.near(event);
		const isClick = !this.isFar;
		this.from = this.pending = null;
		if (dot && dot.ep)
			showCase(dot.ep);
		else if (dot)
			choose({from: Math.max(Math.floor(dot.t - dot.ns / 10), 0), to: Math.min(Math.ceil(dot.t + 1.1 * dot.ns), head.span_ns)}, null);
		else if (!isClick)
			choose({from: s.from, to: s.to}, s.band);
		else if (view.stretch || view.band)
			choose(null, null); // a click beside clears
	}

	// With the keyboard, up and down choose lengths.
	isBand() {
		return this.anchor && this.anchor.y !== this.cursor.y;
	}

	// Arrows move a cell; with Shift they select from where they began.
	key(event) {
		const by = {ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1]}[event.key];
		if (event.key === "Escape")
			choose(null, null);
		if (event.key === "Enter") {
			const s = this.between(this.anchor || this.cursor, this.cursor, this.isBand());
			this.anchor = this.pending = null;
			choose({from: s.from, to: s.to}, s.band);
		}
		if (!by)
			return;
		event.preventDefault();
		this.anchor = event.shiftKey ? this.anchor || {...this.cursor} : null;
		this.cursor.x = Math.min(Math.max(this.cursor.x + by[0], 0), this.columns - 1);
		this.cursor.y = Math.min(Math.max(this.cursor.y + by[1], 0), HEAT.rows - 1);
		this.isByKey = true;
		this.pending = this.anchor ? this.between(this.anchor, this.cursor, this.isBand()) : null;
		this.says(this.pending ? stretchText(this.pending) : this.describe(this.cursor));
		this.draw();
	}
}
