// html_episodes.js - the worst episodes as `perfkit tail` explains them: a table, and of the
// chosen one the text, the chain and its stacks.

function threadText(x) {
	return x ? (x.comm || "?") + "/" + x.tid : "?";
}

// A moment of the JSON, which counts from the first record, on the page's axis.
function fromOrigin(ns) {
	return Number(BigInt(head.tail.recording.origin_ns) + BigInt(ns) - BigInt(head.from_ns));
}

function placeOf(ep) {
	const from = fromOrigin(ep.start_ns);
	return {from, to: from + ep.duration_ns};
}

// Is an episode of the chosen threads?
function isOfChosen(ep) {
	const chosen = chosenThreads(), no = data.thread.tid.indexOf(ep.tid + 1);
	return !chosen || (no >= 0 && chosen(no, data.thread.comm[no]));
}

// Beside the longest.
function lengthBar(x) {
	const part = el("span", {class: "part"});
	part.style.width = (100 * x).toFixed(1) + "%";
	return el("span", {class: "length", "aria-hidden": "true"}, part);
}

function drawEpisodes() {
	const box = document.getElementById("episodes"), all = head.tail.episodes, s = view.stretch;
	const seen = all.filter((ep) => (!s || (placeOf(ep).to > s.from && placeOf(ep).from < s.to)) && isOfChosen(ep));
	box.textContent = "";
	box.append(wholeNote() || "", table("The " + all.length + " worst episodes (" + head.tail.by + ")" + (s || view.who ? ", " + seen.length + " of them in the selection" : ""),
		["#", "from", "length", unseen("share of the longest"), "thread", "cause", "root"], seen.map((ep) => ({
			attrs: {class: caseEpisode() === ep ? "chosen" : null},
			cells: [el("a", {href: "#", class: "link", "aria-current": caseEpisode() === ep ? "true" : null,
				onclick: (e) => { e.preventDefault(); chooseEpisode(ep.rank); }}, "#" + ep.rank),
				el("span", {title: clockText(placeOf(ep).from)}, sinceText(placeOf(ep).from)), timeText(ep.duration_ns), lengthBar(ep.duration_ns / all[0].duration_ns), threadText(ep), ep.cause || ep.state || "", head.roots[all.indexOf(ep)]]})), [1, 2]));
	dimRows();
	return drawEpisode();
}

async function chooseEpisode(rank) {
	view.ep = rank;
	heat.draw();
	await Promise.all([drawCase(), goTo("episodes")]);
}

// "running", "waiting for a CPU", "blocked (lock)".
function stateText({state, cause}) {
	return {runqueue: "waiting for a CPU", preempt: "preempted"}[cause] || (state || "") + (cause ? " (" + cause + ")" : "");
}

function didWhat(x) {
	const name = x.function && functionText(x.function);
	return stateText(x) + (name ? " in " + name + (name[0] === "[" ? "" : "()") : "");
}

// What the last thread of a chain did, largest first, if it was more than one thing.
function partsOf(ep, link) {
	const parts = link.next_ns ? [] : (ep.shares || []).filter((s) => s.tid === link.tid);
	return parts.length > 1 ? parts : [];
}

function linkText(ep, link) {
	const SHOWN = 3, parts = partsOf(ep, link);
	return !parts.length ? ", " + didWhat(link)
		: ": " + parts.slice(0, SHOWN).map((s) => timeText(s.ns) + " " + didWhat(s)).join(", ") + (parts.length > SHOWN ? ", and smaller parts" : "");
}

function chainList(ep) {
	const p = placeOf(ep), margin = (p.to - p.from) / 10;
	const go = (tid) => () => {
		choose({from: Math.max(0, Math.round(p.from - margin)), to: Math.min(head.span_ns, Math.round(p.to + margin))}, null);
		goTo("timeline");
		goToThread(tid, p.from);
	};
	const how = {self: "", waker: "until woken by ", owner: "lock held by ", cpu: "behind, on its CPU, "};
	return el("ol", {class: "chain"}, (ep.chain || []).map((l) => el("li", {}, how[l.via] || "",
		el("button", {class: "link", title: "show this thread in the timeline", onclick: go(l.tid)}, threadText(l)),
		" " + timeText(l.ns) + linkText(ep, l))));
}

// The application's frames, innermost first; how the kernel and the runtime got there in one line
// that opens.
function stackList(title, {stack, function: telling}, note) {
	if (!stack || !stack.length)
		return null;
	const all = stack.slice().reverse(), own = all.indexOf(telling), cut = own < 3 ? 0 : own;
	const item = (f) => el("li", {title: functionText(f) === f ? null : f}, functionText(f));
	return el("div", {class: "stack"}, el("h4", {}, title), note ? el("p", {class: "note"}, note) : null,
		cut ? el("details", {}, el("summary", {}, cut + " inner frames, from " + functionText(all[cut - 1]) + " on"),
			el("ol", {}, all.slice(0, cut).map(item))) : null,
		el("ol", {start: cut + 1}, all.slice(cut).map(item)));
}

// Its own stack, one of each thread of the chain, and that of an episode as they usually are.
function stacksOf(ep) {
	const m = head.median, how = {waker: "woke it", owner: "held the lock", cpu: "had its CPU"};
	const holds = (l) => ep.holder && ep.holder.way === "lock" && ep.holder.tid === l.tid;
	const time = (l) => {
		const part = partsOf(ep, l).find((s) => didWhat(s) === didWhat(l));
		return (part ? timeText(part.ns) + " of " : "") + timeText(l.ns);
	};
	const links = (ep.chain || []).slice(1).map((l) => stackList(threadText(l) + ", " +
		(holds(l) ? how.owner : how[l.via] || l.state) + ":", l,
		time(l) + " " + stateText(l)));
	const all = [stackList(threadText(ep) + " waited:", ep, timeText(ep.duration_ns) + " " + (ep.cause || ep.state)), ...links,
		m && stackList("The median episode, " + threadText(m) + ":", m, timeText(m.duration_ns) + " " + (m.cause || m.state || ""))];
	return all.some((x) => x) ? el("div", {class: "beside"}, all) : el("p", {}, "None was recorded.");
}

// To the flame graphs that the program made of one episode.
function graphLinks(ep) {
	return given.filter((g) => g.episode === ep.rank).map((g) => el("button", {onclick: () => {
		Object.assign(view, {of: ep.rank, graph: g.kind});
		goTo("flame");
	}}, "Flame graph: " + kinds[g.kind].name.toLowerCase()));
}

let shownEpisode = 0;

function drawEpisode() {
	const box = document.getElementById("episode"), ep = caseEpisode();
	if (shownEpisode === ep.rank && box.firstChild)
		return;
	shownEpisode = ep.rank;
	box.textContent = "";
	const p = placeOf(ep);
	box.append(el("div", {class: "text"}, el("h3", {}, "#" + ep.rank + "  " + threadText(ep) + ", " + timeText(ep.duration_ns)),
		el("p", {class: "choices"}, el("button", {onclick: () => choose({from: Math.max(p.from, 0), to: Math.min(p.to, head.span_ns)}, null)},
			"Select its time in all views"), graphLinks(ep)),
		el("pre", {tabindex: 0}, (head.texts[head.tail.episodes.indexOf(ep)] || "").trim()),
		el("h3", {}, "Chain"), chainList(ep)),
		el("div", {class: "stacks"}, el("h3", {}, "Stacks, innermost frame first"), stacksOf(ep)));
}

// --- pictures that the program drew ------------------------------------------------------------

const pictureTexts = {};

// A timeline of the page, into an element; its <svg>.
async function putPicture(into, id, hooks) {
	pictureTexts[id] = pictureTexts[id] || inflateText(id);
	const doc = new DOMParser().parseFromString(await pictureTexts[id], "image/svg+xml");
	const svg = document.importNode(doc.documentElement, true), {host, root} = island("");
	root.append(svg);
	into.textContent = "";
	into.append(host);
	pictures.timeline(svg, {page, above: BARE_HEIGHT, state: () => "", save: () => {}, steps: () => 0, find: toSearch, ...hooks});
	return svg;
}

let timelineSvg = null, timelineWait = null, timelineTold = null;

async function drawTimeline() {
	const title = document.querySelector("#pane-timeline > .title");
	title.textContent = panes.timeline.name + " ";
	const box = document.getElementById("timeline-box");
	if (!timelineWait)
		timelineWait = putPicture(box, "timeline", {onView: onTimelineView, steps, onThread: (tid) => chooseThread(view.who === "tid:" + tid ? "" : "tid:" + tid), isCut: () => label !== null, onMeaning: chooseMeaning}).then((svg) => { timelineSvg = svg; });
	await timelineWait;
	showMeaning();
	cutTimeline();
	if (!followThreads())
		title.append(el("span", {class: "badge"}, "all threads: it has no row of " + whoText()));
	timelineSvg.timeline.relayout();
	placeStrip();
	markEpisode();
	markCapped(box);
	const s = stretch(), v = timelineSvg.timeline.view(0);
	timelineTold = {from: s.from, to: s.to};
	if (Math.round(v.from) !== s.from || Math.round(v.to) !== s.to)
		timelineSvg.timeline.setView(timelineSvg.timeline.panels[0], s.from, s.to);
}

// In the place of the timeline's plot, whose units are pixels.
function placeStrip() {
	const {width} = timelineSvg.getBoundingClientRect(), {plotX} = timelineSvg.timeline;
	strip.place(plotX, document.getElementById("strip").parentNode.clientWidth - width + PLOT_PAD,
		new Set(timelineSvg.timeline.panels[0].rows.filter((row) => row.thread).map((row) => row.thread.tid)));
}

const PLOT_PAD = 10; // conf.pad of the timeline

// The episode of the first screen is selected, so that the wakeups that ended it are drawn.
let markedEpisode = 0;

function markEpisode() {
	const ep = caseEpisode(), rank = ep ? ep.rank : 0;
	if (rank && rank !== markedEpisode)
		timelineSvg.timeline.markThread(ep.tid, Math.max(placeOf(ep).from, 0));
	markedEpisode = rank;
}

// Rows show what has the chosen label.
let cutFor = null;

function cutTimeline() {
	const text = label ? view.label : null;
	if (text !== cutFor)
		timelineSvg.timeline.cut();
	cutFor = text;
}

// Only the rows of the chosen threads; false: it has none of them, and shows all.
let rowsFor = "", hasRows = true;

function followThreads() {
	if (rowsFor !== view.who) {
		const chosen = chosenThreads(), no = (tid) => data.thread.tid.indexOf(tid + 1);
		rowsFor = view.who;
		hasRows = timelineSvg.timeline.only(chosen && ((tid) => no(tid) >= 0 && chosen(no(tid), data.thread.comm[no(tid)])));
	}
	return hasRows;
}

// A zoom in the timeline selects that stretch everywhere.
function onTimelineView(from, to) {
	const s = {from: Math.round(from), to: Math.round(to)};
	if (timelineTold && Math.abs(timelineTold.from - s.from) < 20 && Math.abs(timelineTold.to - s.to) < 20)
		return;
	timelineTold = s;
	clearTimeout(viewTimer);
	viewTimer = setTimeout(() => choose(s.from === 0 && s.to === head.span_ns ? null : s, null), 150);
}

async function goToThread(tid, t) {
	await drawTimeline();
	timelineSvg.timeline.showThread(tid, Math.max(t, 0));
}
