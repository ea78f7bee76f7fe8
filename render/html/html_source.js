// html_source.js - the source lines of the chosen frame's function, beside the flame graph, with the
// weights of the stretch: of samples, or of waits if the graph is of these. html_source.h has the
// format, which is unpacked when the first function is chosen.

let sourceData = null; // a promise of {functions, groups, up, group}
let sourceAsked = 0;

function hasSource() {
	return document.getElementById("source-data") !== null;
}

function readSource() {
	if (!sourceData) {
		const size = document.getElementById("source-data").textContent.length;
		sourceData = inflateText("source-data").then((text) => numberRows(Object.assign(JSON.parse(text), {size})));
	}
	return sourceData;
}

// Rows are numbered through all functions; a function has those of its own lines.
function numberRows(all) {
	let n = 0;
	all.functions.forEach((f, no) => {
		f.no = no;
		f.first = n;
		for (const file of f.files)
			for (const line of file.lines)
				if (line.length > 2)
					line.row = n++;
		for (const code of f.code || [])
			if (code && code.length > 4)
				code.row = n++;
		f.end = n;
	});
	all.ofRow = new Int32Array(n); // its function, if it is a line of its own: + 1
	for (const f of all.functions)
		for (const line of f.files.flatMap((file) => file.lines))
			if (line.length === 3)
				all.ofRow[line.row] = f.no + 1;
	return all;
}

// --- weights -----------------------------------------------------------------------------------

// Which waits' lines are shown, and not samples'.
function isOfWaits() {
	return data.wait.any && ["off", "offwake", "chain"].includes(view.graph) || !data.sample.t.length;
}

// What each stack of lines weighs in the stretch, of the chosen threads and label; [0] has the others.
function weighStacks(all) {
	const out = new Float64Array(2 * all.up.length + 2), {from, to} = stretch(), chosen = chosenThreads();
	if (isOfWaits()) {
		const put = (i) => { out[data.wait.lines[i]] += part.blocked + part.unknown + part.runnable; };
		eachOverlapping("wait", from, to, (i) => {
			if (!view.band || inBand(i, view.band))
				takeWait(i, from, to, chosen, put);
		});
		return out;
	}
	const s = data.sample, n = s.t.length;
	for (let i = firstWhere(0, n, (k) => s.t[k] >= from); i < n && s.t[i] <= to; i++)
		if (s.event[i] === view.event && hasLabel(s, i) && (!chosen || chosen(s.thread[i] - 1, data.row.comm[s.row[i]])))
			out[s.lines[i]] += s.weight[i];
	return out;
}

// Self (with what is inlined) and total of the rows of a function, and of itself. A stack counts once
// in each row, however often it passes.
function weighRows(all, f) {
	const stacks = weighStacks(all), n = f.end - f.first, seen = new Int32Array(n + 1), ends = new Int32Array(n + 1);
	const out = {whole: 0, self: new Float64Array(n + 1), total: new Float64Array(n + 1)}; // [n]: the function
	const add = (k, no, weight, isEnd) => {
		out.total[k] += seen[k] !== no ? weight : 0;
		out.self[k] += isEnd && ends[k] !== no ? weight : 0;
		seen[k] = no;
		ends[k] = isEnd ? no : ends[k];
	};
	for (let x = 0; x < stacks.length; x++) {
		const weight = stacks[x];
		out.whole += weight;
		for (let at = weight ? x >> 1 : 0, isEnd = x & 1; at; at = all.up[at - 1], isEnd = 0)
			for (const row of all.groups[all.group[at - 1]])
				if (row >= f.first && row < f.end) {
					add(row - f.first, x + 1, weight, isEnd);
					if (all.ofRow[row])
						add(n, x + 1, weight, isEnd);
				}
	}
	return out;
}

// --- the pane ----------------------------------------------------------------------------------

// The function of a frame; `frame` NULL: the first of that name.
function sourceOf(all, name, frame) {
	const same = all.functions.filter((f) => f.name === name), dso = frame === null ? "" : frames.dso[frame];
	return same.find((f) => f.module === dso.slice(dso.lastIndexOf("/") + 1)) || (frame === null || same.length === 1 ? same[0] : null);
}

const VERDICTS = {same: "", absent: ": its text is not in this page (--source-dir, --source-map)", unchecked: " (not checked: the debug information has no MD5)",
	newer: " changed after the recording: lines may have moved", other: " is not the text that was compiled (MD5): lines may be wrong"};

// A line is hot or warm by its self, and warm if much passes through it.
function heatOf(self, total, whole) {
	return 20 * self >= whole ? "hot" : 100 * self >= whole || 10 * total >= whole ? "warm" : "";
}

function shareOf(x, whole) {
	return x ? share(x, whole) : "";
}

// A row's cells with numbers are filled by fillRow.
function sourceRow(attrs, ...cells) {
	return el("tr", attrs, el("td", {class: "number"}), el("td", {class: "number"}), ...cells);
}

function codeLine([line, text]) {
	return sourceRow({onclick: (ev) => markLine(line, ev.currentTarget)}, el("td", {class: "number dim"}, line ? String(line) : ""), el("td", {class: "code"}, line ? text || "" : "(no line is known)"));
}

function inlinedLine([line, , depth, name, file]) {
	const short = file ? file.slice(file.lastIndexOf("/") + 1) + (line ? ":" + line : "") : "";
	return sourceRow({class: "inlined", hidden: true}, el("td", {}), el("td", {class: "code"}, "  ".repeat(depth) + name + " ", el("span", {class: "dim"}, short)));
}

function fillRow(row, isInlined, self, total, whole) {
	row.cells[0].textContent = shareOf(self, whole);
	row.cells[1].textContent = shareOf(total, whole);
	if (!isInlined) {
		row.classList.remove("hot", "warm");
		row.classList.add(...(whole ? [heatOf(self, total, whole)].filter((x) => x) : []));
	}
}

// Calls inlined in a line open below it.
function toggleInlined(row, button) {
	const isOpen = button.getAttribute("aria-expanded") === "true";
	button.setAttribute("aria-expanded", String(!isOpen));
	for (let e = row.nextSibling; e && e.className === "inlined"; e = e.nextSibling)
		e.hidden = isOpen;
}

// The rows of a file; those with weight also go to `rows`.
function codeRows(lines, rows) {
	const out = [];
	let last = 0, at = null;
	for (const x of lines) {
		const isInlined = x.length > 3;
		if (isInlined && !at.querySelector("button")) {
			const row = at, button = el("button", {class: "opens", "aria-expanded": "false", title: "calls inlined in this line",
				onclick: () => toggleInlined(row, button)}, "+");
			at.cells[2].prepend(button);
		}
		if (!isInlined && last && x[0] > last + 1)
			out.push(el("tr", {class: "dim"}, el("td", {}), el("td", {}), el("td", {class: "number"}, "\u22ee"), el("td", {})));
		out.push(isInlined ? inlinedLine(x) : at = codeLine(x));
		if (x.row !== undefined)
			rows.push({e: out[out.length - 1], row: x.row, isInlined});
		last = isInlined ? last : x[0] || last;
	}
	return out;
}

function sourceFile(f, rows) {
	const name = f.file || "no source file is known";
	return el("div", {class: "source-file"}, el("p", {class: "note"}, el("span", {class: "path"}, name), f.file ? VERDICTS[f.text] : ""),
		el("div", {class: "scroll", tabindex: 0, role: "region", "aria-label": "lines of " + name}, el("table", {},
			el("thead", {}, el("tr", {}, ["self", "total", "line"].map((h) => el("th", {class: "number", scope: "col"}, h)), el("th", {scope: "col"}, "source"))),
			el("tbody", {}, codeRows(f.lines, rows)))));
}

// --- instructions ----------------------------------------------------------------------------

const LANE = 7, CODE_ROW = 17; // px; html_source.css has the height

// The jumps between rows, the short ones innermost: each in the first lane that those before it leave free.
function laneArrows(code) {
	const arrows = code.flatMap((x, i) => x && x[3] >= 0 ? [{from: i, to: x[3], low: Math.min(i, x[3]), high: Math.max(i, x[3])}] : []);
	arrows.sort((a, b) => a.high - a.low - (b.high - b.low) || a.low - b.low);
	arrows.forEach((a, i) => {
		const taken = new Set(arrows.slice(0, i).filter((x) => x.low <= a.high && a.low <= x.high && x.to !== a.to).map((x) => x.lane));
		for (a.lane = 0; taken.has(a.lane); a.lane++);
	});
	return arrows.filter((a) => a.lane < 8);
}

function drawArrows(arrows, rows) {
	const lanes = Math.max(0, ...arrows.map((a) => a.lane + 1)), width = lanes * LANE + 8;
	const out = svgElement("svg", {width, height: rows * CODE_ROW, "aria-hidden": "true"}), y = (i) => (i + 0.5) * CODE_ROW;
	for (const a of arrows) {
		const x = width - 8 - a.lane * LANE - 0.5, end = width - 2;
		out.append(svgElement("path", {d: `M${end} ${y(a.from)}H${x}V${y(a.to)}H${end}m-4 -3l4 3l-4 3`}));
	}
	return [out, width];
}

function svgElement(name, attrs) {
	const e = document.createElementNS(SVG_NS, name);
	for (const [key, value] of Object.entries(attrs))
		e.setAttribute(key, value);
	return e;
}

// The instructions of a function, opened by a button; those of a source line are marked when it is clicked.
function codeTable(f, rows) {
	const [arrows, width] = drawArrows(laneArrows(f.code), f.code.length);
	const body = f.code.map((x, i) => {
		const lanes = el("td", {class: "lanes", style: `min-width:${width}px`}, i ? null : arrows);
		const e = x ? sourceRow({}, el("td", {class: "number dim"}, x[2] ? String(x[2]) : ""), el("td", {class: "number dim"}, x[0]), lanes, el("td", {class: "code"}, x[1])) :
			sourceRow({class: "dim"}, el("td", {class: "number"}, "\u22ee"), el("td", {}), lanes, el("td", {}));
		if (x && x.row !== undefined)
			rows.push({e, row: x.row});
		return e;
	});
	const names = [["self", "number"], ["total", "number"], ["line", "number"], ["address", "number"], ["", ""], ["instruction", ""]];
	const box = el("div", {class: "scroll instructions", tabindex: 0, role: "region", "aria-label": "instructions", hidden: true}, el("table", {},
		el("thead", {}, el("tr", {}, names.map(([h, c]) => el("th", {class: c, scope: "col"}, h)))), el("tbody", {}, body)));
	return box;
}

function sourceCode(f, rows) {
	if (!f.code)
		return el("p", {class: "note"}, "No instructions: " + f.no_code + ".");
	const box = codeTable(f, rows);
	const button = el("button", {class: "instructions-button", "aria-expanded": "false", onclick: () => {
		box.hidden = !box.hidden;
		button.setAttribute("aria-expanded", String(!box.hidden));
	}}, "instructions");
	return [button, box];
}

// Mark the instructions of a line.
function markLine(line, at) {
	const box = document.querySelector("#source .instructions");
	if (!box || box.hidden)
		return;
	const rows = [...box.querySelectorAll("tbody tr")].filter((r) => r.classList.toggle("of-line", r.cells[2].textContent === String(line)));
	document.querySelectorAll("#source tr.chosen").forEach((r) => r.classList.remove("chosen"));
	at.classList.add("chosen");
	if (rows.length)
		box.scrollTop = rows[0].offsetTop - 2 * CODE_ROW;
}

function sizeText(characters) {
	return characters < 1e6 ? Math.ceil(characters / 1000) + " kB" : (characters / 1e6).toFixed(1) + " MB";
}

let sourceShown = null; // the function in the pane: {f, rows, sums}; it stays while its weights change

function makeSource(all, f, name) {
	const close = el("button", {title: "close", "aria-label": "close the source", onclick: () => showSource("", null)}, "\u00d7");
	const sums = el("span", {}), what = el("p", {class: "note"}), rows = [];
	replace("source", el("p", {class: "source-head"}, el("strong", {}, f ? functionText(name) : name), sums, close), what,
		f ? f.files.map((file) => sourceFile(file, rows)) : null, f ? sourceCode(f, rows) : null,
		el("p", {class: "note"}, "Lines and instructions of " + all.functions.length + (all.functions.length === 1 ? " function: " : " functions: ") + sizeText(all.size) + " of this page."));
	sourceShown = {name, f, rows, sums, what};
}

// The weights of the stretch, in the rows that are there.
function fillSource(all, {f, rows, sums, what}) {
	const w = f && weighRows(all, f), n = f && f.end - f.first;
	what.textContent = !f ? "This page has no lines of it: it has too few samples, or no debug information (perfkit html --functions)." :
		(isOfWaits() ? "Waits" : "Samples of " + head.events[view.event].name) + (isSelected() ? " in the selection" : "") +
		"; self: with what is inlined in the line.";
	sums.textContent = f ? " self " + share(w.self[n], w.whole) + ", total " + share(w.total[n], w.whole) : "";
	for (const {e, row, isInlined} of rows)
		fillRow(e, isInlined, w.self[row - f.first], w.total[row - f.first], w.whole);
}

// Show the lines of a function, or hide the pane ("").
async function drawSource() {
	const box = document.getElementById("source"), name = view.src, no = ++sourceAsked;
	box.hidden = !name || !hasSource();
	document.getElementById("pane-flame").classList.toggle("with-source", !box.hidden);
	if (box.hidden)
		return;
	const all = await readSource(), f = sourceOf(all, name, view.srcFrame);
	if (no !== sourceAsked)
		return;
	if (!sourceShown || sourceShown.name !== name || sourceShown.f !== f)
		makeSource(all, f, name);
	fillSource(all, sourceShown);
}

// Choose the function of a frame (null: any of that name).
function showSource(name, frame) {
	view.src = name;
	view.srcFrame = frame;
	saveView(false);
	return drawSource();
}
