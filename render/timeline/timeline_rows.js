// timeline_rows.js - the rows shown and their places: lanes of spans, interrupts and gaps below their rows;
// rows that are pinned below the CPUs, hidden, or folded into their process's.

const LANE_H = 13, LEVELS = 4; // of spans inside of each other

// Boxes of a lane with their nesting depth.
function nest(boxes) {
	const ends = [];
	boxes.sort((a, b) => a.t - b.t || b.length - a.length);
	for (const b of boxes) {
		while (ends.length && ends[ends.length - 1] <= b.t)
			ends.pop();
		b.level = Math.min(ends.length, LEVELS - 1);
		ends.push(b.t + b.length);
	}
	return boxes.reduce((n, b) => Math.max(n, b.level + 1), 1);
}

// A row that shows boxes {t, length, name}, of gaps also {ns, isVague, parts}; it belongs to row `of`.
function makeLane(p, of, what, boxes) {
	const levels = nest(boxes);
	p.rows.push({kind: ROW.lane, of, what, boxes, h: 3 + LANE_H * levels, samples: NO_SAMPLES, spans: [], marks: []});
}

function makeLanes(p) {
	p.rows.slice().forEach((row, i) => {
		if (row.spans.length)
			makeLane(p, i, "spans", row.spans);
		if (row.kind !== ROW.cpu)
			return;
		for (const [what, all] of [["interrupts", p.irqs], ["gaps", p.gaps]]) {
			const boxes = all.filter((x) => x.cpu === row.index);
			if (boxes.length)
				makeLane(p, i, what, boxes);
		}
	});
}

// "work-" of "work-12".
function poolOf(row) {
	return row.thread.comm.replace(/[0-9]+$/, "");
}

// The threads below each heading: of its process, or its pool.
function findMembers(p) {
	let group = null;
	for (const row of p.rows) {
		if (row.kind === ROW.group) {
			group = row;
			row.members = [];
		} else if (row.kind === ROW.thread && group && (group.pool ? poolOf(row) === poolOf(group) : row.thread.pid === group.thread.pid)) {
			group.members.push(row);
		}
	}
}

// A heading of the CPUs that folds them to one row of use; its number, -1 for a single CPU, or where they
// stand below the threads that wait for them.
function makeCpus(p) {
	const members = p.rows.filter((row) => row.kind === ROW.cpu && !row.unrecorded), isFirst = p.rows.length > 0 && p.rows[0].kind === ROW.cpu;
	return members.length < 2 || !isFirst ? -1 : p.rows.push({kind: ROW.group, isCpus: true, members, samples: NO_SAMPLES, spans: [], marks: [], h: conf.groupH}) - 1;
}

// perfkit's own probes, interrupts and the bands where records are missing: drawn when asked for.
function isQuiet({name}) {
	return !state.quiet && name.startsWith("perfkit:");
}

function hasQuiet(p) {
	return p.irqs.length > 0 || p.losses.length > 0 || p.rows.some((row) => row.marks.some(({name}) => name.startsWith("perfkit:")));
}

// The numbers of the visible rows: first those that stick below the axis, then the others.
function arrange(p, sticksCpus) {
	const lanes = new Map();
	p.rows.forEach((row, i) => {
		if (row.kind === ROW.lane && (row.what !== "interrupts" || state.quiet))
			lanes.set(row.of, (lanes.get(row.of) || []).concat(i));
	});
	const folded = new Set(p.rows.filter((g) => g.folded).flatMap((g) => g.members));
	const withLanes = (list) => list.flatMap((i) => [i, ...(lanes.get(i) || [])]);
	const own = p.rows.map((row, i) => i).filter((i) => p.rows[i].kind !== ROW.lane && !p.rows[i].hidden && !folded.has(p.rows[i]));
	const heading = own.findIndex((i) => p.rows[i].isCpus);
	if (heading >= 0)
		own.unshift(...own.splice(heading, 1));
	const others = p.rows.findIndex((row) => row.kind !== ROW.cpu);
	const sticks = (i) => p.rows[i].pinned || sticksCpus && (i < others || p.rows[i].isCpus);
	const stuck = withLanes(own.filter(sticks)).filter((i) => !p.rows[i].hidden);
	const rest = withLanes(own.filter((i) => !sticks(i))).filter((i) => !p.rows[i].hidden);
	p.rows.forEach((row) => { row.shown = row.stuck = false; });
	for (const i of stuck.concat(rest))
		p.rows[i].shown = true;
	for (const i of stuck)
		p.rows[i].stuck = true;
	return [stuck, rest];
}

// A folded heading: for each pixel, the shares of its threads' states.
function eachShare(group, view, emit) {
	const columns = Math.ceil(plotW), paints = conf.paints.length, share = new Float64Array(columns * paints);
	const scale = plotW / (view.to - view.from);
	for (const {segs} of group.members)
		for (let i = segs.after(view.from); i < segs.n && segs.start[i] < view.to; i++) {
			let x = (Math.max(segs.start[i], view.from) - view.from) * scale;
			const end = Math.min((segs.start[i + 1] - view.from) * scale, columns);
			for (; x < end && segs.paint[i] !== GAP; x = Math.floor(x) + 1)
				share[Math.floor(x) * paints + segs.paint[i]] += Math.min(end, Math.floor(x) + 1) - x;
		}
	for (let x = 0; x < columns; x++) {
		let low = 0;
		for (let paint = 0; paint < paints; paint++) {
			const part = share[x * paints + paint] / group.members.length;
			if (part > 0 && !isLine(paint))
				emit(x, 1, paint, low, low + part, -1, true);
			low += isLine(paint) ? 0 : part;
		}
	}
}
