// html_bar.js - the bar that stays on top: programs, the selection, the search, and all keys on one
// card.

const CHIPS = 5; // programs, most off-CPU time and samples first

// Programs whose threads have samples or waits here, by how much.
let programsSeen = null;

function programs() {
	if (programsSeen)
		return programsSeen;
	const sums = new Float64Array(data.thread.flags.length), add = (thread, x) => {
		if (thread >= 0)
			sums[thread] += x;
	};
	const w = data.wait, s = data.sample, byName = new Map();
	for (let i = 0; i < w.n; i++)
		if (!(w.bits[i] & (BIT.out | BIT.hidden | BIT.unclear)))
			add(w.thread[i], 1e6 + w.blocked[i] + w.rest[i]);
	for (let i = 0; i < s.t.length; i++)
		add(s.thread[i] - 1, 1e6);
	sums.forEach((x, thread) => {
		if (x && !(data.thread.flags[thread] & IDLE_TASK) && isShown(thread))
			byName.set(programOf(thread), (byName.get(programOf(thread)) || 0) + x);
	});
	programsSeen = [...byName].sort((a, b) => b[1] - a[1] || (a[0] < b[0] ? -1 : 1)).map(([name]) => name);
	return programsSeen;
}

function drawChips() {
	const all = programs(), chosen = view.who.startsWith("program:") ? view.who.slice(8) : null;
	const chip = (name, who) => el("button", {class: "chip", "aria-pressed": String(view.who === who), title: who ? "only " + name : "all programs of this report",
		onclick: () => chooseProgram(who)}, name.length > 22 ? name.slice(0, 21) + "\u2026" : name);
	const shown = all.slice(0, CHIPS).concat(chosen !== null && all.indexOf(chosen) >= CHIPS ? [chosen] : []);
	replace("chips", all.length < 2 ? (all[0] ? el("span", {class: "chip only"}, all[0]) : null) :
		[chip("all", ""), ...shown.map((name) => chip(name, "program:" + name)), all.length > shown.length ? moreChips(all) : null]);
}

function moreChips(all) {
	return el("select", {"aria-label": "other programs", class: "chip", onchange: (e) => chooseProgram("program:" + e.target.value)},
		el("option", {value: "", selected: true}, "+" + (all.length - CHIPS)), all.slice(CHIPS).map((name) => el("option", {value: name}, name)));
}

// Headline, episodes, map and graphs of one program.
function chooseProgram(who) {
	chooseThread(view.who === who ? "" : who);
}

// With a program chosen, the headline is of its worst episode; the recording's own is kept.
let ownAnswer = null;

function drawHeadline() {
	const answer = document.getElementById("answer"), bar = document.querySelector(".told");
	if (!answer || !head.tail)
		return;
	ownAnswer = ownAnswer ?? answer.textContent;
	const own = view.who ? head.tail.episodes.filter(isOfChosen) : [];
	if (bar)
		bar.hidden = view.who !== "";
	const roots = new Map();
	for (const ep of own) {
		const root = head.roots[head.tail.episodes.indexOf(ep)], x = roots.get(root) || [0, 0];
		roots.set(root, [x[0] + 1, x[1] + ep.duration_ns]);
	}
	const [first] = [...roots].sort((a, b) => b[1][1] - a[1][1]);
	answer.textContent = !view.who ? ownAnswer : visible(!own.length ? "None of the " + head.tail.episodes.length + " worst is of " + whoText() + "." :
		own.length + " of the " + head.tail.episodes.length + " worst are of " + whoText() + "; " + first[1][0] + " of them: " + first[0]);
}

function topBar() {
	const nav = el("nav", {id: "nav", "aria-label": "Views"}, shownPanes().map((k) => el("button", {id: "tab-pane-" + k, "aria-current": "false",
		onclick: () => goTo(k)}, panes[k].name)));
	const find = el("input", {id: "find", type: "search", placeholder: "Search ( / )", "aria-label": "Search functions and threads in all views, regular expression",
		autocomplete: "off", oninput: () => findSoon(find.value), onkeydown: (e) => onFindKey(e, find)});
	return el("div", {id: "bar", role: "region", "aria-label": "Selection"}, el("div", {id: "chips"}), el("div", {id: "selected"}), nav, find,
		el("button", {id: "help-button", title: "all keys and clicks (?)", "aria-label": "Help", onclick: showHelp}, "?"));
}

// --- the search, in all views --------------------------------------------------------------

let findTimer = 0;

function toSearch() {
	document.getElementById("find").focus();
}

function findSoon(text) {
	clearTimeout(findTimer);
	findTimer = setTimeout(() => findIn(text), text ? 120 : 0);
}

function findIn(text) {
	view.find = text;
	for (const k in flames)
		flames[k].svg.flame.search(text);
	if (timelineSvg)
		timelineSvg.timeline.search(text);
	dimRows();
}

// Rows of tables that do not match are dim.
function dimRows() {
	let re = null;
	try {
		re = view.find ? new RegExp(view.find, "i") : null;
	} catch (e) {
		re = null;
	}
	document.getElementById("find").setAttribute("aria-invalid", String(Boolean(view.find) && !re));
	for (const row of document.querySelectorAll("#sandwich tbody tr, #episodes tbody tr, #overview tbody tr, #case .functions tr"))
		row.classList.toggle("unmatched", re !== null && !re.test(row.textContent));
}

function onFindKey(e, input) {
	if (e.key === "Escape") {
		input.value = "";
		findIn("");
		input.blur();
	} else if (e.key === "Enter") {
		clearTimeout(findTimer);
		if (view.find !== input.value)
			findIn(input.value);
		const f = flames[flameKey(view.graph)];
		if (f && !f.host.hidden)
			f.svg.flame.nextHit(e.shiftKey ? -1 : 1);
	} else {
		return;
	}
	e.stopPropagation();
	e.preventDefault();
}

// --- the card of keys ----------------------------------------------------------------------

const KEYS = [
	["Everywhere", [["/", "search"], ["Esc", "close this, clear the search, then the selection"], ["?", "this card"], ["Back", "one step back"]]],
	["Worst episode", [[", and .", "the one before, the next"], ["click on a triangle or dot of the map", "that episode"]]],
	["Map", [["drag", "select time"], ["Shift-drag", "select time and lengths"], ["click beside", "clear"], ["arrows, Shift-arrows, Enter", "the same with the keyboard"]]],
	["Timeline", [["drag, also in the strip above", "select that time"], ["Ctrl-wheel, w and s, + and -", "zoom"], ["a and d, Left and Right, Shift-drag", "pan"],
		["click", "select an interval"], ["Enter", "zoom to it"], ["g", "go to its waker"], ["h", "who held its lock or had its CPU"],
		[", and .", "interval before, after"], ["t, x, X", "pin, hide, show rows"], ["click on a name", "only that thread"], ["click on the legend", "only that, in all views"], ["A, B", "mark moments"], ["u", "undo"]]],
	["Flame graph", [["click", "zoom"], ["Shift-click, f", "callers and callees"], ["Alt-click", "leave a function out"], ["k, or a click on a thin row", "show plumbing, fold it"], ["u", "undo"], ["n, p", "next hit, previous"]]],
];

function showHelp() {
	let card = document.getElementById("help");
	if (!card) {
		card = el("dialog", {id: "help", "aria-label": "Keys and clicks"}, el("form", {method: "dialog"}, el("button", {}, "Close (Esc)")),
			el("div", {class: "keys"}, KEYS.map(([title, keys]) => el("section", {}, el("h4", {}, title), el("dl", {}, keys.map(([key, what]) =>
				el("div", {}, el("dt", {}, key), el("dd", {}, what))))))));
		document.body.append(card);
	}
	if (!card.open)
		card.showModal();
}

// Esc: the search first, then the selection.
function pressEscape() {
	const find = document.getElementById("find");
	if (find.value) {
		find.value = "";
		findIn("");
	} else if (isSelected()) {
		showAll();
	}
}
