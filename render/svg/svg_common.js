// svg_common.js - what the scripts of all pictures share: packed numbers, elements, times,
// buttons, the tooltip's card, the search field. What they call (conf, state, actions, search,
// nextHit, ui.frames) is the picture's.

const SVG = "http://www.w3.org/2000/svg";

function make(name, attrs, parent) {
	const e = document.createElementNS(SVG, name);
	for (const key in attrs)
		e.setAttribute(key, attrs[key]);
	if (parent)
		parent.appendChild(e);
	return e;
}

// A list of elements of one sort, reused from drawing to drawing.
class Pool {
	constructor(name, parent) {
		this.name = name;
		this.parent = parent;
		this.all = [];
		this.used = 0;
	}

	start() {
		this.used = 0;
	}

	take() {
		if (this.used === this.all.length)
			this.all.push(make(this.name, {}, this.parent));
		else if (this.used >= (this.shown || 0))
			this.all[this.used].removeAttribute("display");
		return this.all[this.used++];
	}

	finish() {
		for (let i = this.used; i < (this.shown || 0); i++)
			this.all[i].setAttribute("display", "none");
		this.shown = this.used;
	}
}

function element(name) {
	const e = svg.getElementsByTagName(name)[0];
	return e ? e.textContent : "";
}

// All numbers of a text of base-32 digits, little end first.
function readNumbers(text) {
	const digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	const value = new Uint8Array(128);
	for (let i = 0; i < 64; i++)
		value[digits.charCodeAt(i)] = i;
	const out = new Float64Array(text.length);
	let n = 0, x = 0, unit = 1;
	for (let i = 0; i < text.length; i++) {
		const d = value[text.charCodeAt(i) & 127];
		x += (d & 31) * unit;
		if (d & 32) {
			unit *= 32;
		} else {
			out[n++] = x;
			x = 0;
			unit = 1;
		}
	}
	return out.subarray(0, n);
}

// --- texts ---------------------------------------------------------------------------------

function shortNumber(x) {
	const a = Math.abs(x);
	return x.toFixed(a >= 99.95 ? 0 : a >= 9.995 ? 1 : 2);
}

// As units_duration (units.c) says it.
function timeText(ns) {
	const a = Math.round(Math.abs(ns));
	const [unit, name] = a < 1e3 ? [1, "ns"] : a < 999500 ? [1e3, "us"] :
		a < 999500000 ? [1e6, "ms"] : [1e9, "s"];
	const tenths = Math.round(a / (unit / 10));
	const digits = unit > 1 && tenths < 1000 ? 1 : 0;
	return (ns < 0 ? "-" : "") + (digits ? tenths / 10 : Math.round(a / unit)).toFixed(digits) + " " + name;
}

// --- pointing and telling --------------------------------------------------------------------

function toPicture(event) {
	const p = svg.createSVGPoint();
	p.x = event.clientX;
	p.y = event.clientY;
	return p.matrixTransform(svg.getScreenCTM().inverse());
}

// Lines of text in a card beside the point (x, y); the first one is a name.
function showCard(lines, x, y) {
	const tip = svg.querySelector("#tip");
	tip.textContent = "";
	const card = make("rect", {rx: 4}, tip);
	let width = 0;
	lines.forEach((line, i) => {
		const t = make("text", {x: 8, y: 17 + 16 * i, class: i ? "" : "name"}, tip);
		t.textContent = line.length > 150 ? line.slice(0, 148) + ".." : line;
		width = Math.max(width, t.getComputedTextLength());
	});
	card.setAttribute("width", width + 16);
	card.setAttribute("height", 16 * lines.length + 10);
	const right = Math.max(0, conf.width - width - 20), high = 16 * lines.length + 10;
	const below = y + 18 + high < Number(svg.getAttribute("height"));
	tip.setAttribute("transform", "translate(" + Math.min(x + 12, right) + " " +
		(below ? y + 18 : Math.max(2, y - high - 6)) + ")");
	tip.setAttribute("display", "inline");
}

function button([id, label, width, title], x, y, parent) {
	const g = make("g", {id: "b-" + id, class: "button", tabindex: 0, role: "button",
		"aria-label": label + ": " + title, transform: "translate(" + x + " " + y + ")"}, parent);
	make("title", {}, g).textContent = title;
	make("rect", {width, height: 20, rx: 4}, g);
	make("text", {x: width / 2, y: 14, "font-size": 11}, g).textContent = label;
	g.addEventListener("click", () => actions[id]());
	g.addEventListener("keydown", (e) => {
		if (e.key === "Enter" || e.key === " ") {
			e.preventDefault();
			e.stopPropagation();
			actions[id]();
		}
	});
	return x + width + 6;
}

function mark(id, on, usable) {
	const b = svg.querySelector("#b-" + id);
	if (!b)
		return;
	b.classList.toggle("on", on);
	b.classList.toggle("off", !usable);
	b.setAttribute("aria-pressed", on ? "true" : "false");
}

function makeSearchField(x, y, width, parent) {
	const box = make("foreignObject", {x, y, width, height: 20}, parent);
	const input = document.createElementNS("http://www.w3.org/1999/xhtml", "input");
	input.setAttribute("class", "search");
	input.setAttribute("placeholder", "Search (Ctrl-F), regular expression");
	input.setAttribute("aria-label", "Search, regular expression");
	box.appendChild(input);
	let timer = 0;
	input.addEventListener("input", () => {
		clearTimeout(timer);
		timer = setTimeout(() => search(input.value), 120);
	});
	input.addEventListener("keydown", (e) => {
		e.stopPropagation();
		if (e.key === "Enter") {
			clearTimeout(timer);
			if (state.search !== input.value)
				search(input.value);
			nextHit(e.shiftKey ? -1 : 1);
		} else if (e.key === "Escape") {
			input.value = "";
			search("");
			ui.frames.focus();
		}
	});
}

const searchActions = {
	fold: () => {
		state.fold = !state.fold;
		search(state.search);
	},
	next: () => nextHit(1),
	previous: () => nextHit(-1),
};

const searchButtons = [
	["fold", "Aa", 30, "Search without case (c, Ctrl-I)"],
	["previous", "\u2039", 24, "Previous hit (p)"],
	["next", "\u203a", 24, "Next hit (n)"],
];

function markSearch() {
	mark("fold", state.fold, true);
	mark("next", false, hits.length > 0);
	mark("previous", false, hits.length > 0);
}

// What the picture offers on the left, search on the right.
function makeToolRow(buttons, y) {
	const tools = make("g", {id: "tools"}, svg);
	let x = conf.pad;
	for (const b of buttons)
		x = button(b, x, y, tools);
	// laid out as wide as it needs, and shrunk where the picture is narrower
	const width = Math.max(conf.width, x + 204 + conf.pad), scale = conf.width / width;
	if (scale < 1)
		tools.setAttribute("transform", "translate(0 " + y * (1 - scale) + ") scale(" + scale + ")");
	let right = width - conf.pad - 90;
	const field = Math.min(300, right - x - 12);
	for (const b of searchButtons)
		right = button(b, right, y, tools);
	makeSearchField(width - conf.pad - 96 - field, y, field, tools);
}
