// flame_draw.js - from a view (one tree, or two around a function) to boxes and SVG elements,
// and the texts about a node.

const SLIVER = 2; // px; narrower boxes of one colour share a path
const THIN_COLOR = "#b9b7b1"; // of thin rows, as in flame_svg.c

// --- texts ---------------------------------------------------------------------------------

function shortNumber(x) {
	const a = Math.abs(x);
	return x.toFixed(a >= 99.95 ? 0 : a >= 9.995 ? 1 : 2);
}

function bytesText(x) {
	const unit = ["bytes", "KiB", "MiB", "GiB", "TiB"];
	let i = 0;
	for (; Math.abs(x) >= 1023.5 && i < 4; i++)
		x /= 1024;
	return (i ? shortNumber(x) : x.toFixed(0)) + " " + unit[i];
}

function grouped(digits) {
	return digits.replace(/\B(?=(\d{3})+$)/g, ",");
}

function weightText(ticks) {
	const x = ticks / conf.scale * conf.factor;
	if (conf.unitNs)
		return timeText(x * conf.unitNs);
	if (conf.countname === "bytes")
		return bytesText(x);
	const digits = x.toFixed(0), isOne = Math.abs(digits) === 1 && conf.countname === "samples";
	return grouped(digits) + " " + (isOne ? "sample" : conf.countname);
}

function percent(part, whole) {
	const p = whole > 0 ? 100 * part / whole : 0;
	return p >= 99.995 && part >= whole ? "100%" : p.toFixed(2) + "%";
}

// --- differences and colours (palette.c has the same formulas) -------------------------------

function mix(a, b, t) {
	let out = "#";
	for (const shift of [16, 8, 0]) {
		const x = a >> shift & 255, y = b >> shift & 255;
		out += Math.floor(x + (y - x) * t + 0.5).toString(16).padStart(2, "0");
	}
	return out;
}

const STEPS = 48;
const deltas = new Map(), heats = new Map(), ipcs = new Map(), belows = new Map();

function cached(map, key, make) {
	let c = map.get(key);
	if (c === undefined)
		map.set(key, c = make());
	return c;
}

function deltaColor(share) {
	const n = Math.floor(Math.pow(Math.min(Math.abs(share), 1), 0.6) * STEPS + 0.5);
	return cached(deltas, share < 0 ? -n : n, () =>
		mix(0xdddbd7, share < 0 ? 0x5b9be6 : 0xf0604d, n / STEPS));
}

function heatColor(color, share) {
	const n = Math.floor(Math.min(share, 1) * 12 + 0.5), t = n / 12;
	return cached(heats, color + n, () => {
		const hot = parseInt(color.slice(1), 16);
		const cold = parseInt(mix(0x7298d8, 0xa3c4f0, (hot >> 8 & 3) / 3).slice(1), 16);
		return t < 0.5 ? mix(hot, 0xe3d9cf, t * 2) : mix(0xe3d9cf, cold, t * 2 - 1);
	});
}

function ipcColor(ipc) {
	if (!(ipc > 0))
		return "#c8c8c8";
	const n = Math.min(Math.max(Math.floor(Math.log2(ipc) * 4 + 0.5), -8), 8);
	return cached(ipcs, n, () => n < 0 ? mix(0xf3e6a2, 0xe4553a, -n / 8) : mix(0xf3e6a2, 0x2f6fe6, n / 8));
}

// Instructions per cycle; 0: not known.
function ipcOf(tree, i) {
	return tree.total1 && tree.total[i] ? tree.total1[i] / tree.total[i] : 0;
}

// [before, after] of a node, scaled to be comparable, in ticks.
function bothWeights(tree, i) {
	const before = tree.total1 ? tree.total1[i] * conf.beforeScale : 0;
	if (tree.gone >= 0 && i >= tree.gone && i < tree.end[tree.gone])
		return [before, 0];
	if (i === 0 && tree.gone >= 0)
		return [conf.before * conf.beforeScale, tree.total[0] - tree.total[tree.gone]];
	return [before, tree.total[i]];
}

// What each run has in a node, those before first; in trees that were merged anew, in the function itself.
function runsOf(tree, i) {
	const n = conf.runsBefore + conf.runsAfter, at = (tree.runs ? i : tree.frame[i]) * n;
	return Array.from((tree.runs || frames.runs).subarray(at, at + n));
}

function median(values) {
	const v = values.sort((a, b) => a - b), n = v.length;
	return (v[n - 1 >> 1] + v[n >> 1]) / 2;
}

// Does chance explain the change? As in runs.c: the order of the runs, and the difference of their medians.
function isChance(runs) {
	let less = 0, more = 0;
	const before = runs.slice(0, conf.runsBefore), after = runs.slice(conf.runsBefore);
	for (const a of after)
		for (const b of before) {
			less += a <= b;
			more += a >= b;
		}
	const change = median(after) - median(before);
	return !change || (change > 0 ? less : more) > conf.pairs || Math.abs(change) < conf.least;
}

// By node: the frame of the wait that at least half of it ends in, else 0; where stacks begin
// with the wait (from the leaf), their caller's. As find_causes in flame_svg.c.
function causesOf(tree) {
	const cause = new Int32Array(tree.n), most = new Float64Array(tree.n), sum = new Float64Array(tree.n);
	for (let frame = 1; frame < frames.n; frame++) {
		if (frames.kind[frame] !== KIND.wait)
			continue;
		sum.fill(0);
		for (let i = tree.n - 1; i > 0; i--) {
			if (tree.frame[i] === frame)
				sum[i] = tree.total[i];
			sum[tree.parent[i]] += sum[i];
		}
		for (let i = 0; i < tree.n; i++)
			if (sum[i] > most[i]) {
				most[i] = sum[i];
				cause[i] = frame;
			}
	}
	for (let i = 0; i < tree.n; i++)
		if (!cause[i])
			cause[i] = tree.parent[i] ? cause[tree.parent[i]] : 0;
		else if (most[i] < tree.total[i] / 2)
			cause[i] = 0;
	return cause;
}

function belowCause(color, own) {
	return cached(belows, color + (parseInt(own.slice(3, 5), 16) & 3), () => mix(parseInt(color.slice(1), 16),
		0xffffff, 0.15 + (parseInt(own.slice(3, 5), 16) & 3) * 0.12));
}

function colorOf(tree, i) {
	const kind = frames.kind[tree.frame[i]];
	if (conf.mode === "diff") {
		const [before, after] = bothWeights(tree, i);
		const share = conf.maxDelta > 0 ? (after - before) / conf.maxDelta : 0;
		if (conf.runsAfter && isChance(runsOf(tree, i)))
			return deltaColor(0);
		return deltaColor(conf.negate ? -share : share);
	}
	if (conf.mode === "ipc")
		return kind === KIND.mark ? frames.color[tree.frame[i]] : ipcColor(ipcOf(tree, i));
	if (conf.mode === "wall" && kind !== KIND.wait && kind !== KIND.mark)
		return heatColor(frames.color[tree.frame[i]],
			tree.total1 && tree.total[i] ? tree.total1[i] / tree.total[i] : 0);
	const own = frames.color[tree.frame[i]];
	if ((conf.palette === "cause" || conf.palette === "label") && conf.mode === "plain" && kind !== KIND.wait && kind !== KIND.mark) {
		tree.cause = tree.cause || causesOf(tree);
		return tree.cause[i] ? belowCause(frames.color[tree.cause[i]], own) : own;
	}
	return own;
}

// The tree that is zoomed.
function view0() {
	return view.trees[state.tree];
}

// The text about a node as lines; first the name in `room` characters.
function describe(tree, i, room) {
	const frame = tree.frame[i], lines = [fitName(frame, room)];
	const whole = tree.whole, parent = tree.total[tree.parent[i]];
	if (conf.mode === "diff") {
		const [before, after] = bothWeights(tree, i), change = after - before;
		lines.push(conf.afterName + ": " + weightText(after) + " (" +
			percent(after, conf.after) + ")");
		lines.push(conf.beforeName + ": " + weightText(before) + " (" +
			percent(before, conf.before * conf.beforeScale) + ")" +
			(conf.beforeScale !== 1 && !conf.runsAfter ? ", scaled from " + weightText(before / conf.beforeScale) : ""));
		lines.push("change: " + (change < 0 ? "\u2212" : "+") + weightText(Math.abs(change)) +
			(before ? " (" + (change < 0 ? "\u2212" : "+") +
				Math.abs(100 * change / before).toFixed(1) + "%)" : " (new)"));
		if (conf.runsAfter) {
			const runs = runsOf(tree, i), text = runs.map((v) => weightText(v * conf.runsAfter));
			lines.push((isChance(runs) ? "chance may explain it" : "chance does not explain it") +
				(tree.runs ? "" : ", of the function itself"));
			lines.push("runs before: " + text.slice(0, conf.runsBefore).join(", "));
			lines.push("runs after: " + text.slice(conf.runsBefore).join(", "));
		}
	} else {
		const view = state.zoom && view0() === tree ? tree.total[state.zoom] : 0;
		let line = weightText(tree.total[i]) + " \u00b7 " + percent(tree.total[i], whole) + " of all";
		if (view && tree.total[i] <= view)
			line += " \u00b7 " + percent(tree.total[i], view) + " of the view";
		if (i)
			line += " \u00b7 " + percent(tree.total[i], parent) + " of " +
				(tree.upward ? "the callee" : "the parent");
		lines.push(line);
		if (!tree.upward && tree.self[i] !== tree.total[i])
			lines.push("itself: " + weightText(tree.self[i]) + " \u00b7 " + percent(tree.self[i], whole) +
				" of all");
		if (conf.mode === "ipc")
			lines.push(ipcOf(tree, i) ? ipcOf(tree, i).toFixed(2) + " instructions per cycle \u00b7 " +
				grouped(tree.total1[i].toFixed(0)) + " instructions" : "no counter of instructions");
		if (conf.mode === "wall" && tree.total1 && tree.total[i])
			lines.push("waiting: " + weightText(tree.total1[i]) + " (" +
				percent(tree.total1[i], tree.total[i]) + ")");
	}
	const kinds = {1: "kernel", 2: "JIT", 3: "inlined", 4: "waker"};
	const where = [frames.dso[frame], frames.src[frame], kinds[frames.kind[frame]]];
	if (where.some((s) => s))
		lines.push(where.filter((s) => s).join(" \u00b7 "));
	return lines;
}

// --- boxes ---------------------------------------------------------------------------------

// Heights are thirds of a row. A run of plumbing (frames.thin) from a caller to its callees is one thin
// row, that of its outermost node, unless they are shown: flame_layout.c.
const ROW = 3, THIN = 1, OUTER = 1, INNER = 2;

// By node: where its row begins, and whether it is the outermost of a thin run or inside one.
function rowsOf(tree, isOpen) {
	if (tree.row && tree.isOpen === isOpen)
		return;
	const row = tree.row = new Int32Array(tree.n), thin = tree.thin = new Uint8Array(tree.n);
	tree.isOpen = isOpen;
	for (let i = 1; i < tree.n; i++) {
		const up = tree.parent[i];
		thin[i] = isOpen || !frames.thin[tree.frame[i]] ? 0 : thin[up] ? INNER : OUTER;
		row[i] = thin[i] === INNER ? row[up] : row[up] + (thin[up] ? THIN : ROW);
	}
}

// Calls take(node) for each node of a thin run; stops when it says so.
function inRun(tree, top, take) {
	for (let i = top; i < tree.end[top];) {
		if (!tree.thin[i]) {
			i = tree.end[i];
			continue;
		}
		if (take(i))
			return true;
		i++;
	}
	return false;
}

// Call emit(node, x, w) for `top` and all below it that is wide enough, spread over the width. Returns the
// weight of the stacks that lack a frame because it is too narrow.
function place(tree, top, emit) {
	const room = conf.width - 2 * conf.pad;
	const scale = room / (top ? tree.total[top] : tree.whole), base = tree.x[top];
	let pruned = 0;
	for (let i = top, end = tree.end[top]; i < end;) {
		const w = tree.total[i] * scale, gap = frames.kind[tree.frame[i]] === KIND.gap;
		if (w < conf.minWidth || !w || gap) {
			pruned += gap ? 0 : tree.total[i];
			i = tree.end[i];
			continue;
		}
		emit(i, conf.pad + (tree.x[i] - base) * scale, w);
		i++;
	}
	return pruned;
}

// Lanes: every first-level frame has the whole time in view; its stacks are below it.
function laneBoxes(tree, zoom) {
	const boxes = [], isPart = zoom > 0 && tree.parent[zoom] > 0;
	const from = isPart ? tree.x[zoom] : 0, length = isPart ? tree.total[zoom] : conf.span;
	const scale = (conf.width - 2 * conf.pad) / length;
	let base = 0, high = -2 * ROW;
	for (let i = 1; i < tree.n;) {
		const lane = !tree.parent[i];
		if (lane)
			base = high + 2 * ROW;
		const x0 = lane ? from : Math.max(tree.x[i], from);
		const x1 = lane ? from + length : Math.min(tree.x[i] + tree.total[i], from + length);
		const w = (x1 - x0) * scale, kind = frames.kind[tree.frame[i]];
		if (w < conf.minWidth || !w || kind === KIND.gap || kind === KIND.away) {
			i = tree.end[i];
			continue;
		}
		const row = base + ROW * (tree.depth[i] - 1);
		high = Math.max(high, row);
		boxes.push({tree, t: 0, node: i, row, h: ROW, x: conf.pad + (x0 - from) * scale, w, above: false});
		i++;
	}
	drawAxis(from, length, scale);
	return {boxes, pruned: 0};
}

function drawAxis(from, length, scale) {
	const least = length * 100 / (conf.width - 2 * conf.pad);
	let step = 1;
	for (let k = 0; step < least; k++)
		step *= k % 3 === 1 ? 2.5 : 2;
	ui.axis.textContent = "";
	for (let t = Math.ceil(from / step) * step; t < from + length - least / 2; t += step)
		make("text", {class: "dim", x: conf.pad + (t - from) * scale, y: conf.top - 5}, ui.axis).textContent = tickText(t, step);
}

// All boxes of a view: {tree, node, row, h, x, w, above}, rows counted from the base line, in thirds; those
// of the callers' tree are negative. `above` marks the callers of a zoomed node. And the weight that was too narrow in the
// first tree.
function boxesOf(view, zoom) {
	if (conf.span)
		return laneBoxes(view.trees[0], zoom.node);
	const boxes = [];
	let pruned = 0;
	view.trees.forEach((tree, t) => {
		const top = zoom.tree === t ? zoom.node : 0, ups = [];
		rowsOf(tree, state.plumbing);
		const put = (i, x, w, above) => {
			const h = tree.thin[i] ? THIN : ROW;
			if ((!t || i) && tree.thin[i] !== INNER)
				boxes.push({tree, t, node: i, row: t ? ROW - tree.row[i] - h : tree.row[i], h, x, w, above});
		};
		for (let i = top; i; i = tree.parent[i])
			ups.push(tree.parent[i]);
		for (const i of ups.reverse())
			put(i, conf.pad, conf.width - 2 * conf.pad, true);
		const narrow = place(tree, top, (i, x, w) => put(i, x, w, false));
		pruned += t ? 0 : narrow;
	});
	return {boxes, pruned};
}

class Painter {
	constructor(group) {
		group.textContent = "";
		this.paths = new Pool("path", make("g", {}, group));
		this.rects = new Pool("rect", make("g", {}, group));
		this.texts = new Pool("text", make("g", {}, group));
	}

	// Draw boxes (with y set); `hit(box)` says which ones the search matches, if one does;
	// the others are dim.
	draw(boxes, hit, isSearch) {
		this.rects.parent.classList.toggle("searched", isSearch);
		this.texts.parent.classList.toggle("searched", isSearch);
		const slivers = new Map();
		this.last = new Map();
		for (const pool of [this.paths, this.rects, this.texts])
			pool.start();
		for (const b of boxes) {
			const isHit = hit(b), isThin = b.h < ROW, h = conf.frameHeight * b.h / ROW - 1;
			const color = isHit ? "#e600e6" : isThin ? THIN_COLOR : colorOf(b.tree, b.node);
			if (isThin) {
				if (isHit || b.w >= SLIVER)
					this.rect(b, color, h, isHit);
				continue;
			}
			if (b.w < SLIVER) {
				this.sliver(b, color, h, slivers);
				continue;
			}
			this.rect(b, color, h, isHit);
			this.label(b, isHit);
		}
		for (const [color, parts] of slivers) {
			const p = this.paths.take();
			p.setAttribute("d", parts.join(""));
			p.setAttribute("stroke", color);
			p.setAttribute("stroke-width", conf.frameHeight - 1);
		}
		for (const pool of [this.paths, this.rects, this.texts])
			pool.finish();
	}

	// A thick stroke; of those that start within half a pixel of each other one is drawn.
	sliver(b, color, h, slivers) {
		const last = this.last.get(b.row);
		if (last !== undefined && b.x < last + 0.5 && color !== "#e600e6")
			return;
		this.last.set(b.row, b.x);
		if (!slivers.has(color))
			slivers.set(color, []);
		slivers.get(color).push("M", Math.round(b.x * 100) / 100, " ", b.y + h / 2, "h",
			Math.max(0.5, Math.round(b.w * 100) / 100));
	}

	rect(b, color, h, isHit) {
		this.rects.put({x: Math.round(b.x * 100) / 100, y: b.y, width: Math.max(0.5, Math.round(b.w * 100) / 100), height: Math.round(h * 100) / 100,
			rx: b.w >= 4 && b.h === ROW ? 2 : 0, fill: color, class: (b.above ? "caller" : "") + (isHit ? " found" : "")});
	}

	label(b, isHit) {
		const room = Math.floor((b.w - 4) / (conf.fontSize * conf.fontWidth));
		if (room < 3)
			return;
		const frame = b.tree.frame[b.node], text = fitName(frame, room - (frames.label[frame].length > room ? 1 : 0));
		const t = this.texts.put({x: (b.x + 3).toFixed(2), y: (b.y + conf.frameHeight / 2 + conf.fontSize * 0.3).toFixed(2),
			class: (b.above ? "caller" : "") + (isHit ? " found" : "")});
		if (t.textContent !== text)
			t.textContent = text;
	}
}
