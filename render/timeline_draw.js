// timeline_draw.js - from a panel's view to cells (as timelinelayout.c makes them) and paths,
// and the texts about an interval.

const plotX = conf.pad + conf.names, plotW = conf.width - conf.names - 2 * conf.pad;
const LEAST_PX = 0.5;

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
		const span = this.end - this.start, mixed = this.used.length > 1 || this.gap;
		let low = 0;
		this.used.sort((a, b) => a - b);
		for (const paint of this.used) {
			const part = this.share[paint] / span;
			if (paint !== conf.idle || !mixed)
				this.out(this.start, span, paint, mixed ? low : 0,
					mixed ? Math.min(low + part, 1) : 1, this.pieces === 1 ? this.seg : -1, mixed);
			low += part;
			this.share[paint] = 0;
		}
		this.used.length = 0;
		this.start = -1;
		this.pieces = 0;
		this.gap = false;
	}

	add(x0, x1, paint, seg) {
		if (x1 - x0 >= conf.wide) {
			this.endColumn();
			if (paint !== GAP)
				this.out(x0, x1 - x0, paint, 0, 1, seg, false);
			return;
		}
		for (let x = x0; x < x1;) {
			const column = Math.floor(x), end = Math.min(x1, column + 1);
			if (this.start < 0 || column !== this.column) {
				this.endColumn();
				this.start = x;
				this.column = column;
			}
			if (paint === GAP) {
				this.gap = true;
			} else {
				if (!this.share[paint])
					this.used.push(paint);
				this.share[paint] += end - x;
			}
			this.seg = seg;
			this.pieces++;
			this.end = end;
			x = end;
		}
	}
}

function eachCell(row, view, emit) {
	const segs = row.segs, folder = new Folder(emit);
	const scale = plotW / (view.to - view.from);
	for (let i = segs.after(view.from); i < segs.n && segs.start[i] < view.to; i++)
		folder.add((Math.max(segs.start[i], view.from) - view.from) * scale,
			(Math.min(segs.start[i + 1], view.to) - view.from) * scale, segs.paint[i], i);
	folder.endColumn();
}

// Height and top of a cell.
function cellBox(row, paint, low, high, mixed) {
	const cpu = row.kind === ROW.cpu, bar = cpu ? conf.cpuH - 4 : conf.barH;
	const bottom = row.y + (cpu ? 2 : conf.barY) + bar;
	const whole = mixed || cpu || paint < PAINT.blocked ? bar : paint === conf.idle ? conf.idleH : conf.blockedH;
	return [bottom - whole * high, whole * (high - low)];
}

// --- texts ---------------------------------------------------------------------------------

function tickText(t, step) {
	const units = [[1e9, "s"], [1e6, "ms"], [1e3, "\u00b5s"], [1, "ns"]];
	const [ns, name] = units.find(([u]) => step >= u / 10) || units[3];
	const text = (Math.abs(t) / ns).toFixed(step < ns ? 1 : 0).replace(/\B(?=(\d{3})+(?!\d))/g, ",");
	return (t < 0 ? "\u2212" : "") + text + " " + name;
}

// A time with the digits that the view needs.
function pointText(t, view) {
	const step = Math.pow(10, Math.floor(Math.log10(Math.max(1, (view.to - view.from) / 100))));
	const unit = Math.abs(t) >= 1e9 ? [1e9, "s"] : Math.abs(t) >= 1e6 ? [1e6, "ms"] :
		Math.abs(t) >= 1e3 ? [1e3, "\u00b5s"] : [1, "ns"];
	const digits = Math.max(0, Math.min(9, Math.round(Math.log10(unit[0] / step))));
	return (t < 0 ? "\u2212" : "+") + (Math.abs(t) / unit[0]).toFixed(digits) + " " + unit[1];
}

function threadText(t) {
	return t.comm + " " + t.tid;
}

function stackLines(title, path, most) {
	const names = stackOf(path), lines = [];
	names.slice(0, most).forEach((name, i) => lines.push((i ? "      " : title) + name));
	if (names.length > most)
		lines.push("      \u2026 " + (names.length - most) + " callers more");
	return lines;
}

// Where a running thread ran: the CPU of the interval before, or after.
function runCpu(row, ref) {
	const i = -1 - ref, n = row.offStart.length;
	return (i > 0 ? row.offs[(i - 1) * F.size + F.cpuIn] : n ? row.offs[F.cpuOut] : 0) - 1;
}

function offLines(row, i, paint, length) {
	const o = row.offs.subarray(i * F.size, (i + 1) * F.size);
	const cause = conf.paints[PAINT.blocked + (o[F.bits] & 31)].name, flags = o[F.bits] >> 5 & 31;
	const state = tables.strings[o[F.state]], lines = [];
	const what = paint === PAINT.unknown ? "unknown (" + conf.reasons[o[F.bits] >> 10] + ")" :
		paint < PAINT.blocked ? conf.paints[paint].name : cause === "blocked" ? "blocked" :
			"blocked: " + cause + (paint === conf.idle ? ", idle" : "");
	lines.push(threadText(row.thread) + " \u00b7 " + what + " \u00b7 " + timeText(length));
	if (o[F.blocked] && o[F.rest])
		lines.push("off CPU " + timeText(o[F.blocked] + o[F.rest]) + ": " +
			timeText(o[F.blocked]) + " blocked, then " + timeText(o[F.rest]) + " runnable");
	const cpus = [o[F.cpuOut] ? "left CPU " + (o[F.cpuOut] - 1) : "", o[F.cpuIn] ?
		"came back on CPU " + (o[F.cpuIn] - 1) : "", state ? "state " + state : ""].filter((s) => s);
	if (cpus.length)
		lines.push(cpus.join(" \u00b7 "));
	if (flags & OFF.open)
		lines.push("cut by the edge of the recording");
	if (flags & OFF.suspect)
		lines.push("records were lost here");
	lines.push(...stackLines("at    ", o[F.path], 12));
	if (!o[F.path])
		lines.push("no stack was recorded");
	if (o[F.context]) {
		const who = o[F.waker] ? threadText(tables.threads[o[F.waker] - 1]) : "an interrupt";
		lines.push("woken by " + who + " (" + conf.contexts[o[F.context]] + ")");
		lines.push(...stackLines("from  ", o[F.wakerPath], 6));
	}
	return lines;
}

function segmentLines(row, seg) {
	const segs = row.segs, paint = segs.paint[seg], ref = segs.ref[seg];
	const length = segs.start[seg + 1] - segs.start[seg];
	if (row.kind === ROW.cpu)
		return ref < 0 ? [] : ["CPU " + row.cpu + " \u00b7 " + threadText(tables.threads[ref]) +
			" \u00b7 " + timeText(length)];
	if (paint !== PAINT.run)
		return offLines(row, ref, paint, length);
	const cpu = runCpu(row, ref);
	return [threadText(row.thread) + " \u00b7 running \u00b7 " + timeText(length) +
		(cpu >= 0 ? " \u00b7 CPU " + cpu : "")];
}

// What lies in one pixel column, by share.
function columnLines(row, from, to) {
	const sums = new Map(), segs = row.segs;
	let pieces = 0;
	for (let i = segs.after(from); i < segs.n && segs.start[i] < to; i++) {
		const part = Math.min(segs.start[i + 1], to) - Math.max(segs.start[i], from);
		const name = row.kind !== ROW.cpu ? conf.paints[segs.paint[i]].name :
			segs.ref[i] < 0 ? "idle" : tables.threads[segs.ref[i]].comm;
		sums.set(name, (sums.get(name) || 0) + part);
		pieces++;
	}
	const lines = [(row.kind === ROW.cpu ? "CPU " + row.cpu : threadText(row.thread)) + " \u00b7 " +
		pieces + " intervals in " + timeText(to - from)];
	[...sums].sort((a, b) => b[1] - a[1]).slice(0, 8).forEach(([name, ns]) =>
		lines.push((100 * ns / (to - from)).toFixed(1) + "%  " + name + " \u00b7 " + timeText(ns)));
	return lines;
}

// --- drawing -------------------------------------------------------------------------------

// The elements of one panel's plot, made once.
class Plot {
	constructor(panel) {
		this.panel = panel;
		this.group = svg.querySelector("#plot" + panel.index);
		const lanes = this.group.querySelector(".lanes");
		this.group.textContent = "";
		this.ground = make("rect", {class: "ground", x: plotX, y: panel.axisY, width: plotW,
			height: panel.end - panel.axisY}, this.group);
		this.group.appendChild(lanes);
		this.grid = make("g", {class: "grid", "font-size": 10}, this.group);
		this.gridLine = make("path", {}, this.grid);
		this.ticks = new Pool("text", this.grid);
		const bars = make("g", {class: "bars"}, this.group);
		this.bars = conf.paints.map((p, i) => make("path", {
			fill: i === PAINT.unknown ? "url(#hatch)" : p.color}, bars));
		this.hits = make("path", {class: "hits"}, this.group);
		this.labels = new Pool("text", make("g", {class: "labels", "font-size": 9}, this.group));
		for (const name of ["samples", "sampleHits", "spans", "marks", "arrows", "chosen", "lost", "bands"])
			this[name] = make("path", {class: {sampleHits: "samples hit", chosen: "arrows chosen",
				bands: "lost-band"}[name] || name}, this.group);
		this.lost.setAttribute("fill", "url(#hatch-lost)");
		this.high = panel.highlights.map(() => make("rect", {class: "highlight", rx: 3}, this.group));
		this.selected = make("rect", {class: "selected", rx: 2, display: "none"}, this.group);
		this.band = make("rect", {class: "band", y: panel.rowsY - 4,
			height: panel.end - panel.rowsY + 4, display: "none"}, this.group);
		this.cursor = make("path", {class: "cursor"}, this.group);
	}

	draw(isHit) {
		const start = performance.now();
		this.drawGrid();
		this.drawBars(isHit);
		this.drawEvents(isHit);
		this.drawArrows();
		this.drawLosses();
		this.panel.highlights.forEach((h, i) => {
			const row = this.panel.rows[h.row];
			this.place(this.high[i], h.t, h.t + h.length, row.y + 1, row.h - 2);
		});
		this.ms = performance.now() - start;
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

	drawBars(isHit) {
		const paths = this.bars.map(() => []), hits = [], v = this.panel.view;
		this.labels.start();
		this.cells = 0;
		for (const row of this.panel.rows) {
			if (!row.segs)
				continue;
			eachCell(row, v, (x, w, paint, low, high, seg, mixed) => {
				const [y, h] = cellBox(row, paint, low, high, mixed);
				this.cells++;
				paths[paint].push("M", round(plotX + x), " ", round(y), "h", round(w),
					"v", round(h), "h", round(-w), "z");
				if (!mixed && w > 20 && paint !== conf.idle)
					this.label(row, x, w, paint, y + h / 2, seg);
			});
			this.rowHits(row, isHit, hits);
		}
		this.labels.finish();
		this.bars.forEach((e, i) => e.setAttribute("d", paths[i].join("")));
		this.hits.setAttribute("d", hits.join(""));
	}

	label(row, x, w, paint, mid, seg) {
		const room = Math.floor((w - 6) / conf.labelChar);
		let text;
		if (row.kind === ROW.cpu) {
			const ref = row.segs.ref[seg];
			text = ref < 0 ? "" : tables.threads[ref].comm;
			text = text.length > room ? text.slice(0, room - 2) + ".." : text;
		} else {
			const name = conf.paints[paint].name;
			const v = this.panel.view, ns = w / plotW * (v.to - v.from);
			text = name + " " + timeText(ns);
			text = text.length > room ? name : text;
		}
		if (room < 3 || text.length > room || !text)
			return;
		const t = this.labels.take();
		t.setAttribute("class", paint === PAINT.run ? "light" : "");
		t.setAttribute("x", round(plotX + x + 3));
		t.setAttribute("y", round(mid + 3.2));
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
				"v", conf.barH, "h", round(-Math.max(x1 - x0, 1)), "z");
		}
	}

	drawEvents(isHit) {
		const v = this.panel.view, plain = [], hits = [], spans = [], marks = [];
		for (const row of this.panel.rows) {
			let last = -1;
			for (const s of row.samples) {
				if (s.t < v.from || s.t >= v.to)
					continue;
				const x = xOf(v, s.t), hit = isHit && isHit(s.path);
				if (x < last + 0.5 && !hit)
					continue;
				last = x;
				(hit ? hits : plain).push("M", round(plotX + x), " ", row.y + conf.barY + conf.barH, "v3");
			}
			for (const s of row.spans) {
				if (s.t + s.length <= v.from || s.t >= v.to)
					continue;
				const x0 = Math.max(xOf(v, s.t), 0), x1 = Math.min(xOf(v, s.t + s.length), plotW);
				spans.push("M", round(plotX + x0), " ", row.y + 3, "v-1.5h",
					round(Math.max(x1 - x0, 0.5)), "v1.5");
			}
			for (const m of row.marks)
				if (m.t >= v.from && m.t < v.to)
					marks.push("M", round(plotX + xOf(v, m.t)), " ", row.y, "l2.5 2.5l-2.5 2.5l-2.5-2.5z");
		}
		this.samples.setAttribute("d", plain.join(""));
		this.sampleHits.setAttribute("d", hits.join(""));
		this.spans.setAttribute("d", spans.join(""));
		this.marks.setAttribute("d", marks.join(""));
	}

	drawArrows() {
		const v = this.panel.view, d = [];
		this.arrowsDrawn = this.arrowsSeen = 0;
		for (const a of this.panel.arrows) {
			if (a.t < v.from || a.t >= v.to)
				continue;
			this.arrowsSeen++;
			if (this.arrowsDrawn < conf.maxArrows) {
				this.arrowsDrawn++;
				d.push(this.arrow(a));
			}
		}
		this.arrows.setAttribute("d", d.join(""));
	}

	arrow(a) {
		const rows = this.panel.rows, down = rows[a.to].y > rows[a.from].y;
		return "M" + round(plotX + xOf(this.panel.view, a.t)) + " " +
			(rows[a.from].y + conf.barY + conf.barH / 2) + "V" +
			(rows[a.to].y + conf.barY + (down ? 0 : conf.barH)) +
			(down ? "m-2.5-4l2.5 4l2.5-4" : "m-2.5 4l2.5-4l2.5 4");
	}

	drawLosses() {
		const v = this.panel.view, lane = [], bands = [];
		for (const l of this.panel.losses) {
			if (l.t + l.length <= v.from || l.t >= v.to)
				continue;
			const x0 = Math.max(xOf(v, l.t), 0), x1 = Math.min(xOf(v, l.t + l.length), plotW);
			const x = round(plotX + x0), w = round(Math.max(x1 - x0, 1));
			lane.push("M", x, " ", this.panel.rowsY - conf.lostH, "h", w, "v", conf.lostH - 2, "h", -w, "z");
			bands.push("M", x, " ", this.panel.rowsY, "h", w, "V", this.panel.end, "h", -w, "z");
		}
		this.lost.setAttribute("d", lane.join(""));
		this.bands.setAttribute("d", bands.join(""));
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
