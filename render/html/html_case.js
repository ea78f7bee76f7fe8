// html_case.js - the first screen: the worst episode's own timeline, what it waited for, and what
// differs from the median episode. A recording without episodes has its flame graph there, one
// that cannot answer says what would.

const BARE_HEIGHT = 40; // of the bar that stays on top
const DIFFERENCES = 6; // rows
const PATH_ROOM = 36; // characters of a name in a call path
const SHARES = 310; // px of the columns before a name
const NARROW_SHARES = 215;

// Those of the chosen threads, if they have any.
function caseEpisodes() {
	const all = head.tail ? head.tail.episodes : [];
	return view.who ? all.filter(isOfChosen) : all;
}

// Asked for, else the worst of those that the headline is of.
function caseEpisode() {
	const all = caseEpisodes(), told = !view.who && head.told ? head.told.rank : 0;
	return all.find((ep) => ep.rank === view.ep) || all.find((ep) => ep.rank === told) || all[0] || null;
}

// What the headline is true of, as a bar.
function shareBar() {
	const {told} = head;
	if (!told || !told.of_ns)
		return null;
	const text = told.count + " of the " + told.of + " worst, " + timeText(told.ns) + " of their " + timeText(told.of_ns);
	const part = el("span", {class: "part"});
	part.style.width = (100 * told.ns / told.of_ns).toFixed(2) + "%";
	return el("div", {class: "told", role: "img", "aria-label": text, title: text}, el("span", {class: "whole-bar"}, part),
		el("span", {class: "number"}, share(told.ns, told.of_ns)), el("span", {class: "dim"}, text));
}

// --- what it waited for, in two lines -------------------------------------------------------

// A function of the program, not of how a runtime or the kernel waits.
let plumbing = null;

function isPlumbing(name) {
	if (!plumbing) {
		plumbing = new Set();
		frames.label.forEach((label, i) => {
			if (frames.part[i])
				plumbing.add(label);
		});
	}
	return plumbing.has(name);
}

// A call path, outermost first, without the plumbing around and inside.
function ownPath(stack) {
	return (stack || []).filter((name, i, all) => !isPlumbing(name) && name !== all[i - 1]);
}

function causeText(x) {
	return {runqueue: "run-queue delay", preempt: "preempted"}[x.cause] || x.cause || x.state || "";
}

function waitedLines(ep) {
	const first = ep.root && ep.root.sentence ? ep.root.sentence : (ep.cause || ep.state || "") + " in " + (ep.function || "?") + "()";
	const path = ownPath(ep.stack || (ep.chain && ep.chain[0] || {}).stack).slice(-4).reverse().map((f) => functionText(f, PATH_ROOM)).join(" \u2039 ");
	const p = placeOf(ep), waker = (ep.chain || [])[1];
	return [first, [causeText(ep) + (path ? " in " + path : ""),
		waker && waker.via === "waker" ? "woken by " + threadText(waker) : null,
		sinceText(p.from) + " after the start"].filter((x) => x).join(" \u00b7 ")];
}

// --- against the median -----------------------------------------------------------------------

function pairOfBars(a, b, color) {
	const bar = (x, cls) => {
		const part = el("span", {class: cls});
		part.style.width = Math.max(100 * x, x > 0 ? 0.5 : 0).toFixed(2) + "%";
		if (cls === "this" && color)
			part.style.background = color;
		return part;
	};
	return el("div", {class: "pair", "aria-hidden": "true"}, bar(a, "this"), bar(b, "median"));
}

// [what, ns in this one, ns in the median one, colour], the largest first.
function statesOf(ep) {
	const m = head.median || {}, sums = new Map();
	const add = (what, color, k, ns) => {
		if (!(ns > 0))
			return;
		const row = sums.get(what) || sums.set(what, [what, 0, 0, color]).get(what);
		row[k] += ns;
	};
	[ep, m].forEach((x, i) => {
		let known = 0;
		for (const {cause, ns} of x.blocked_by || []) {
			add("waiting: " + cause, causeColor(cause), i + 1, ns);
			known += ns;
		}
		add("waiting", meaning("unknown"), i + 1, (x.blocked_ns || 0) - known);
		add("run-queue delay", meaning("runnable"), i + 1, (x.runnable_ns || 0) - (x.preempted_ns || 0));
		add("preempted", meaning("preempted"), i + 1, x.preempted_ns || 0);
		add("running", meaning("running"), i + 1, x.run_ns || 0);
	});
	return [...sums.values()].sort((a, b) => b[1] - a[1] || b[2] - a[2]);
}

// The colour of a cause, as timelines have it.
function causeColor(name) {
	const frame = head.causes.find((f) => frames.label[f] === "[" + name + "]" || frames.label[f] === name);
	return frame === undefined ? meaning(name) : frames.cold[frame];
}

// Functions of the two by how much their shares differ.
function functionsBeside(ep) {
	const g = given.find((x) => x.kind === "tail" && x.episode === ep.rank);
	if (!g)
		return [];
	const {tree} = g, whole = tree.total[0], whole1 = tree.total1[0] || 1;
	const threads = new Set(Array.from(data.row.comm, (frame) => frames.label[frame])); // the outermost row
	return functionsOf(tree, "tail").filter((f) => !isPlumbing(f.name) && !threads.has(f.name) && f.name[0] !== "[")
		.map((f) => [f.name, f.self / whole, f.self1 / whole1]).filter(([, a, b]) => a > 0 || b > 0)
		.sort((a, b) => Math.abs(b[1] - b[2]) - Math.abs(a[1] - a[2]) || (a[0] < b[0] ? -1 : 1)).slice(0, DIFFERENCES);
}

function differencePart(ep) {
	const m = head.median;
	if (!m)
		return null;
	const states = statesOf(ep), functions = functionsBeside(ep);
	const time = (ns) => ns > 0 ? timeText(ns) : "\u2013", part = (x) => x > 0 ? (100 * x).toFixed(x < 0.001 ? 2 : 0) + " %" : "\u2013";
	const row = (name, a, b, x, y, color) => el("tr", {}, el("td", {class: "number"}, a), el("td", {class: "number dim"}, b),
		el("td", {}, pairOfBars(x, y, color)), el("td", {class: "what"}, name));
	return el("table", {class: "differs"}, el("caption", {}, "What differs from the median"),
		el("thead", {}, el("tr", {}, el("th", {class: "number", scope: "col"}, "#" + ep.rank), el("th", {class: "number", scope: "col"}, "median"),
			el("th", {scope: "col"}, el("span", {class: "unseen"}, "shares")), el("th", {scope: "col"}, timeText(ep.duration_ns) + " against " + timeText(m.duration_ns)))),
		el("tbody", {}, states.map(([what, a, b, color]) => row(what, time(a), time(b), a / ep.duration_ns, b / m.duration_ns, color))),
		functions.length ? el("tbody", {class: "functions"}, functions.map(([name, a, b]) => row(differingFunction(name), part(a), part(b), a, b, null))) : null);
}

function differingRoom() {
	const box = document.getElementById("case");
	return window.innerWidth > 900 ? roomFor(box, 0.6 * box.clientWidth + SHARES) : roomFor(box, NARROW_SHARES, LEAST_ROOM / 2);
}

function differingFunction(name) {
	const text = functionText(name, differingRoom());
	return el("button", {class: "link", title: text === name ? null : name, onclick: () => {
		Object.assign(view, {graph: "tail", of: caseEpisode().rank, fn: name});
		goTo("flame");
	}}, text);
}

// The lines of a function that a link of an episode's chain passed through, with the weights of its time.
async function toLines(ep, link, name) {
	const p = placeOf(ep), graph = link.state === "running" && kinds.cpu.has() ? "cpu" : "off";
	choose({from: Math.max(p.from, 0), to: Math.min(p.to, head.span_ns)}, null);
	Object.assign(view, {graph, fn: name, src: name, srcFrame: null});
	await goTo("flame");
	await drawSource();
	document.getElementById("source").scrollIntoView({block: "nearest"});
}

// A frame of such a stack; `link` null: of another episode.
function frameItem(name, ep, link) {
	const isOwn = link && name[0] !== "[" && !isPlumbing(name), text = functionText(name);
	return el("li", {class: isPlumbing(name) ? "dim" : null, title: text === name ? null : name}, isOwn ?
		el("button", {class: "link", title: "its lines, in the time of this episode", onclick: () => toLines(ep, link, name)}, text) : text);
}

// A stack with its plumbing in one row that opens.
function shortStack(title, note, stack, ep, link) {
	if (!stack || !stack.length)
		return null;
	const own = ownPath(stack), rest = stack.length - own.length;
	return el("div", {class: "short"}, el("div", {}, el("strong", {}, title), note ? el("span", {class: "dim"}, " " + note) : null),
		el("details", {}, el("summary", {}, el("span", {class: "path"}, own.slice().reverse().map((f) => functionText(f, PATH_ROOM)).join(" \u2039 ")),
			rest ? el("span", {class: "dim"}, (own.length ? " and " : "all ") + rest + " of the runtime and the kernel") : null),
		el("ol", {}, stack.slice().reverse().map((f) => frameItem(f, ep, link)))));
}

function shortStacks(ep) {
	const m = head.median, how = {waker: "woke it", owner: "held the lock", cpu: "had its CPU"};
	const holds = (l) => ep.holder && ep.holder.way === "lock" && ep.holder.tid === l.tid;
	const said = (x) => timeText(x.duration_ns || x.ns) + " " + causeText(x);
	const self = (ep.chain || [])[0] || ep;
	return [shortStack(threadText(ep) + " waited", said(ep), ep.stack || self.stack, ep, self),
		...(ep.chain || []).slice(1, 3).map((l) => shortStack(threadText(l) + " " + (holds(l) ? how.owner : how[l.via] || ""), didWhat(l), l.stack, ep, l)),
		m ? shortStack("the median, " + threadText(m), said(m), m.stack || ((m.chain || [])[0] || {}).stack, m, null) : null];
}

// --- the episode ------------------------------------------------------------------------------

function stepEpisode(by) {
	const all = caseEpisodes(), i = all.indexOf(caseEpisode());
	showCase(all[(i + by + all.length) % all.length].rank);
}

// Another episode on the first screen.
function showCase(rank) {
	view.ep = rank;
	saveView(true);
	heat.draw();
	stale.add("episodes").add("timeline");
	drawSoon();
	return drawCase();
}

function caseHead(ep) {
	const all = caseEpisodes(), p = placeOf(ep), no = all.indexOf(ep) + 1;
	const told = view.who || !head.told || no > head.told.of ? 0 : head.told.of; // of the headline's
	const button = (text, title, by) => el("button", {title, "aria-label": title, onclick: () => stepEpisode(by)}, text);
	return el("div", {class: "case-head"}, el("span", {class: "stepper"}, button("\u2039", "the episode before (,)", -1),
		el("span", {class: "count", title: "this report has the " + all.length + " longest"}, no + "/" + (told || all.length)), button("\u203a", "the next episode (.)", 1)),
		el("h2", {}, threadText(ep) + ", " + timeText(ep.duration_ns)),
		told && ep.rank === head.told.rank && ep.rank > 1 ? el("span", {class: "dim"}, "the longest of those") : null,
		!told && !view.who && head.told ? el("span", {class: "dim"}, "after the " + head.told.of + " worst") : null,
		el("span", {class: "choices"}, el("button", {onclick: () => choose({from: Math.max(p.from, 0), to: Math.min(p.to, head.span_ns)}, null)}, "Select its time"),
			el("button", {onclick: () => chooseEpisode(ep.rank)}, "All about it")));
}

// What the head alone says of the worst episode, before all else is decoded.
function drawEarly() {
	const all = head.tail ? head.tail.episodes : [], ep = all.find((x) => x.rank === head.told.rank) || all[0];
	if (ep)
		document.getElementById("main").append(el("section", {id: "early"}, shareBar(), el("h2", {}, threadText(ep) + ", " + timeText(ep.duration_ns)),
			el("p", {}, ep.root && ep.root.sentence ? ep.root.sentence : ep.cause || ep.state || "")));
}

let caseShown = null, caseSvg = null; // its picture

// The legends of both timelines show the choice, if they have it.
function showMeaning() {
	for (const svg of [caseSvg, timelineSvg])
		if (svg && svg.timeline.state.only !== view.only)
			svg.timeline.showMeaning(view.only);
}

async function drawCase() {
	const box = document.getElementById("case"), ep = caseEpisode();
	box.classList.toggle("plain", !ep);
	if (!ep && head.tail && view.who) {
		caseShown = null;
		return drawLongest();
	}
	if (!ep)
		return drawNoCase();
	const shown = ep.rank + "/" + caseEpisodes().length;
	if (caseShown === shown)
		return null;
	caseShown = shown;
	const [what, where] = waitedLines(ep), picture = el("div", {class: "picture"});
	replace("case", el("div", {class: "left"}, caseHead(ep), el("p", {class: "what", title: what}, what), el("p", {class: "dim where", title: where}, where), picture),
		el("div", {class: "right"}, differencePart(ep), shortStacks(ep)));
	if (ep.rank <= head.pictures)
		caseSvg = await putPicture(picture, "episode" + ep.rank, {onView: null, isBare: true, onMeaning: chooseMeaning});
	else
		picture.append(el("p", {class: "note"}, "Only the worst " + countText(head.pictures) + " have a picture of their own: select its time, and see Timeline."));
	return null;
}

const LONGEST = 6;

// None of the worst episodes is of the chosen threads: their own longest waits or spans, to select.
function drawLongest() {
	const map = firstOf(maps), all = map === "cpu" ? [] : longestOf(map).slice(0, LONGEST);
	const item = ({t, ns, color}) => {
		const mark = el("span", {class: "swatch"});
		mark.style.background = color;
		return el("li", {}, mark, el("button", {class: "link", onclick: () => choose({from: Math.max(Math.floor(t - ns / 10), 0), to: Math.min(Math.ceil(t + 1.1 * ns), head.span_ns)}, null)},
			timeText(ns)), " from " + sinceText(t));
	};
	replace("case", el("p", {class: "what"}, "None of the " + head.tail.episodes.length + " worst episodes is of " + whoText() + "." +
		(all.length ? " Its own longest " + maps[map].what + ":" : "")), el("ul", {class: "plain longest"}, all.map(item)));
	return null;
}

// What to record instead, to copy.
function lineToRecord(line) {
	const copied = el("span", {class: "dim", "aria-live": "polite"});
	return !line ? null : el("div", {class: "line"}, el("pre", {tabindex: 0}, line), el("button", {onclick: async () => {
		try {
			await navigator.clipboard.writeText(line);
			copied.textContent = "copied";
		} catch (e) {
			copied.textContent = "select it and copy";
		}
	}}, "Copy"), copied);
}

// Without episodes: what the samples say, and what would have to be recorded to say more.
async function drawNoCase() {
	const [why, line] = (head.why_not || "").split("; record with: ");
	const isWrong = head.verdicts.some(([topic, text]) => topic === "CPU time" && text.includes("wrong")), wrong = head.findings.find((f) => f.harm === "wrong");
	const doubt = isWrong && wrong ? el("p", {class: "doubt"}, el("strong", {}, "An answer would be wrong: "), wrong.title) : null;
	const more = why ? el("details", {open: !kinds.cpu.has()}, el("summary", {}, "Waiting cannot be answered: " + why), lineToRecord(line || head.line)) : null;
	if (!kinds.cpu.has()) {
		replace("case", el("p", {class: "answer"}, head.tail ? "Nothing waited long enough to be an episode." : "This recording cannot say what was slow."), doubt, more);
		return;
	}
	const {tree, functions} = await askSum("cpu", {from: 0, to: head.span_ns, band: null}, "");
	const all = functions.sort((a, b) => b.self - a.self || (a.name < b.name ? -1 : 1)), whole = tree.total[0], part = el("span", {class: "part"});
	const named = all.filter((f) => f.self > 0).slice(0, 3).map((f) => functionText(f.name) + " " + share(f.self, whole)).join(", ");
	const first = all[0];
	part.style.width = (first ? 100 * first.self / whole : 0).toFixed(2) + "%";
	replace("case", el("p", {class: "answer"}, "CPU time: " + (named || "none was sampled")), first ? el("div", {class: "told", role: "img",
		"aria-label": first.name + ": " + share(first.self, whole)}, el("span", {class: "whole-bar"}, part),
	el("span", {class: "number"}, share(first.self, whole)), el("span", {class: "dim"}, weighText("cpu", first.self) + " of " + weighText("cpu", whole) + " of " + head.events[view.event].name)) : null, doubt, more);
}
