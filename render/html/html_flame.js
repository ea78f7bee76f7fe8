// html_flame.js - the flame graphs of the chosen stretch: those of `perfkit svg`, drawn by the same
// script, from sums made here.

const SVG_NS = "http://www.w3.org/2000/svg";

// Those with `given` are the program's, of all or of one episode, whatever is selected.
const kinds = {
	cpu: {name: "CPU", palette: "hot", colors: "hot", mode: "plain", has: () => data.sample.t.length > 0,
		sum: (s) => sumCpu(s.from, s.to, view.event), what: () => "CPU samples of " + head.events[view.event].name},
	off: {name: "Off-CPU", palette: "cause", colors: "cold", mode: "plain", has: () => data.wait.any,
		sum: (s) => sumOff(s.from, s.to, s.band), what: () => "time off the CPU"},
	wall: {name: "Wall clock", palette: "hot", colors: "hot", mode: "wall", has: () => data.run.any,
		sum: (s) => sumWall(s.from, s.to), what: () => "running and waiting of the same threads"},
	offwake: {name: "Wakers", palette: "chain", colors: "chain", mode: "plain", given: true,
		what: () => "waits, above each the waker's stack"},
	chain: {name: "Chains", palette: "chain", colors: "chain", mode: "plain", given: true,
		what: () => "waits, above each the chain of threads that explains it"},
	tail: {name: "Against the median", palette: "hot", colors: "hot", mode: "diff", given: true,
		what: () => "time inside the worst episodes, compared with as many around the median"},
};
for (const [name, kind] of Object.entries(kinds))
	if (kind.given) {
		kind.has = () => given.some((g) => g.kind === name);
		kind.sum = () => givenOf(name).tree;
	}

// Of the chosen episode, if it has such a graph, else of all.
function givenOf(kind) {
	const all = given.filter((g) => g.kind === kind);
	return all.find((g) => g.episode === view.of) || all[0];
}

// Two given graphs have settings of their own.
function flameKey(kind) {
	return kinds[kind].given ? kind + givenOf(kind).episode : kind;
}

function unitOf(kind) {
	return kind === "cpu" ? head.events[view.event].unit : "ns";
}

// What colours of a difference are measured by: the largest change of a function itself
// (survey of flame_svg.c).
function largestChange(tree, scale) {
	let most = tree.total[0] / 100;
	for (let i = 1; i < tree.n; i++)
		most = Math.max(most, Math.abs(tree.self[i] - tree.self1[i] * scale));
	return most;
}

// What the script of flame graphs asks of one (flame_svg.c, put_conf).
function flameConf(kind, tree) {
	const unit = unitOf(kind), {mode, palette} = kinds[kind], isDiff = mode === "diff";
	const {scale, episode} = isDiff ? givenOf(kind) : {scale: 1, episode: 0};
	return {width: 1200, frameHeight: 18, minWidth: 0.1, fontSize: 12, fontWidth: 0.63, pad: 0, foot: 26, axisH: 0,
		span: 0, mode, inverted: 1, negate: 0, sorted: 1, reversed: 0, two: tree.self1 ? 1 : 0,
		scale: 1, factor: 1, beforeScale: scale, maxDelta: isDiff ? largestChange(tree, scale) : 0, total: tree.total[0],
		before: isDiff ? tree.total1[0] : 0, after: isDiff ? tree.total[0] : 0, unitNs: unit === "ns" ? 1 : 0, palette,
		countname: unit, nametype: "Function:", beforeName: "median", afterName: episode ? "#" + episode : "tail"};
}

// Swatches of the causes and marks there are.
function legendOf(kind, tree) {
	const seen = new Map(), {mode, colors} = kinds[kind];
	if (mode === "diff")
		return [["#f0604d", "more than in the median episodes"], ["#5b9be6", "less"]];
	if (colors === "chain")
		return [["#71a0ea", "the waiting thread"], ["#5fcbd3", "its waker (reversed)"]];
	for (let i = 1; i < tree.n; i++)
		if (frames.kind[tree.frame[i]] === KIND.wait)
			seen.set(tree.frame[i], (seen.get(tree.frame[i]) || 0) + tree.total[i]);
	const causes = [...seen].sort((a, b) => b[1] - a[1]).slice(0, 12).map(([f]) => [frames[colors][f], frames.label[f]]);
	return mode === "wall" ? [["#f59a4c", "running"], ["#a3c4f0", "waiting"], ...causes] : causes;
}

// Is it another one than before?
function putLegend(group, kind, tree) {
	const keys = legendOf(kind, tree), said = keys.join();
	if (group.said === said)
		return false;
	group.said = said;
	group.textContent = "";
	for (const [color, text] of keys) {
		const g = document.createElementNS(SVG_NS, "g"), r = document.createElementNS(SVG_NS, "rect");
		const t = document.createElementNS(SVG_NS, "text");
		for (const [key, value] of [["width", 12], ["height", 12], ["rx", 2], ["fill", color]])
			r.setAttribute(key, value);
		t.setAttribute("x", 17);
		t.setAttribute("y", 10);
		t.textContent = text;
		g.append(r, t);
		group.append(g);
	}
	return true;
}

// An element whose inside has ids and styles of its own.
function island(css) {
	const host = el("div", {class: "island"}), root = host.attachShadow({mode: "open"});
	if (css)
		root.append(el("style", {}, css));
	return {host, root};
}

const flames = {}; // by flameKey: {host, svg, text}

function makeFlame(kind, tree, state) {
	const key = flameKey(kind);
	const {host, root} = island(document.getElementById("flame-css").textContent);
	const svg = document.createElementNS(SVG_NS, "svg");
	for (const [key, value] of [["class", "flame"], ["width", "100%"], ["height", 400],
		["font-family", "Verdana, DejaVu Sans, sans-serif"], ["font-size", 12], ["role", "group"],
		["aria-label", "Flame graph: " + kinds[kind].name]])
		svg.setAttribute(key, value);
	for (const [name, id, cls] of [["g", "legend", ""], ["g", "axis", ""], ["g", "frames", ""], ["text", "drawn", "dim"]]) {
		const e = document.createElementNS(SVG_NS, name);
		e.setAttribute("id", id);
		if (cls)
			e.setAttribute("class", cls);
		svg.append(e);
	}
	svg.lastChild.setAttribute("text-anchor", "end");
	putLegend(svg.querySelector("#legend"), kind, tree);
	root.append(svg);
	document.getElementById("flame").append(host);
	pictures.flame(svg, {conf: flameConf(kind, tree), frames: {...frames, color: frames[kinds[kind].colors]}, tree,
		state: () => state, save: (text, isNew) => saveFlame(key, text, isNew), steps, find: toSearch,
		picked: (frame) => showSource(frames.label[frame], frame)});
	flames[key] = {host, svg, text: state};
	return flames[key];
}

function saveFlame(key, text, isNew) {
	if (flames[key])
		flames[key].text = text;
	view.flame[key] = text;
	saveView(isNew);
}

let drawing = 0;

// Sum up the stretch and draw it, unless another has been asked for meanwhile; says how long that
// took.
async function drawFlame() {
	const kind = view.graph, no = ++drawing, began = performance.now();
	const {tree, functions} = await askSum(kind, {...stretch(), band: view.band}, view.who);
	if (no !== drawing)
		return;
	showFlame(kind, tree);
	view.tree = tree;
	view.functions = functions;
	document.getElementById("flame").ms = performance.now() - began;
	drawSandwich(tree, kind);
	markCapped(document.getElementById("flame"));
}

function showFlame(kind, tree) {
	const key = flameKey(kind), f = flames[key], isEmpty = !(tree.total[0] > 0);
	for (const k in flames)
		flames[k].host.hidden = k !== key || isEmpty;
	document.getElementById("flame-empty").hidden = !isEmpty;
	if (!isEmpty && !f)
		makeFlame(kind, tree, view.flame[key] || "");
	else if (!isEmpty)
		f.svg.flame.replaceTree(tree, putLegend(f.svg.querySelector("#legend"), kind, tree));
}

// "4.2 s", "1,203 samples".
function weighText(kind, x) {
	return unitOf(kind) === "ns" ? timeText(x) : countText(x) + " " + unitOf(kind);
}
