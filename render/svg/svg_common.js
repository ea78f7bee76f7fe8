// svg_common.js - what the scripts of all pictures share: packed numbers, elements, times, the
// tooltip's card, the bar that stays in sight (buttons, search, legend, details), the width of
// the window, print, history. What they call (conf, state, actions, search, nextHit, ui.frames,
// relayout, stateText, loadState, onOwnKey) is the picture's. `host` is the page that a picture is part of,
// or null: a page keeps the views itself.

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

	// The next one, with these attributes: setting one costs more than to know that it is set.
	put(attrs) {
		const e = this.take(), has = e.has || {};
		for (const key in attrs)
			if (has[key] !== attrs[key])
				e.setAttribute(key, attrs[key]);
		e.has = attrs;
		return e;
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

// The lines "key value" of <d-conf>, with numbers as such.
function readSettings() {
	const conf = {};
	for (const line of element("d-conf").split("\n")) {
		const at = line.indexOf(" ");
		if (at > 0) {
			const value = line.slice(at + 1);
			conf[line.slice(0, at)] = value !== "" && isFinite(value) ? Number(value) : value;
		}
	}
	return conf;
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

// The target of an event, also inside a shadow tree.
function targetOf(event) {
	return event.composedPath()[0];
}

// The keys of all pictures; others are the picture's.
function onKey(e) {
	if (document.documentElement !== svg && !svg.contains(targetOf(e)))
		return; // inside a page, the rest of the page keeps its keys
	if ((e.ctrlKey && e.key === "f") || e.key === "F3" || (e.key === "/" && !e.ctrlKey)) {
		e.preventDefault();
		(host && host.find || (() => svg.querySelector("input.search").focus()))();
	} else if (e.ctrlKey && e.key === "i") {
		e.preventDefault();
		actions.fold();
	} else if (!(e.ctrlKey || e.altKey || e.metaKey)) {
		onOwnKey(e);
	}
}

// --- pointing and telling --------------------------------------------------------------------

function toPicture(event) {
	const p = svg.createSVGPoint();
	p.x = event.clientX;
	p.y = event.clientY;
	return p.matrixTransform(svg.getScreenCTM().inverse());
}

// Top and end of what the window shows below the bar of the page, in the picture's units.
function inSight() {
	const m = svg.getScreenCTM(), above = host && host.above || 0;
	return m && m.d ? [(above - m.f) / m.d, (window.innerHeight - m.f) / m.d] : [0, Infinity];
}

// Lines of text in a card beside the point (x, y); the first one is a name.
// Characters of a line of a card.
function cardRoom() {
	return Math.min(150, Math.floor((conf.width - 40) / 6.7));
}

function showCard(lines, x, y) {
	const tip = svg.querySelector("#tip"), most = cardRoom();
	tip.textContent = "";
	const card = make("rect", {rx: 4}, tip);
	let width = 0;
	lines.forEach((line, i) => {
		const t = make("text", {x: 8, y: 17 + 16 * i, class: i ? "" : "name"}, tip);
		t.textContent = line.length > most ? line.slice(0, most - 2) + ".." : line;
		width = Math.max(width, t.getComputedTextLength());
	});
	card.setAttribute("width", width + 16);
	card.setAttribute("height", 16 * lines.length + 10);
	const right = Math.max(0, conf.width - width - 20), high = 16 * lines.length + 10;
	const [top, sight] = inSight(), end = Math.min(sight, Number(svg.getAttribute("height")));
	const below = y + 18 + high < end;
	tip.setAttribute("transform", "translate(" + Math.min(x + 12, right) + " " +
		(below ? y + 18 : Math.max(top + 2, y - high - 6)) + ")");
	tip.setAttribute("display", "inline");
}

function hideCard() {
	svg.querySelector("#tip").setAttribute("display", "none");
}

// --- buttons and search ------------------------------------------------------------------------

function button([id, label, width, title], parent) {
	const g = make("g", {id: "b-" + id, class: "button", tabindex: 0, role: "button",
		"aria-label": label + ": " + title}, parent);
	make("title", {}, g).textContent = title;
	make("rect", {width, height: 20, rx: 4}, g);
	make("text", {x: width / 2, y: 14, "font-size": 11}, g).textContent = label;
	onPress(g, () => actions[id]());
	return {g, width};
}

// A click, Enter or the space bar.
function onPress(element, act) {
	element.addEventListener("click", act);
	element.addEventListener("keydown", (e) => {
		if (e.key === "Enter" || e.key === " ") {
			e.preventDefault();
			e.stopPropagation();
			act(e);
		}
	});
}

function mark(id, on, usable) {
	const b = svg.querySelector("#b-" + id);
	if (!b)
		return;
	b.classList.toggle("on", on);
	b.classList.toggle("off", !usable);
	b.setAttribute("aria-pressed", on ? "true" : "false");
}

// A field for text; `typed` and `entered` get its <input>, the latter the key, too.
function makeField(cls, width, placeholder, label, typed, entered) {
	const box = make("foreignObject", {width, height: 20});
	const input = document.createElementNS("http://www.w3.org/1999/xhtml", "input");
	input.setAttribute("class", cls);
	input.setAttribute("placeholder", placeholder);
	input.setAttribute("aria-label", label);
	input.setAttribute("title", label);
	box.appendChild(input);
	input.addEventListener("input", () => typed(input));
	input.addEventListener("keydown", (e) => {
		e.stopPropagation();
		if (e.key === "Enter") {
			entered(input, e);
		} else if (e.key === "Escape") {
			input.value = "";
			typed(input);
			ui.frames.focus();
		}
	});
	return {g: box, width};
}

function makeSearchField() {
	let timer = 0;
	return makeField("search", FIELD, "Search (Ctrl-F), regular expression", "Search, regular expression", (input) => {
		clearTimeout(timer);
		timer = setTimeout(() => search(input.value), input.value ? 120 : 0);
	}, (input, e) => {
		clearTimeout(timer);
		if (state.search !== input.value)
			search(input.value);
		nextHit(e.shiftKey ? -1 : 1);
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
	["previous", "\u2039", 24, "Previous hit (p)"],
	["next", "\u203a", 24, "Next hit (n)"],
	["fold", "Aa", 30, "Search without case (c, Ctrl-I)"],
];

function markSearch() {
	mark("fold", state.fold, true);
	mark("next", false, hits.length > 0);
	mark("previous", false, hits.length > 0);
}

// --- the bar -----------------------------------------------------------------------------------

const GAP_X = 6, ROW_Y = 26, FIELD = 160; // px between buttons, of a row of them, of the field

// Buttons and search, the legend, and a line about the selection and the matches. It follows
// the window when the page scrolls.
class Bar {
	constructor(buttons, fields) {
		this.group = make("g", {id: "bar"}, svg);
		this.ground = make("rect", {class: "bar-ground", x: 0, y: 0}, this.group);
		this.tools = make("g", {id: "tools"}, this.group);
		this.buttons = buttons.map((b) => button(b, this.tools)).concat(fields || []);
		this.field = makeSearchField().g;
		for (const {g} of (fields || []).concat({g: this.field}))
			this.tools.appendChild(g);
		this.search = searchButtons.map((b) => button(b, this.tools));
		this.legend = svg.querySelector("#legend");
		this.group.appendChild(this.legend);
		this.details = make("text", {id: "details", x: conf.pad, "aria-live": "polite"}, this.group);
		this.matched = make("text", {id: "matched", "text-anchor": "end", "aria-live": "polite"}, this.group);
		this.y = this.height = 0;
		window.addEventListener("scroll", () => this.stick());
	}

	// Put everything where the width allows it; the bar is at y when nothing is scrolled.
	layout(y) {
		let at = 4;
		this.y = y;
		const isPlain = printing || Boolean(host && host.isBare);
		this.tools.setAttribute("display", isPlain ? "none" : "inline");
		if (!isPlain)
			at = this.placeTools(at) + ROW_Y;
		at = this.placeLegend(at);
		this.details.setAttribute("y", at + 13);
		this.matched.setAttribute("y", at + 13);
		this.matched.setAttribute("x", conf.width - conf.pad);
		this.height = at + (host && host.isBare ? 6 : 20);
		this.ground.setAttribute("width", conf.width);
		this.ground.setAttribute("height", this.height);
		this.stick();
		return this.height;
	}

	placeTools(y) {
		const right = conf.width - conf.pad;
		let x = conf.pad;
		const put = ({g, width}) => {
			if (x + width > right) {
				x = conf.pad;
				y += ROW_Y;
			}
			g.setAttribute("transform", "translate(" + x + " " + y + ")");
			x += width + GAP_X;
		};
		this.buttons.forEach(put);
		if (host && host.find) { // the page's field searches all pictures
			for (const {g} of this.search.concat({g: this.field}))
				g.setAttribute("display", "none");
			return y;
		}
		const own = this.search.reduce((sum, b) => sum + b.width + GAP_X, 0);
		if (x + FIELD + own > right) {
			x = conf.pad;
			y += ROW_Y;
		}
		const field = Math.min(300, right - x - own);
		x = right - field - own;
		this.field.setAttribute("x", x);
		this.field.setAttribute("y", y);
		this.field.setAttribute("width", field);
		x += field + GAP_X;
		this.search.forEach(put);
		return y;
	}

	placeLegend(y) {
		const keys = [...this.legend.children];
		let x = conf.pad, row = 0;
		for (const key of keys) {
			const width = 17 + (Number(key.dataset.room) || key.querySelector("text").getComputedTextLength()) + 14;
			if (x + width > conf.width && x > conf.pad) {
				x = conf.pad;
				row++;
			}
			key.setAttribute("transform", "translate(" + x + " " + row * 17 + ")");
			x += width;
		}
		this.legend.setAttribute("transform", "translate(0 " + (y + 1) + ")");
		return y + (keys.length ? 17 * (row + 1) : 0);
	}

	// The details take what the matches leave of their line.
	say(parts) {
		const room = conf.width - 2 * conf.pad -
			(this.matched.textContent ? this.matched.getComputedTextLength() + 20 : 0);
		this.details.textContent = "";
		parts.forEach((part, i) => {
			if (i)
				make("tspan", {}, this.details).textContent = " \u00b7 ";
			const t = make("tspan", {}, this.details);
			t.textContent = part.text || part;
			if (part.go) {
				t.setAttribute("class", "link");
				t.setAttribute("tabindex", 0);
				t.setAttribute("role", "link");
				onPress(t, part.go);
			}
		});
		const last = () => this.details.lastElementChild;
		while (last() && this.details.getComputedTextLength() > room && room > 0)
			if (last().textContent.length > 12)
				last().textContent = last().textContent.slice(0, -10) + "..";
			else
				last().remove();
	}

	stick() {
		const top = printing ? 0 : inSight()[0], y = Math.max(this.y, top);
		this.group.setAttribute("transform", "translate(0 " + y + ")");
		this.group.classList.toggle("afloat", y > this.y);
		this.end = y + this.height;
	}
}

// --- the window --------------------------------------------------------------------------------

const LEAST_WIDTH = 320;
let printing = false;

// The text of an element on as many lines as the width needs; returns their height.
function wrapText(e, text, x, y, dy, width) {
	e.textContent = text;
	const each = e.getComputedTextLength() / Math.max(1, text.length) * 1.03;
	const room = Math.max(8, Math.floor(width / (each || 7))), lines = [];
	for (let rest = text; rest;) {
		const blank = rest.length > room ? rest.lastIndexOf(" ", room) : rest.length;
		const n = blank > room / 2 ? blank : Math.min(rest.length, room);
		lines.push(rest.slice(0, n));
		rest = rest.slice(n).trimStart();
	}
	e.textContent = "";
	lines.forEach((line, i) => { make("tspan", {x, dy: i ? dy : 0}, e).textContent = line; });
	e.setAttribute("y", y);
	return lines.length * dy;
}

function linesOf(e) {
	return [...e.children].map((line) => line.textContent).join(" ");
}

const headTexts = (host ? ["hidden"] : ["title", "subtitle", "filters", "hidden"]).map((id) => svg.querySelector("#" + id))
	.filter((e) => e).map((e) => [e, linesOf(e)]);

// Put the title and subtitle, which a page has itself; returns where they end.
function layoutHead() {
	let y = host ? 14 : 28;
	if (host && !headTexts.length)
		return 0;
	headTexts.forEach(([e, text], i) => {
		y += wrapText(e, text, conf.width / 2, y, i ? 17 : 22, conf.width - 2 * conf.pad);
	});
	return y - 8;
}

// Make the picture at least as high as the window, so that cards have room.
function setHeight(height) {
	const isPage = svg === document.documentElement && !printing;
	svg.setAttribute("height", isPage ? Math.max(height, window.innerHeight) : height);
	if (printing)
		svg.setAttribute("viewBox", "0 0 " + conf.width + " " + height);
}

// Make it as wide as the window (or its container), without scaling text; says whether that drew it.
let fitHeight = window.innerHeight;

function fitWindow(isForced) {
	const room = Math.floor(svg.getBoundingClientRect().width), width = Math.max(LEAST_WIDTH, room);
	if (!room)
		fitHeight = isForced ? 0 : fitHeight; // once it is shown
	if (!room || width === conf.width && window.innerHeight === fitHeight && !isForced)
		return false;
	fitHeight = window.innerHeight;
	conf.width = width;
	relayout();
	return true;
}

function startLayout() {
	svg.setAttribute("width", "100%");
	svg.removeAttribute("viewBox");
	conf.width = Math.max(LEAST_WIDTH, Math.floor(svg.getBoundingClientRect().width));
	window.addEventListener("resize", () => fitWindow(false));
	window.addEventListener("beforeprint", () => setPrinting(true));
	window.addEventListener("afterprint", () => setPrinting(false));
}

// On paper: no tools, and one page of the picture's size, so that no row is split.
function setPrinting(on) {
	printing = on;
	relayout();
	if (!on)
		svg.removeAttribute("viewBox");
	const page = svg.querySelector("#page") || make("style", {id: "page"}, svg);
	page.textContent = on && svg === document.documentElement ? "@page { size: " + conf.width + "px " +
		(Number(svg.getAttribute("height")) + 1) + "px; margin: 0; }" : "";
}

// --- the URL -----------------------------------------------------------------------------------

// `step`: how many views of this picture precede this one in the browser's history.
const views = {step: history.state && history.state.step || 0, text: null};

function urlState() {
	return host ? host.state() : location.hash.slice(1) || location.search.slice(1);
}

// Save the view in the URL: as a new one that Back and Undo leave, or instead of the last.
function saveState(isNew) {
	const text = stateText(), url = text ? "#" + text : location.pathname + location.search;
	if (text === views.text)
		return;
	views.text = text;
	if (host) {
		host.save(text, isNew);
		setButtons();
		return;
	}
	try {
		if (isNew)
			history.pushState({step: ++views.step}, "", url);
		else
			history.replaceState({step: views.step}, "", url);
	} catch (e) {
		location.hash = text;
	}
	setButtons();
}

// How many views Undo can take back: in a page, those of all its parts.
function steps() {
	return host ? host.steps() : views.step;
}

// The view that a text of the URL describes.
function loadText(text) {
	views.text = text;
	loadState(new URLSearchParams(text));
}

function onHistory() {
	views.step = history.state && history.state.step || 0;
	if (urlState() === views.text)
		return;
	loadText(urlState());
}

function startHistory() {
	if (!host) {
		window.addEventListener("popstate", onHistory);
		window.addEventListener("hashchange", onHistory);
	}
	loadText(urlState());
}

function takeBack() {
	if (steps() > 0)
		history.back();
}
