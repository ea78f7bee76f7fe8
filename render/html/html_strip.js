// html_strip.js - the strip above the timeline: the whole recording with the stretch that all views
// show. A drag selects another, one inside of the window moves it, at its edges it grows.

const STRIP = {height: 30, edge: 7, drag: 3};

class Strip {
	constructor(canvas) {
		this.canvas = canvas;
		this.grip = null;
		this.tids = new Set();
		this.columns = null;
		this.of = null;
		canvas.addEventListener("pointerdown", (e) => this.down(e));
		canvas.addEventListener("pointermove", (e) => this.move(e));
		canvas.addEventListener("pointerup", () => this.up());
		canvas.addEventListener("pointercancel", () => { this.grip = this.pending = null; this.draw(); });
		canvas.addEventListener("dblclick", () => choose(null, null));
	}

	// How many of the timeline's threads, and of those chosen, ran, by column.
	count() {
		const of = [view.who, view.label, this.width].join("\n"), r = data.run, s = data.sample, chosen = chosenThreads();
		if (this.of === of)
			return;
		this.of = of;
		const own = Array.from(data.thread.tid, (tid) => this.tids.has(tid - 1)), isOf = (thread, comm) => own[thread] && (!chosen || chosen(thread, comm));
		const sums = this.columns = new Float64Array(Math.max(this.width, 1)), scale = this.width / (head.span_ns || 1);
		const put = (from, to) => {
			for (let x = from * scale, end = Math.min(to * scale, this.width); x < end; x = Math.floor(x) + 1)
				sums[Math.floor(x)] += Math.min(end, Math.floor(x) + 1) - x;
		};
		for (let i = 0; i < r.n; i++)
			if (isOf(r.thread[i], r.comm[i]))
				put(Math.max(r.start[i], 0), r.end[i]);
		for (let i = 0; !r.n && i < s.t.length; i++)
			if (isOf(s.thread[i] - 1, data.row.comm[s.row[i]]))
				sums[Math.min(Math.floor(s.t[i] * scale), this.width - 1)]++;
	}

	// Between the edges of the timeline's plot; tids: of its rows.
	place(left, right, tids) {
		this.tids = tids;
		const c = this.canvas, room = c.parentNode.clientWidth;
		c.style.marginLeft = left + "px";
		c.style.width = "calc(100% - " + (left + right) + "px)";
		this.width = Math.max(Math.floor(room - left - right), 20);
		this.draw();
	}

	draw() {
		const c = this.canvas, dpr = window.devicePixelRatio || 1, g = c.getContext("2d"), {width} = this, {height} = STRIP;
		if (!width)
			return;
		this.count();
		c.width = Math.round(width * dpr);
		c.height = Math.round(height * dpr);
		c.style.height = height + "px";
		g.setTransform(dpr, 0, 0, dpr, 0, 0);
		const most = this.columns.reduce((a, b) => Math.max(a, b), 0) || 1;
		g.fillStyle = getComputedStyle(c).color;
		g.globalAlpha = 0.35;
		this.columns.forEach((n, x) => {
			const h = n / most * (height - 4);
			g.fillRect(x, height - h, 1, h);
		});
		g.fillRect(0, height - 1, width, 1);
		g.globalAlpha = 1;
		this.drawWindow(g, this.pending || view.stretch);
		const {from, to} = this.pending || stretch();
		c.setAttribute("aria-label", "whole recording, with " + timeText(to - from) + " from " + sinceText(from) + " shown");
	}

	drawWindow(g, s) {
		if (!s)
			return;
		const [x0, x1] = this.edges(s), {height} = STRIP;
		g.fillStyle = "rgba(120,124,132,0.45)";
		g.fillRect(0, 0, x0, height);
		g.fillRect(x1, 0, this.width - x1, height);
		g.strokeStyle = "#3b6fd1";
		g.lineWidth = 2;
		g.strokeRect(x0 + 1, 1, Math.max(x1 - x0 - 2, 1), height - 2);
	}

	edges({from, to}) {
		const scale = this.width / (head.span_ns || 1);
		return [from * scale, Math.max(to * scale, from * scale + 2)];
	}

	timeAt(x) {
		return Math.min(Math.max(x / this.width, 0), 1) * head.span_ns;
	}

	// What a point is of: "from" and "to" are the edges, "all" the window; "": beside it.
	part(x) {
		if (!view.stretch)
			return "";
		const [x0, x1] = this.edges(view.stretch), near = (at) => Math.abs(x - at) < STRIP.edge;
		return near(x0) ? "from" : near(x1) ? "to" : x > x0 && x < x1 ? "all" : "";
	}

	xOf(event) {
		return event.clientX - this.canvas.getBoundingClientRect().left;
	}

	down(event) {
		if (event.button !== 0)
			return;
		const x = this.xOf(event);
		this.canvas.setPointerCapture(event.pointerId);
		this.grip = {x, part: this.part(x), was: {...stretch()}};
		this.pending = null;
	}

	move(event) {
		const x = this.xOf(event), {grip} = this, shape = {from: "ew-resize", to: "ew-resize", all: "grab", "": "crosshair"};
		if (!grip) {
			this.canvas.style.cursor = shape[this.part(x)];
			return;
		}
		if (!this.pending && Math.abs(x - grip.x) < STRIP.drag)
			return;
		const {was} = grip, t = this.timeAt(x), by = t - this.timeAt(grip.x), cut = (a) => Math.round(Math.min(Math.max(a, 0), head.span_ns));
		const moved = Math.min(Math.max(by, -was.from), head.span_ns - was.to);
		const ends = grip.part === "all" ? [was.from + moved, was.to + moved] : [grip.part === "from" ? was.to : grip.part === "to" ? was.from : this.timeAt(grip.x), t];
		this.pending = {from: cut(Math.min(...ends)), to: Math.max(cut(Math.max(...ends)), cut(Math.min(...ends)) + 1)};
		this.draw();
	}

	up() {
		const {pending, grip} = this;
		this.pending = this.grip = null;
		if (pending)
			choose(pending, null);
		else if (grip && !grip.part && view.stretch)
			choose(null, null); // a click beside shows all
	}
}
