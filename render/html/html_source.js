// html_source.js - the source lines of the chosen frame's function, beside the flame graph. They are
// of the whole recording (html_source.h) and are unpacked when the first function is chosen.

let sourceData = null; // a promise of {event, weight, functions}
let sourceAsked = 0;

function hasSource() {
	return document.getElementById("source-data") !== null;
}

function readSource() {
	if (!sourceData) {
		const size = document.getElementById("source-data").textContent.length;
		sourceData = inflateText("source-data").then((text) => Object.assign(JSON.parse(text), {size}));
	}
	return sourceData;
}

// The function of a frame; `frame` NULL: the first of that name.
function sourceOf(all, name, frame) {
	const same = all.functions.filter((f) => f.name === name), dso = frame === null ? "" : frames.dso[frame];
	return same.find((f) => f.module === dso.slice(dso.lastIndexOf("/") + 1)) || (frame === null || same.length === 1 ? same[0] : null);
}

const VERDICTS = {same: "", absent: ": its text is not in this page (--source-dir, --source-map)", unchecked: " (not checked: the debug information has no MD5)",
	newer: " changed after the recording: lines may have moved", other: " is not the text that was compiled (MD5): lines may be wrong"};

// Above a few percent a line is warm, above many it is hot.
function heatOf(x, whole) {
	return 100 * x >= 5 * whole ? "hot" : 100 * x >= whole ? "warm" : null;
}

function shareOf(x, whole) {
	return x ? share(x, whole) : "";
}

function codeLine([line, self, total, text], whole) {
	return el("tr", {class: heatOf(self, whole)}, el("td", {class: "number"}, shareOf(self, whole)), el("td", {class: "number"}, shareOf(total, whole)),
		el("td", {class: "number dim"}, line ? String(line) : ""), el("td", {class: "code"}, line ? text || "" : "(no line is known)"));
}

function inlinedLine([line, self, total, , depth, name, file], whole) {
	const short = file ? file.slice(file.lastIndexOf("/") + 1) + (line ? ":" + line : "") : "";
	return el("tr", {class: "inlined", hidden: true}, el("td", {class: "number"}, shareOf(self, whole)), el("td", {class: "number"}, shareOf(total, whole)),
		el("td", {}), el("td", {class: "code"}, "  ".repeat(depth) + name + " ", el("span", {class: "dim"}, short)));
}

// Calls inlined in a line open below it.
function toggleInlined(row, button) {
	const isOpen = button.getAttribute("aria-expanded") === "true";
	button.setAttribute("aria-expanded", String(!isOpen));
	for (let e = row.nextSibling; e && e.className === "inlined"; e = e.nextSibling)
		e.hidden = isOpen;
}

function codeRows(lines, whole) {
	const out = [];
	let last = 0, at = null;
	for (const x of lines) {
		if (x.length > 4) {
			if (at && !at.querySelector("button")) {
				const row = at, button = el("button", {class: "opens", "aria-expanded": "false", title: "calls inlined in this line",
					onclick: () => toggleInlined(row, button)}, "+");
				at.children[2].prepend(button);
			}
			out.push(inlinedLine(x, whole));
			continue;
		}
		if (last && x[0] > last + 1)
			out.push(el("tr", {class: "dim"}, el("td", {}), el("td", {}), el("td", {class: "number"}, "\u22ee"), el("td", {})));
		last = x[0] || last;
		out.push(at = codeLine(x, whole));
	}
	return out;
}

function sourceFile(f, whole) {
	const name = f.file || "no source file is known";
	return el("div", {class: "source-file"}, el("p", {class: "note"}, el("span", {class: "path"}, name), f.file ? VERDICTS[f.text] : ""),
		el("div", {class: "scroll", tabindex: 0, role: "region", "aria-label": "lines of " + name}, el("table", {},
			el("thead", {}, el("tr", {}, ["self", "total", "line"].map((h) => el("th", {class: "number", scope: "col"}, h)), el("th", {scope: "col"}, "source"))),
			el("tbody", {}, codeRows(f.lines, whole)))));
}

function sizeText(characters) {
	return characters < 1e6 ? Math.ceil(characters / 1000) + " kB" : (characters / 1e6).toFixed(1) + " MB";
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
	const close = el("button", {title: "close", "aria-label": "close the source", onclick: () => showSource("", null)}, "\u00d7");
	replace("source", el("p", {class: "source-head"}, el("strong", {}, f ? functionText(name) : name), f ? " self " + share(f.self, all.weight) +
		(f.inlined ? ", inlined in it " + share(f.inlined, all.weight) : "") + ", total " + share(f.total, all.weight) + " " : " ", wholeBadge(), close),
	el("p", {class: "note"}, f ? "Samples of " + head.events[all.event].name + "; self: with what is inlined in the line." :
		"This page has no lines of it: it has too few samples, or no debug information (perfkit html --functions)."),
	f ? f.files.map((file) => sourceFile(file, all.weight)) : null,
	el("p", {class: "note"}, "Lines of " + all.functions.length + (all.functions.length === 1 ? " function: " : " functions: ") + sizeText(all.size) + " of this page."));
}

// Choose the function of a frame (null: any of that name).
function showSource(name, frame) {
	view.src = name;
	view.srcFrame = frame;
	saveView(false);
	return drawSource();
}
