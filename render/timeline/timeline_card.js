// timeline_card.js - what is under the pointer, and the text of its card.

function panelAt(y) {
	return panels.find((p) => y >= p.axisY && y < p.end) || null;
}

// The axis and the lane of missing records, wherever they stick.
function onAxis(p, y) {
	return plots[p.index].inPanel(y) < p.rowsY;
}

// The missing records under the pointer in that lane, or in the rows below.
function lossLines(p, t) {
	const px = (p.view.to - p.view.from) / plotW;
	return p.losses.filter((l) => t >= l.t - 2 * px && t <= l.t + l.length + 2 * px).slice(0, 6).map((l) =>
		conf.losses[l.kind] + ": " + (l.kind ? "" : l.count + (l.count === 1 ? " record, " : " records, ")) +
		(l.cpu < 0 ? "any CPU" : "CPU " + l.cpu) + ", " + pointText(l.t - p.zero, p.view) + " \u2026 " +
		pointText(l.t + l.length - p.zero, p.view) + ": what ran or waited there may be missing or wrong");
}

// The number of the row at y of the panel; -1: none.
function rowAt(p, y) {
	return p.rows.findIndex((r) => r.shown && y >= r.y && y < r.y + (r.folded ? conf.rowH : r.h));
}

function timeAt(p, x) {
	const v = p.view;
	return v.from + Math.min(Math.max((x - plotX) / plotW, 0), 1) * (v.to - v.from);
}

// What is under the pointer: {p, row, seg, t, fine}; fine: more than one interval shares the
// pixel.
function under(x, y) {
	const p = panelAt(y);
	if (!p || x < plotX || x > plotX + plotW)
		return null;
	y = plots[p.index].inPanel(y);
	const row = rowAt(p, y);
	if (row < 0 || !p.rows[row].segs)
		return null;
	const segs = p.rows[row].segs, t = timeAt(p, x), seg = segs.after(t);
	if (seg >= segs.n || segs.start[seg] > t)
		return null;
	const px = (p.view.to - p.view.from) / plotW;
	const fine = segs.start[seg + 1] - segs.start[seg] < conf.wide * px;
	return {p: p.index, row, seg, t, px, fine};
}

// Spans, samples and marks within reach of the pointer.
function eventLines(row, t, px) {
	const lines = [];
	for (const s of row.spans)
		if (t >= s.t && t < s.t + s.length)
			lines.push("span " + s.name + " \u00b7 " + timeText(s.length) +
				(s.last === row.thread ? "" : " \u00b7 ended by " + threadText(s.last)));
	const marks = new Map(); // a line for each event; of one alone with its fields, but for own probes
	for (const m of row.marks)
		if (!isQuiet(m) && Math.abs(m.t - t) < 3 * px)
			marks.set(m.name, (marks.get(m.name) || []).concat(m.name.startsWith("perfkit:") ? "" : m.text || ""));
	for (const [name, texts] of marks)
		lines.push(name + (texts.length > 1 ? " \u00b7 " + texts.length + " times" : texts[0] ? " \u00b7 " + texts[0] : ""));
	const s = row.samples, after = s.firstAt(t), i = after && (after === s.n || t - s.t[after - 1] <= s.t[after] - t) ? after - 1 : after;
	if (i < s.n && Math.abs(s.t[i] - t) < 3 * px)
		lines.push("sample of " + tables.events[s.event[i]], ...stackLines("in  ", s.path[i]));
	return lines;
}

const PARTS = 8; // of a gap that a card shows

function gapLines(gap, when) {
	const left = gap.parts.length - PARTS;
	return ["gap \u00b7 " + timeText(gap.ns), (gap.isVague ? "somewhere in " : "") + when].concat(
		gap.parts.slice(0, PARTS).map((part) => timeText(part.ns) + "  " + part.name), left > 0 ? "\u2026 " + left + " more" : []);
}

// The box of a lane at a point, or a few pixels from it.
function laneLines(p, row, y, t) {
	const px = (p.view.to - p.view.from) / plotW, level = Math.floor((y - row.y - 1) / LANE_H);
	const b = row.boxes.find((x) => x.level === level && t >= x.t - 2 * px && t < x.t + x.length + 2 * px);
	if (!b)
		return [];
	const when = pointText(b.t - p.zero, p.view) + " \u2026 " + pointText(b.t + b.length - p.zero, p.view);
	if (b.parts)
		return gapLines(b, when);
	return [b.name + " \u00b7 " + timeText(b.length), when].concat(b.last && b.last !== p.rows[row.of].thread ? "ended by " + threadText(b.last) : []);
}

// The card's text for a point: of the lane of missing records, or of an interval.
function tipLines(q, u) {
	const p = panelAt(q.y), y = p && plots[p.index].inPanel(q.y);
	if (!p || q.x < plotX)
		return [];
	if (y < p.rowsY)
		return y > p.axisY + conf.axisH - 6 ? lossLines(p, timeAt(p, q.x)) : [];
	const there = p.rows[rowAt(p, y)];
	if (there && there.kind === ROW.lane)
		return laneLines(p, there, y, timeAt(p, q.x));
	if (there && there.folded && there.isCpus)
		return ["CPUs \u00b7 use of all " + there.members.length, "by the threads that ran; a click on the name shows each"];
	if (there && there.folded)
		return [there.name + " \u00b7 " + there.members.length + " threads", "the share of them in each state; a click on the name shows them"];
	if (there && there.unrecorded)
		return ["CPU " + there.cpu + " \u00b7 not recorded",
			"nothing was recorded of this CPU: it may have been busy"];
	if (!u)
		return [];
	const row = p.rows[u.row];
	const lines = u.fine ? columnLines(row, u.t - u.px / 2, u.t + u.px / 2) : segmentLines(p, row, u.seg);
	if (lines.length && !u.fine)
		lines.splice(1, 0, pointText(row.segs.start[u.seg] - p.zero, p.view) + " \u2026 " +
			pointText(row.segs.start[u.seg + 1] - p.zero, p.view));
	return lines.concat(lines.length ? eventLines(row, u.t, u.px) : []);
}
