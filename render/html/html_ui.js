// html_ui.js - the page: what was recorded, the heat map, the panes, and the one view they share,
// which the URL's fragment keeps.

// The chosen stretch and band (null: all), the pane, what its parts show.
const view = {stretch: null, band: null, pane: "timeline", map: "", graph: "", event: 0, ep: 0, of: 0, who: "", only: "", label: "", fn: "", src: "", srcFrame: null, sort: "self",
	flame: {}, tree: null, functions: []};

// The parts of the workspace, from top to foot.
const panes = {
	timeline: {name: "Timeline", has: () => head.why_not === null, draw: drawTimeline},
	flame: {name: "Flame graph", has: () => Object.keys(kinds).some((k) => kinds[k].has()), draw: drawFlamePane},
	episodes: {name: "Episodes", has: () => head.tail && head.tail.episodes.length > 0, draw: drawEpisodes},
	overview: {name: "Overview", has: () => true, draw: drawOverview},
	sites: {name: "Wait sites", has: () => head.sites !== undefined, draw: drawSites},
};

let heat = null, strip = null, drawMs = 0;

function stretch() {
	return view.stretch || {from: 0, to: head.span_ns};
}

function stretchText(s) {
	return timeText(s.to - s.from) + " from " + sinceText(s.from) + (s.band ? ", waits of " + timeText(s.band.low) + " to " +
		timeText(s.band.high) : "");
}

// --- the view ------------------------------------------------------------------------------------

let viewTimer = 0; // of a zoom that is not yet selected

// Select a stretch (null: all) and a band of lengths, in every pane.
function choose(s, band) {
	clearTimeout(viewTimer);
	const isAll = !s || s.to <= s.from || (s.from <= 0 && s.to >= head.span_ns);
	view.stretch = isAll ? null : s;
	view.band = band;
	redraw();
	saveView(true);
}

function viewText() {
	const q = new URLSearchParams();
	const put = (key, value, usual) => { if (value !== usual) q.set(key, value); };
	if (view.stretch)
		q.set("t", view.stretch.from + "," + view.stretch.to);
	if (view.band)
		q.set("band", view.band.low + "," + view.band.high);
	put("pane", view.pane, firstOf(panes));
	put("map", view.map, firstOf(maps));
	put("graph", view.graph, firstOf(kinds));
	put("event", view.event, firstEvent());
	put("ep", view.ep, 0);
	put("of", view.of, 0);
	put("who", view.who, "");
	put("only", view.only, "");
	put("label", view.label, head.label || "");
	put("fn", nameId(view.fn), "");
	put("src", nameId(view.src), "");
	put("sort", view.sort, "self");
	for (const kind in view.flame)
		if (view.flame[kind])
			q.set("flame-" + kind, view.flame[kind]);
	return q.toString();
}

let savedText = null;

function saveView(isNew) {
	const text = viewText();
	if (text === savedText)
		return;
	savedText = text;
	try {
		history[isNew ? "pushState" : "replaceState"]({step: steps() + (isNew ? 1 : 0)}, "", "#" + text);
	} catch (e) {
		location.hash = text;
	}
	markUndo();
}

// How many views of the page Back can take back.
function steps() {
	return history.state && history.state.step || 0;
}

// The pictures' Undo is the page's.
function markUndo() {
	for (const key in flames)
		flames[key].svg.flame.setButtons();
	if (timelineSvg)
		timelineSvg.timeline.setButtons();
}

// Of a recording that tells of spans or waits these first.
function firstOf(table) {
	if (head.tail && table.span && table.span.has())
		return "span";
	if (head.tail && table.off && table.off.has())
		return "off";
	return Object.keys(table).find((k) => table[k].has()) || Object.keys(table)[0];
}

// How many samples each event has.
let samplesByEvent = null;

function eventCounts() {
	if (!samplesByEvent) {
		samplesByEvent = new Float64Array(head.events.length + 1);
		const {event} = data.sample;
		for (let i = 0; i < event.length; i++)
			samplesByEvent[event[i]]++;
	}
	return samplesByEvent;
}

// The event of most samples.
function firstEvent() {
	return eventCounts().indexOf(Math.max(...eventCounts()));
}

function pairOf(text) {
	const [a, b] = (text || "").split(",").map(Number);
	return b > a && a >= 0 ? [a, b] : null;
}

function loadView() {
	const q = new URLSearchParams(location.hash.slice(1)), t = pairOf(q.get("t")), band = pairOf(q.get("band"));
	const known = (table, name) => table[name] && table[name].has() ? name : firstOf(table);
	view.stretch = t && t[1] <= head.span_ns ? {from: t[0], to: t[1]} : null;
	view.band = band ? {low: band[0], high: band[1]} : null;
	view.ep = Number(q.get("ep")) || 0;
	view.pane = known(panes, q.get("pane"));
	view.map = known(maps, q.get("map"));
	view.graph = known(kinds, q.get("graph"));
	view.event = head.events[q.get("event")] ? Number(q.get("event")) : firstEvent();
	view.of = Number(q.get("of")) || 0;
	view.who = q.get("who") || "";
	view.only = q.get("only") || "";
	const asked = q.get("label") ?? (head.label || "");
	view.label = chooseLabel(asked) ? asked : "";
	view.fn = nameOf(q.get("fn") || "");
	view.src = nameOf(q.get("src") || "");
	view.srcFrame = null;
	view.sort = q.get("sort") === "total" ? "total" : "self";
	view.flame = {};
	for (const [key, text] of q)
		if (key.startsWith("flame-"))
			view.flame[key.slice(6)] = text;
	for (const key in flames)
		flames[key].svg.flame.load(view.flame[key] || "");
	savedText = viewText();
}

// --- parts ---------------------------------------------------------------------------------------

// Buttons of which one is chosen, as a list of tabs.
function tabs(label, all, chosen, pick, panel) {
	const names = Object.keys(all).filter((k) => all[k].has());
	const list = el("div", {role: "tablist", "aria-label": label, class: "tabs"}, names.map((k) => el("button", {role: "tab",
		id: "tab-" + panel + "-" + k, "aria-controls": panel, "aria-selected": String(k === chosen), tabindex: k === chosen ? 0 : -1,
		onclick: () => pick(k)}, all[k].name)));
	list.addEventListener("keydown", (e) => {
		const by = {ArrowLeft: -1, ArrowRight: 1}[e.key];
		if (!by)
			return;
		e.preventDefault();
		const next = names[(names.indexOf(chosen) + by + names.length) % names.length];
		pick(next);
		document.getElementById("tab-" + panel + "-" + next).focus();
	});
	return list;
}

function replace(id, ...children) {
	const e = document.getElementById(id);
	e.textContent = "";
	e.append(...children.flat().filter((c) => c !== null));
}

const LEAST_WIDTH = 200; // of the map: a hidden page has none, nor while it is captured

function drawHeat() {
	const box = document.getElementById("heat-box");
	if (!maps[view.map].has()) {
		document.getElementById("map").hidden = true;
		drawSelected();
		return;
	}
	replace("heat-tabs", tabs("Heat map", maps, view.map, (k) => {
		view.map = k;
		drawHeat();
		saveView(false);
	}, "heat-box"));
	heat.make(view.map, Math.max(box.clientWidth, LEAST_WIDTH));
	heat.draw();
	replace("heat-keys", dotKeys(heat.dots));
	heat.says("");
	drawSelected();
}

// Every value there is, as --label takes it; the most common ones first.
let labelTexts = null;

function labelChoices() {
	if (labelTexts)
		return labelTexts;
	const seen = new Map();
	head.labels.forEach((key, no) => {
		const count = (values) => values.forEach((v) => {
			if (v)
				seen.set(key + "=" + strings[v], (seen.get(key + "=" + strings[v]) || 0) + 1);
		});
		count(data["piece" + no].value);
		count(data.sample["label" + no]);
		count(data.span["label" + no]);
	});
	labelTexts = [...seen].sort((a, b) => b[1] - a[1] || (a[0] < b[0] ? -1 : 1)).map(([text]) => text);
	return labelTexts;
}

function pickLabel(text) {
	const input = document.getElementById("label"), known = chooseLabel(text);
	input.setAttribute("aria-invalid", String(!known));
	view.label = known ? text : "";
	drawHeat();
	showPane();
	saveView(true);
}

// What is in spans, or below functions, with a label: in every pane.
function labelPart() {
	const all = labelChoices().slice(0, LABELS_LISTED);
	return !labelChoices().length ? null : el("label", {class: "label"}, "label ", el("input", {id: "label", list: "labels", value: view.label,
		placeholder: "KEY=VALUE", autocomplete: "off", size: 16, onchange: (e) => pickLabel(e.target.value)}),
		el("datalist", {id: "labels"}, all.map((text) => el("option", {value: text}))),
		view.label ? el("button", {onclick: () => { document.getElementById("label").value = ""; pickLabel(""); }}, "All labels") : null);
}

const LABELS_LISTED = 500;

// For a shell: quotes in the value stay in it.
function labelOption() {
	return view.label ? " --label '" + view.label.replaceAll("'", "'\\''") + "'" : "";
}

// What the program computed: the label chosen in the page does nothing to it.
function wholeNote() {
	const made = head.label || "", of = made ? "of " + made + ", with which this report was made" : "of all threads";
	return view.label === made ? null : el("p", {class: "note whole"}, view.label ? "These are " + of + ": the label " + view.label + " is not applied here." :
		"These are " + of + ".");
}

// Whom the views are about: "server/123", "of redis-server", "" for all.
function whoText() {
	const [, by, what] = /^(comm|tid|cgroup|program):(.*)$/s.exec(view.who) || [];
	const no = by === "tid" ? data.thread.tid.indexOf(Number(what) + 1) : -1;
	return !by ? "" : no >= 0 ? strings[data.thread.name[no]] + "/" + what : by === "tid" ? "thread " + what : what;
}

// The option that chooses the same threads.
function whoOption() {
	const [, by, what] = /^(comm|tid|cgroup|program):(.*)$/s.exec(view.who) || [], word = (text) => "'" + text.replaceAll("'", "'\\''") + "'";
	const pids = () => [...new Set(Array.from(data.thread.pid).filter((pid, i) => programOf(i) === what && pid > 1))].map((pid) => pid - 1).join();
	return !by ? "" : by === "tid" ? " --tid " + what : by === "program" ? " --pid " + pids() : " --" + by + " " + word(what);
}

function isSelected() {
	return Boolean(view.stretch || view.band || view.who || view.only || view.label);
}

// What of the recording is seen, with the options that show the same on the command line.
function drawSelected() {
	const s = view.stretch, time = s ? "--time " + clockText(s.from) + "," + clockText(s.to) : "", said = [whoText(), view.only, view.label].filter((x) => x).join(", ");
	const options = (time + whoOption() + labelOption()).trim();
	replace("selected", isSelected() ? [
		el("strong", {}, (said ? said + (s || view.band ? ", " : "") : "") + (s || view.band ? stretchText({...stretch(), band: view.band}) : "")),
		options ? el("code", {title: "options of perfkit that choose the same" + (view.band || view.only ? ", but for " + (view.band ? "the lengths" : view.only) : "")}, options) : null,
		el("button", {class: "clear", title: "show all (Esc)", onclick: showAll}, "Show all \u00d7")] :
		[...wholeText(), el("span", {class: "hint dim"}, "Drag over the map: time. Shift-drag: also lengths.")], labelPart());
	drawChips();
	showMeaning();
}

// All there is; of a report made with --time, where that lies in the recording.
function wholeText() {
	const {before_ns: before, span_ns: span, after_ns: after} = head, all = before + span + after, part = el("span", {class: "part"});
	if (!before && !after)
		return [el("span", {class: "dim"}, "All of " + timeText(span))];
	part.style.marginLeft = (100 * before / all).toFixed(2) + "%";
	part.style.width = Math.max(100 * span / all, 1).toFixed(2) + "%";
	return [el("span", {}, timeText(span) + " from " + sinceText(0) + " of " + timeText(all)),
		el("span", {class: "whole-bar cut", title: "--time " + clockText(0) + "," + clockText(span)}, part)];
}

// Nothing is selected any more.
function showAll() {
	const input = document.getElementById("label"), was = view.label || view.who || view.only;
	view.who = view.only = "";
	if (was) {
		drawCase();
		drawHeadline();
	}
	if (input && view.label) {
		view.label = input.value = "";
		chooseLabel("");
	}
	if (was)
		drawHeat();
	choose(null, null);
}

// A box of limited height gets a button that shows all of it.
function markCapped(box) {
	const is = box.classList.contains("open") || box.scrollHeight > box.clientHeight + 8;
	let button = box.nextElementSibling;
	if (!button || !button.classList.contains("show-all"))
		box.after(button = el("button", {class: "show-all", "aria-controls": box.id, onclick: () => {
			box.classList.toggle("open");
			markCapped(box);
		}}));
	button.hidden = !is;
	button.textContent = box.classList.contains("open") ? "Show less" : "Show all";
}

// In grey: a selection does nothing to this.
function wholeBadge() {
	return isSelected() ? el("span", {class: "badge"}, "whole recording") : null;
}

// --- overview --------------------------------------------------------------------------------------

// By key: the name, whose colour it has, and whether it is hatched: unclear is blocked, hidden unknown.
const STATES = [["run", "running", "running"], ["blocked", "blocked", "blocked"], ["unclear", "unclear", "blocked", true], ["runnable", "runnable", "runnable"],
	["preempted", "preempted", "preempted"], ["unknown", "unknown", "unknown"], ["hidden", "hidden", "unknown", true]];

function stateFill(of, isHatched) {
	const color = meaning(of);
	return isHatched ? "repeating-linear-gradient(45deg, " + color + " 0 2px, transparent 2px 4px)" : color;
}

function barOf(sum, whole) {
	const said = STATES.filter(([key]) => sum[key] > 0).map(([key, name]) => name + " " + timeText(sum[key])).join(", ");
	return el("div", {class: "bar", role: "img", title: said, "aria-label": said}, STATES.map(([key, , of, isHatched]) => {
		const part = el("span", {});
		part.style.width = (100 * sum[key] / whole).toFixed(3) + "%";
		part.style.background = stateFill(of, isHatched);
		return part;
	}));
}

function someTime(ns) {
	return ns ? timeText(ns) : "";
}

function threadTable() {
	const s = stretch(), sums = sumThreads(s.from, s.to), whole = s.to - s.from, isChosen = chosenThreads();
	const busy = (x) => x.run + x.runnable + x.preempted;
	if (isChosen)
		sums.threads = sums.threads.filter((x) => isChosen(x.thread, data.thread.comm[x.thread]));
	const shown = sums.threads.sort((a, b) => busy(b) - busy(a) || a.thread - b.thread).slice(0, 30);
	const has = (keys) => keys.filter((key) => shown.some((x) => x[key])), first = has(["unclear"]), last = has(["unknown", "hidden"]);
	const rows = shown.map((x) => {
		const t = data.thread, i = x.thread, some = (keys) => keys.map((key) => someTime(x[key]));
		return [threadLink(t.tid[i] - 1, strings[t.name[i]] + "/" + (t.tid[i] - 1)), barOf(x, whole), timeText(x.run), timeText(x.blocked), ...some(first),
			timeText(x.runnable + x.preempted), ...some(last)];
	});
	const key = el("p", {class: "legend"}, STATES.map(([, name, of, isHatched]) => {
		const swatch = el("span", {class: "swatch"});
		swatch.style.background = stateFill(of, isHatched);
		return el("span", {}, swatch, name);
	}));
	return [el("div", {}, table("Threads" + (view.stretch ? " in the selection" : "") + (sums.threads.length > shown.length ? ", the " + shown.length +
		" busiest of " + sums.threads.length : ""), ["thread", "of " + timeText(whole), "running", "blocked", ...first, "run-queue delay", ...last],
		rows, [2, 3, 4, 5, 6, 7]), key), cpuTable(sums.cpus, whole)];
}

// All views of one thread; the same again: of all.
function threadLink(tid, text) {
	const who = "tid:" + tid;
	return el("button", {class: "link", "aria-pressed": String(view.who === who), title: "only this thread in all views", onclick: () => chooseThread(view.who === who ? "" : who)}, text);
}

function cpuTable(cpus, whole) {
	const rows = [...cpus].map((ns, i) => ["CPU " + i, barOf({run: ns}, whole), timeText(ns), share(ns, whole)]);
	return rows.length ? table("CPUs: time that threads ran" + (view.who ? " (all of them)" : ""), ["CPU", "of " + timeText(whole), "busy", "share"], rows, [2, 3]) : null;
}

// What the worst episodes rest on.
function groupTable() {
	const whole = head.groups.reduce((sum, g) => sum + g.ns, 0);
	return !head.groups.length ? null : table("Roots of the " + head.tail.episodes.length + " worst episodes", ["root", "count", "time", "share"],
		head.groups.map((g) => [episodeLink(g.rank, g.root), countText(g.count), timeText(g.ns), share(g.ns, whole)]), [1, 2, 3]);
}

function episodeLink(rank, text) {
	return el("a", {href: "#ep=" + rank, class: "link", title: "with its stacks",
		onclick: (e) => { e.preventDefault(); view.ep = 0; chooseEpisode(rank); }}, text);
}

function percentileTable() {
	const p = head.tail.population, cells = [["p50", p.p50_ns], ["p90", p.p90_ns], ["p99", p.p99_ns], ["p99.9", p.p999_ns],
		["p99.99", p.p9999_ns], ["max", p.max_ns]];
	return table("Lengths of " + countText(p.count) + " episodes (" + head.tail.by + ")", cells.map(([name]) => name),
		[cells.map(([, ns]) => ns === null ? "\u2013" : timeText(ns))], [0, 1, 2, 3, 4, 5]);
}

function histogram() {
	const most = Math.max(...head.lengths.map((x) => x[2]), 1);
	const bars = head.lengths.map(([from, to, n]) => {
		const bar = el("span", {title: timeText(from) + " to " + timeText(to) + ": " + countText(n)});
		bar.style.height = (100 * Math.log(1 + n) / Math.log(1 + most)).toFixed(1) + "%";
		return bar;
	});
	const first = head.lengths[0], last = head.lengths[head.lengths.length - 1];
	return !first ? null : el("figure", {}, el("div", {class: "bars", role: "img",
		"aria-label": "histogram of lengths from " + timeText(first[0]) + " to " + timeText(last[1])}, bars),
		el("figcaption", {}, timeText(first[0]) + " \u2026 " + timeText(last[1]) + ", steps of a half power of two; height: logarithm of the count"));
}

function findingItem(f) {
	return el("li", {class: f.harm}, el("strong", {}, f.harm + ": "), f.title, el("br", {}), f.spoils,
		f.remedy ? [el("br", {}), "Remedy: ", f.remedy] : null);
}

function doctorPart() {
	const verdicts = el("ul", {class: "plain"}, head.verdicts.map(([topic, text]) => el("li", {}, el("strong", {}, topic + ": "), text)));
	const found = head.findings.length ? el("details", {open: head.findings.some((f) => f.harm === "wrong")},
		el("summary", {}, head.findings.length + (head.findings.length === 1 ? " finding" : " findings")),
		el("ul", {class: "findings"}, head.findings.map(findingItem)),
		head.line ? el("p", {}, "All together: ", el("code", {}, head.line)) : null) : el("p", {}, "Nothing was found that limits an answer.");
	return [el("h3", {}, "Can this recording answer? ", wholeBadge()), verdicts, found];
}

const HOT = 10; // functions of the overview, and threads

// Where the samples fell: functions, and where no switches were recorded, threads.
function samplesByThread() {
	const s = data.sample, {from, to} = stretch(), sums = new Map(), t = data.thread, chosen = chosenThreads();
	for (let i = firstWhere(0, s.t.length, (k) => s.t[k] >= from); i < s.t.length && s.t[i] <= to; i++)
		if (s.event[i] === view.event && hasLabel(s, i) && (!chosen || chosen(s.thread[i] - 1, data.row.comm[s.row[i]])))
			sums.set(s.thread[i], (sums.get(s.thread[i]) || 0) + s.weight[i]);
	const all = [...sums].sort((a, b) => b[1] - a[1] || a[0] - b[0]), whole = all.reduce((sum, [, x]) => sum + x, 0);
	return table("Threads with the most " + kinds.cpu.what() + (all.length > HOT ? ", " + HOT + " of " + all.length : ""), ["thread", "weight", "share"],
		all.slice(0, HOT).map(([no, x]) => [no ? strings[t.name[no - 1]] + "/" + (t.tid[no - 1] - 1) : "unknown", weighText("cpu", x), share(x, whole)]), [1, 2]);
}

function toFunction(name) {
	Object.assign(view, {graph: "cpu", fn: name});
	goTo("flame");
}

// Show a part of the workspace, and go there.
function goTo(pane) {
	view.pane = pane;
	const drawn = showPane();
	saveView(true);
	document.getElementById("pane-" + pane).scrollIntoView({block: "start"});
	return drawn;
}

let hotAsked = 0;

async function drawHot(box) {
	const no = ++hotAsked, {tree, functions} = await askSum("cpu", {...stretch(), band: null}, view.who);
	if (no !== hotAsked)
		return;
	const all = functions.sort((a, b) => b.self - a.self || (a.name < b.name ? -1 : 1)), whole = tree.total[0];
	box.append(table("Functions with the most " + kinds.cpu.what(), ["function", "self", unseen("share"), "total", unseen("share")], all.slice(0, HOT).map((f) =>
		[el("button", {class: "link", title: functionText(f.name) === f.name ? "in the flame graph" : f.name, onclick: () => toFunction(f.name)}, functionText(f.name)), weighText("cpu", f.self),
			share(f.self, whole), weighText("cpu", f.total), share(f.total, whole)]), [1, 2, 3, 4]));
	if (!data.run.any)
		box.append(samplesByThread());
}

function lossPart() {
	const l = data.loss, names = ["lost records", "missing switches", "throttled", "records out of order"];
	const rows = Array.from(l.t).map((t, i) => [sinceText(t), timeText(l.ns[i]), l.cpu[i] ? "CPU " + (l.cpu[i] - 1) : "any CPU",
		names[l.kind[i]] || "", countText(l.count[i])]);
	return rows.length ? table("What is missing", ["from", "length", "where", "what", "count"], rows.slice(0, 50), [0, 1, 4]) : null;
}

function drawOverview() {
	const parts = [doctorPart()];
	if (head.tail)
		parts.push(wholeNote(), wholeBadge(), groupTable(), el("div", {class: "beside"}, percentileTable(), histogram()));
	if (data.run.any)
		parts.push(threadTable());
	const hot = el("div", {id: "hot", class: "beside"});
	parts.push(kinds.cpu.has() ? hot : null, lossPart());
	replace("overview", parts.flat(2).filter((x) => x));
	dimRows();
	return kinds.cpu.has() ? drawHot(hot) : null;
}

// --- the other panes -------------------------------------------------------------------------------

let choicesOf = ""; // what the tabs and choices above the graph show

function drawFlamePane() {
	const isGiven = kinds[view.graph].given, of = JSON.stringify([view.graph, view.who, view.only, view.of, view.event, view.label, isSelected()]);
	if (choicesOf !== of)
		drawChoices(isGiven);
	choicesOf = of;
	drawSource();
	return drawFlame();
}

function drawChoices(isGiven) {
	const isOne = Object.values(kinds).filter((kind) => kind.has()).length < 2;
	replace("flame-tabs", isOne ? null : tabs("Flame graph", kinds, view.graph, (k) => {
		view.graph = k;
		drawFlamePane();
		saveView(true);
	}, "flame"), el("p", {class: "choices"}, isGiven ? episodeChoice() : threadChoice(),
		view.graph === "cpu" && head.events.length > 1 ? eventChoice() : null,
		isGiven ? el("span", {class: "note"}, kinds[view.graph].what(), " ", wholeBadge()) : null,
		view.graph === "cpu" && !isRunningMeant() ? el("span", {class: "badge"}, "all samples: none is of " + view.only) : null), isGiven ? wholeNote() : null);
}

// A list of [value, text] to choose from.
function choice(label, options, chosen, pick) {
	return el("label", {}, label + " ", el("select", {onchange: (e) => {
		pick(e.target.value);
		saveView(true);
	}}, options.map(([value, text]) => el("option", {value, selected: String(value) === String(chosen)}, text))));
}

function eventChoice() {
	const events = head.events.map((ev, i) => [i, ev.name]).filter(([i]) => eventCounts()[i]);
	return choice("event", events, view.event, (i) => {
		view.event = Number(i);
		drawFlame();
		drawSource();
		drawHeat();
	});
}

function episodeChoice() {
	const of = given.filter((g) => g.kind === view.graph).map((g) => [g.episode, g.episode ? "#" + g.episode + "  " +
		threadText(head.tail.episodes[g.episode - 1]) : view.graph === "tail" ? "all the worst episodes" : "the whole recording"]);
	return choice("of", of, givenOf(view.graph).episode, (i) => {
		view.of = Number(i);
		drawFlame();
	});
}

// Cgroups with the number of their threads, also folders that several are in.
function cgroupChoices() {
	const count = new Map(), names = new Map(head.cgroups.map(({path, name}) => [path, name]));
	data.thread.cgroup.forEach((no, i) => {
		const {path} = head.cgroups[no], isCounted = isShown(i) && !(data.thread.flags[i] & IDLE_TASK);
		for (let at = path.length; at > 0 && isCounted; at = path.lastIndexOf("/", at - 1))
			count.set(path.slice(0, at), (count.get(path.slice(0, at)) || 0) + 1);
	});
	const all = [...count].sort((a, b) => a[0] < b[0] ? -1 : 1);
	const isOther = ([path, n]) => names.has(path) || !all.some(([below, m]) => m === n && below !== path && isInside(below, path));
	return all.filter(isOther).map(([path, n]) =>
		["cgroup:" + path, "cgroup " + (names.get(path) || path) + " (" + n + (n === 1 ? " thread)" : " threads)")]);
}

// All threads, those of a cgroup, of one name, or one.
function threadChoice() {
	const names = new Map(), t = data.thread;
	t.tid.forEach((tid, i) => {
		const name = frames.label[t.comm[i]];
		if (isShown(i) && !(t.flags[i] & IDLE_TASK))
			names.set(name, (names.get(name) || []).concat(tid - 1));
	});
	const options = [["", "all threads"], ...cgroupChoices()];
	for (const [name, tids] of [...names].sort((a, b) => a[0] < b[0] ? -1 : 1)) {
		options.push(["comm:" + name, tids.length > 1 ? name + " (" + tids.length + " threads)" : name]);
		if (tids.length > 1)
			options.push(...tids.slice(0, 50).map((tid) => ["tid:" + tid, "\u2003" + name + "/" + tid]));
	}
	return choice("threads", options, view.who, chooseThread);
}

function chooseThread(who) {
	view.who = who;
	drawHeat();
	drawCase();
	drawHeadline();
	redraw();
	saveView(true);
}

// Of what threads did only that, by its name in the legend; "": all.
function chooseMeaning(name) {
	view.only = name;
	drawHeat();
	redraw();
	saveView(true);
}

// With the program where there are several: a role may be a function of each.
function siteTable(caption, sites, last, cell) {
	const isOne = new Set(sites.map((s) => s.program)).size < 2, cells = (all) => all.filter((x, i) => i !== 1 || !isOne);
	return !sites.length ? null : table(caption, cells(["site", "program", "count", "total", "p50", "max", last]), sites.map((s) =>
		cells([s.site, s.program, countText(s.count), timeText(s.ns), timeText(s.p50_ns), (s.open ? "\u2265 " : "") + timeText(s.max_ns), cell(s)])),
	isOne ? [1, 2, 3, 4] : [2, 3, 4, 5]);
}

function drawSites() {
	const s = head.sites, parts = [
		siteTable("Unclear: at rest, or waiting for an answer?", s.unclear, "decide with", (x) => el("code", {}, x.settle)),
		siteTable("Hidden: at rest (--idle shows them)", s.idle, "because", (x) => x.reason),
		siteTable("Left out by --no-unclear", s.left_out, "because", (x) => x.reason),
		siteTable("Waits of a whole life, or that an exit ended", s.life, "because", (x) => x.reason)].filter((x) => x);
	if (s.system)
		parts.push(el("p", {}, countText(s.system) + " waits of kernel threads and perf, " + timeText(s.system_ns) + ", are hidden; --system shows them."));
	if (s.unclear.length)
		parts.unshift(el("p", {}, "A thread at rest is not slow. Where the recording does not show what a wait was for, it is unclear, and the last column says what would decide it."));
	replace("sites", wholeNote(), parts.length ? parts : el("p", {}, "Nothing is hidden."),
		el("p", {class: "note"}, "Counts are of the whole recording. ", wholeBadge()));
}

// --- the workspace: parts are drawn when they are in sight -------------------------------------

const inWindow = new Set(), stale = new Set();
let restTimer = 0;

function shownPanes() {
	return Object.keys(panes).filter((k) => panes[k].has());
}

function watchPanes() {
	const watch = new IntersectionObserver((entries) => {
		for (const e of entries) {
			const k = e.target.id.slice(5);
			inWindow[e.isIntersecting ? "add" : "delete"](k);
			if (e.isIntersecting)
				drawSoon();
		}
	}, {rootMargin: "200px"});
	for (const k of shownPanes())
		watch.observe(document.getElementById("pane-" + k));
}

// Those in sight that show something else, one after the other.
function drawSoon() {
	clearTimeout(restTimer);
	restTimer = setTimeout(async () => {
		for (const k of [...stale].filter((x) => inWindow.has(x))) {
			stale.delete(k);
			await panes[k].draw();
		}
	}, 60);
}

const IDLE_MS = 1500; // then what is out of sight is drawn, too, so that a search of the browser finds it

function drawStale() {
	for (const k of ["timeline", "episodes", "overview", "sites"].filter((x) => stale.delete(x)))
		panes[k].draw();
	if (stale.delete("flame"))
		drawFlamePane();
}

// On paper all is there, without the plumbing: a worker's answer would come too late.
function drawForPrint() {
	if (kinds[view.graph].has() && stale.delete("flame")) {
		drawChoices(kinds[view.graph].given);
		const {tree, functions} = sumUpOf(view.graph, {...stretch(), band: view.band}, view.who);
		Object.assign(view, {tree, functions});
		showFlame(view.graph, tree);
		drawSandwich(tree, view.graph);
	}
	drawStale();
	document.querySelectorAll("#overview details").forEach((d) => { d.open = true; });
}

// Draw the chosen part now, unless that can wait, too, and the others when they are seen.
function showPane(canWait) {
	for (const k of shownPanes())
		stale.add(k);
	for (const b of document.querySelectorAll("#nav button"))
		b.setAttribute("aria-current", String(b.id === "tab-pane-" + view.pane));
	drawSoon();
	if (canWait)
		return null;
	stale.delete(view.pane);
	return panes[view.pane].draw();
}

function redraw() {
	const began = performance.now();
	if (heat && maps[view.map].has())
		heat.draw();
	drawSelected();
	showPane();
	drawMs = performance.now() - began;
}

// What every view of a thinned report says.
function grainNote() {
	const grain = timeText(head.grain_ns);
	return head.grain_ns ? el("p", {class: "note grain"}, "to " + grain + ": waits, runs and samples within " + grain +
		" of a thread are summed up; longer ones, episodes and spans are as recorded") : null;
}

// --- the skeleton ------------------------------------------------------------------------------------

function build() {
	const main = document.getElementById("main"), says = el("p", {id: "says", "aria-live": "polite"});
	const canvas = el("canvas", {id: "heat", tabindex: 0, role: "application",
		"aria-label": "map: arrows move, Shift and arrows select, Enter takes the selection, Escape shows all"});
	const answer = document.getElementById("answer"), also = document.getElementById("also"), bar = shareBar();
	if (answer && bar)
		answer.after(bar);
	// One sentence is the headline, and the bar its share.
	const [first, ...rest] = answer ? answer.textContent.split(/(?<=\.) (?=[A-Z])/) : [];
	if (bar && answer) {
		answer.textContent = first.replace(/ \(\d+ % of the time\)/, "");
		bar.append(el("span", {}, rest.join(" ")));
	}
	if (also && bar)
		bar.append(also);
	document.getElementById("early")?.remove();
	document.body.prepend(topBar());
	const cpuOnly = !head.tail && kinds.cpu.has();
	const pane = (k, ...children) => el("section", {id: "pane-" + k, class: k === "flame" && cpuOnly ? "room first" : "room", "aria-label": panes[k].name, hidden: !panes[k].has()},
		el("h2", {class: "title"}, panes[k].name), k === "episodes" || k === "sites" ? null : grainNote(), children);
	const flame = pane("flame", el("div", {id: "flame-tabs"}), el("p", {id: "flame-empty", hidden: true}, "Nothing of this in the selection."),
		el("div", {id: "flame"}), el("div", {id: "source", hidden: true}), el("div", {id: "sandwich"}));
	main.append(el("section", {id: "case", "aria-label": "The worst episode"}), cpuOnly ? flame : "",
		el("section", {id: "map", "aria-label": "Map"}, el("div", {class: "map-head"}, el("div", {id: "heat-tabs"}), el("div", {id: "heat-keys"}), says), grainNote(), el("div", {id: "heat-box"}, canvas)),
		document.getElementById("note") || "",
		el("div", {id: "pane"},
			pane("timeline", el("canvas", {id: "strip", role: "img", "aria-label": "whole recording"}), el("div", {id: "timeline-box"})), cpuOnly ? null : flame,
			pane("episodes", el("div", {class: "episodes"}, el("div", {id: "episodes"}), el("div", {id: "episode"}))),
			pane("overview", el("div", {id: "overview"})),
			pane("sites", el("div", {id: "sites"}))));
	heat = new Heat(canvas, (text) => { says.textContent = text || heat.caption(); });
	canvas.addEventListener("focus", () => heat.draw());
	canvas.addEventListener("blur", () => heat.draw());
	strip = new Strip(document.getElementById("strip"));
	watchPanes();
}

function onKey(e) {
	const at = document.activeElement, isTyping = at && /^(INPUT|SELECT|TEXTAREA)$/.test(at.tagName);
	if (e.defaultPrevented || isTyping || at && at.closest("dialog") || e.ctrlKey || e.metaKey || e.altKey)
		return;
	if (e.key === "Escape")
		pressEscape();
	else if (e.key === "?")
		showHelp();
	else if (e.key === "/")
		toSearch();
	else if ((e.key === "," || e.key === ".") && head.tail && (at === document.body || at.closest("#case, #map")))
		stepEpisode(e.key === "." ? 1 : -1);
	else
		return;
	e.preventDefault();
}

async function start() {
	await readHead();
	drawEarly();
	await readData();
	build();
	loadView();
	drawHeat();
	await drawCase();
	drawHeadline();
	const isAsked = /(^#|&)pane=/.test(location.hash);
	await showPane(view.pane === "timeline" && !isAsked); // below the first screen
	if (isAsked)
		document.getElementById("pane-" + view.pane).scrollIntoView({block: "start"});
	let width = window.innerWidth;
	window.addEventListener("resize", () => {
		if (window.innerWidth !== width) {
			width = window.innerWidth;
			drawHeat();
			stale.add("timeline");
			drawSoon();
		}
	});
	window.addEventListener("keydown", onKey);
	window.addEventListener("beforeprint", drawForPrint);
	setTimeout(drawStale, IDLE_MS);
	window.addEventListener("popstate", () => {
		loadView();
		drawHeat();
		drawCase();
		drawHeadline();
		showPane();
	});
	window.matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => { heat.draw(); strip.draw(); });
	document.documentElement.dataset.ready = "1";
}

// A tree as folded text, without the frames that name causes.
function foldTree(tree) {
	const sums = new Map();
	for (let i = 1; i < tree.n; i++) {
		const way = [];
		for (let j = i; tree.self[i] && j; j = tree.parent[j])
			if (frames.kind[tree.frame[j]] !== KIND.wait)
				way.unshift(frames.name[tree.frame[j]]);
		if (way.length)
			sums.set(way.join(";"), (sums.get(way.join(";")) || 0) + tree.self[i]);
	}
	return [...sums].map(([stack, x]) => stack + " " + x).sort();
}

if (!isWorker) {
	// For scripts that test the page: the view, sums of a stretch, and times in ms.
	window.report = {view, choose, foldTree, showPane: () => showPane(false), sumCpu, sumOff, sumWall, sumThreads, chooseLabel, labelChoices, head: () => head, data: () => data,
		frames: () => frames, ms: () => ({redraw: drawMs, flame: document.getElementById("flame").ms, inWorker: !!(worker && worker.ask)}),
		flame: (kind) => flames[flameKey(kind)] && flames[flameKey(kind)].svg, given: () => given, timeline: () => timelineSvg, heat: () => heat, programOf, chooseProgram, caseEpisodes, chooseMeaning};
	start().catch((e) => {
		document.getElementById("main").append(el("p", {class: "note"}, "This report cannot be shown here: " + e.message +
			" (it needs a browser with DecompressionStream, of 2023 or later)"));
		document.documentElement.dataset.ready = "failed";
	});
}
