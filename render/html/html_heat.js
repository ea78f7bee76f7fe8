// html_heat.js - the heat maps: samples by their place in equal stretches of time (one column a
// stretch, as FlameScope has it), or waits, run-queue delays and spans by time and length. A
// drag, or the keyboard, selects a stretch, and of lengths a band.

const HEAT = {rows: 50, cell: 14, height: 130, left: 62, foot: 22};

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

// The points of a latency map: call emit(time, length) of each.
function eachPoint(map, emit) {
	const w = data.wait;
	if (map === "span") {
		data.span.t.forEach((t, i) => { if (hasLabel(data.span, i)) emit(t, data.span.ns[i]); });
		return;
	}
	for (let i = 0; i < w.n; i++) {
		const bits = w.bits[i], woken = w.start[i] + w.blocked[i];
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
function missing() {
	return Array.from(data.loss.kind.keys()).filter((i) => data.loss.kind[i] < 3);
}

class Heat {
	constructor(canvas, says) {
		this.canvas = canvas;
		this.says = says;
		this.cursor = {x: 0, y: 0};
		canvas.addEventListener("pointerdown", (e) => this.down(e));
		canvas.addEventListener("pointermove", (e) => this.move(e));
		canvas.addEventListener("pointerup", (e) => this.up(e));
		canvas.addEventListener("pointerleave", () => { if (!this.from) this.says(""); });
		canvas.addEventListener("keydown", (e) => this.key(e));
	}

	// Count what there is for the width there is.
	make(map, width) {
		const span = head.span_ns || 1;
		HEAT.height = Math.round(Math.min(Math.max(130, window.innerHeight / 5, 0.6 * (window.innerHeight - 1000)), 720));
		this.map = map;
		this.width = width;
		this.isOffset = maps[map].y === "offset";
		this.columns = Math.max(20, Math.floor((width - HEAT.left) / (this.isOffset ? 10 : 6)));
		this.step = this.isOffset ? niceStep(span / this.columns) : span / this.columns;
		this.columns = Math.max(1, Math.ceil(span / this.step));
		this.counts = new Float64Array(this.columns * HEAT.rows);
		this.low = 1;
		this.high = 2;
		if (this.isOffset)
			this.countSamples();
		else
			this.countLengths();
		this.picture = null;
		this.most = this.counts.reduce((a, b) => Math.max(a, b), 0);
	}

	countSamples() {
		const s = data.sample, unit = this.step / HEAT.rows;
		for (let i = 0; i < s.t.length; i++) {
			if (s.event[i] !== view.event || !hasLabel(s, i))
				continue;
			const c = Math.min(Math.floor(s.t[i] / this.step), this.columns - 1);
			const r = Math.min(Math.floor((s.t[i] - c * this.step) / unit), HEAT.rows - 1);
			this.counts[c * HEAT.rows + r]++;
		}
	}

	countLengths() {
		let low = Infinity, high = 0;
		eachPoint(this.map, (t, ns) => {
			low = Math.min(low, Math.max(ns, 1));
			high = Math.max(high, ns);
		});
		this.low = Math.log2(Math.min(low, high || 1));
		this.high = Math.max(Math.log2(high + 1), this.low + 1);
		eachPoint(this.map, (t, ns) => {
			const c = Math.min(Math.max(Math.floor(t / this.step), 0), this.columns - 1);
			this.counts[c * HEAT.rows + this.rowOf(ns)]++;
		});
	}

	rowOf(ns) {
		const r = Math.floor((Math.log2(Math.max(ns, 1)) - this.low) / (this.high - this.low) * HEAT.rows);
		return Math.min(Math.max(r, 0), HEAT.rows - 1);
	}

	// What the map shows, where nothing is pointed at.
	caption() {
		const {what} = maps[this.map], by = this.isOffset ? "each column is " + timeText(this.step) + ", from its foot up" :
			"across: when they began; up: how long they lasted, in steps of equal ratio";
		return what[0].toUpperCase() + what.slice(1) + ". " + by[0].toUpperCase() + by.slice(1) + "; the stronger the colour, the more." +
			(missing().length ? " Red below: records are missing." : "");
	}

	lengthAt(row) {
		return Math.pow(2, this.low + row / HEAT.rows * (this.high - this.low));
	}

	// --- drawing

	draw() {
		const c = this.canvas, dpr = window.devicePixelRatio || 1, g = c.getContext("2d");
		const high = HEAT.height + HEAT.foot, style = getComputedStyle(c);
		c.width = Math.round(this.width * dpr);
		c.height = Math.round(high * dpr);
		c.style.height = high + "px";
		g.setTransform(dpr, 0, 0, dpr, 0, 0);
		this.w = (this.width - HEAT.left) / this.columns;
		this.h = HEAT.height / HEAT.rows;
		const isDark = window.matchMedia("(prefers-color-scheme: dark)").matches;
		const [a, b, d] = isDark ? [[38, 41, 47], [196, 74, 20], [255, 222, 120]] : [[255, 255, 255], [250, 150, 60], [150, 10, 20]];
		const tint = (t) => {
			const [from, to, u] = t < 0.5 ? [a, b, t * 2] : [b, d, t * 2 - 1];
			return "rgb(" + from.map((x, i) => Math.round(x + (to[i] - x) * u)).join(",") + ")";
		};
		if (isDark !== this.isDark || dpr !== this.dpr)
			this.picture = null;
		Object.assign(this, {isDark, dpr});
		this.picture = this.picture || this.drawCells(dpr, tint);
		g.drawImage(this.picture, 0, 0, this.width, HEAT.height);
		this.drawAxes(g, style.color);
		this.drawSelection(g, style.color);
	}

	// The map itself, which no selection changes.
	drawCells(dpr, tint) {
		const picture = document.createElement("canvas"), g = picture.getContext("2d");
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
				g.fillStyle = tint(0.12 + 0.88 * Math.log(1 + n) / Math.log(1 + this.most));
				g.fillRect(HEAT.left + x * this.w, HEAT.height - (y + 1) * this.h, Math.max(this.w - 0.5, 1), Math.max(this.h - 0.5, 1));
			}
		return picture;
	}

	drawAxes(g, color) {
		g.fillStyle = "#d0402f";
		for (const i of missing())
			g.fillRect(HEAT.left + data.loss.t[i] / this.step * this.w, HEAT.height + 1, Math.max(data.loss.ns[i] / this.step * this.w, 2), 3);
		g.fillStyle = color;
		g.font = "11px Verdana, DejaVu Sans, sans-serif";
		g.textAlign = "right";
		g.textBaseline = "middle";
		if (!this.most) {
			g.textAlign = "center";
			g.fillText("no " + maps[this.map].what + (label ? " with " + view.label : ""), HEAT.left + (this.width - HEAT.left) / 2, HEAT.height / 2);
			g.textAlign = "right";
		}
		const marks = !this.most ? [] : this.isOffset ? [0, 0.5, 1].map((s) => [s, timeText(s * this.step)]) :
			[0, 0.25, 0.5, 0.75, 1].map((s) => [s, timeText(this.lengthAt(s * HEAT.rows))]);
		for (const [share, text] of marks)
			g.fillText(text, HEAT.left - 5, Math.min(Math.max(HEAT.height * (1 - share), 6), HEAT.height - 6));
		const step = niceStep(head.span_ns * 90 / (this.width - HEAT.left));
		g.textAlign = "left";
		g.textBaseline = "top";
		for (let t = 0; t < head.span_ns; t += step) {
			const x = HEAT.left + t / this.step * this.w + 2, text = tickText(t, step);
			if (x + g.measureText(text).width < this.width)
				g.fillText(text, x, HEAT.height + 5);
		}
		for (let t = 0; t < head.span_ns; t += step)
			g.fillRect(HEAT.left + t / this.step * this.w, HEAT.height, 1, 5);
	}

	drawSelection(g, color) {
		const s = this.pending || view.stretch, band = this.pending ? this.pending.band : view.band;
		g.strokeStyle = color;
		g.lineWidth = 1.5;
		if (document.activeElement === this.canvas)
			g.strokeRect(HEAT.left + this.cursor.x * this.w, HEAT.height - (this.cursor.y + 1) * this.h, this.w, this.h);
		if (!s)
			return;
		g.fillStyle = "rgba(59,111,209,0.28)";
		g.strokeStyle = "#3b6fd1";
		if (this.isOffset) {
			for (let c = Math.floor(s.from / this.step); c < this.columns && c * this.step < s.to; c++) {
				const a = Math.max(s.from / this.step - c, 0), b = Math.min(s.to / this.step - c, 1);
				g.fillRect(HEAT.left + c * this.w, HEAT.height * (1 - b), this.w, HEAT.height * (b - a));
				g.strokeRect(HEAT.left + c * this.w, HEAT.height * (1 - b), this.w, HEAT.height * (b - a));
			}
			return;
		}
		const x = HEAT.left + s.from / this.step * this.w, x1 = HEAT.left + s.to / this.step * this.w;
		const y = (ns) => HEAT.height * (1 - (Math.log2(Math.max(ns, 1)) - this.low) / (this.high - this.low));
		const top = band ? Math.max(y(band.high), 0) : 0, end = band ? Math.min(y(band.low), HEAT.height) : HEAT.height;
		g.fillRect(x, top, Math.max(x1 - x, 1), end - top);
		g.strokeRect(x, top, Math.max(x1 - x, 1), end - top);
	}

	// --- selecting

	at(event) {
		const r = this.canvas.getBoundingClientRect();
		const x = Math.floor((event.clientX - r.left - HEAT.left) / this.w);
		const y = Math.floor((HEAT.height - (event.clientY - r.top)) / this.h);
		return {x: Math.min(Math.max(x, 0), this.columns - 1), y: Math.min(Math.max(y, 0), HEAT.rows - 1)};
	}

	// The stretch between two cells, both included, and of lengths the band, where the cells lie
	// in rows far enough apart, and not over all.
	between(a, b) {
		const cut = (t) => Math.min(Math.max(Math.round(t), 0), head.span_ns);
		if (this.isOffset) {
			const unit = this.step / HEAT.rows, ta = a.x * this.step + a.y * unit, tb = b.x * this.step + b.y * unit;
			return {from: cut(Math.min(ta, tb)), to: cut(Math.max(ta, tb) + unit), band: null};
		}
		const low = Math.min(a.y, b.y), high = Math.max(a.y, b.y) + 1, isBand = high - low > 2 && high - low < HEAT.rows - 2;
		return {from: cut(Math.min(a.x, b.x) * this.step), to: cut((Math.max(a.x, b.x) + 1) * this.step),
			band: isBand && this.map === "off" ? {low: Math.floor(this.lengthAt(low)), high: Math.ceil(this.lengthAt(high))} : null};
	}

	describe(cell) {
		const n = this.counts[cell.x * HEAT.rows + cell.y], t = cell.x * this.step;
		const count = countText(n) + (this.isOffset ? n === 1 ? " sample" : " samples" : " of them");
		return this.isOffset ? timeText(t + cell.y * this.step / HEAT.rows) + " from the start: " + count :
			timeText(this.lengthAt(cell.y)) + " to " + timeText(this.lengthAt(cell.y + 1)) + " long, " + timeText(t) + " from the start: " + count;
	}

	down(event) {
		this.canvas.setPointerCapture(event.pointerId);
		this.from = this.at(event);
	}

	move(event) {
		const cell = this.at(event);
		if (!this.from) {
			this.says(this.describe(cell));
			return;
		}
		this.pending = this.between(this.from, cell);
		this.says(stretchText(this.pending));
		this.draw();
	}

	up(event) {
		const cell = this.at(event), s = this.between(this.from, cell);
		const isClick = cell.x === this.from.x && cell.y === this.from.y;
		this.from = this.pending = null;
		if (isClick && view.stretch && !this.isOffset)
			choose(null, null);
		else
			choose({from: s.from, to: s.to}, s.band);
	}

	// Arrows move a cell; with Shift they select from where they began.
	key(event) {
		const by = {ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1]}[event.key];
		if (event.key === "Escape")
			choose(null, null);
		if (event.key === "Enter") {
			const s = this.between(this.anchor || this.cursor, this.cursor);
			this.anchor = this.pending = null;
			choose({from: s.from, to: s.to}, s.band);
		}
		if (!by)
			return;
		event.preventDefault();
		this.anchor = event.shiftKey ? this.anchor || {...this.cursor} : null;
		this.cursor.x = Math.min(Math.max(this.cursor.x + by[0], 0), this.columns - 1);
		this.cursor.y = Math.min(Math.max(this.cursor.y + by[1], 0), HEAT.rows - 1);
		this.pending = this.anchor ? this.between(this.anchor, this.cursor) : null;
		this.says(this.pending ? stretchText(this.pending) : this.describe(this.cursor));
		this.draw();
	}
}
