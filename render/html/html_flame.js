// html_flame.js - the flame graphs of the chosen stretch: those of `perfkit svg`, drawn by the same
// script, from sums made here.

const SVG_NS = "http://www.w3.org/2000/svg";

const kinds = {
	cpu: {name: "CPU", palette: "hot", colors: "hot", mode: "plain", has: () => data.sample.t.length > 0,
		sum: (s) => sumCpu(s.from, s.to, view.event), what: () => "CPU samples of " + head.events[view.event].name},
	off: {name: "Off-CPU", palette: "cause", colors: "cold", mode: "plain", has: () => data.wait.n > 0,
		sum: (s) => sumOff(s.from, s.to, view.band), what: () => "time off the CPU"},
	wall: {name: "Wall clock", palette: "hot", colors: "hot", mode: "wall", has: () => data.run.n > 0,
		sum: (s) => sumWall(s.from, s.to), what: () => "running and waiting of the same threads"},
};

function unitOf(kind) {
	return kind === "cpu" ? head.events[view.event].unit : "ns";
}

// What the script of flame graphs asks of one (flame_svg.c, put_conf).
function flameConf(kind, tree) {
	const unit = unitOf(kind);
	return {width: 1200, frameHeight: 18, minWidth: 0.1, fontSize: 12, fontWidth: 0.59, pad: 0, foot: 26, axisH: 0,
		span: 0, mode: kinds[kind].mode, inverted: 1, negate: 0, sorted: 1, reversed: 0, two: kind === "wall" ? 1 : 0,
		scale: 1, factor: 1, beforeScale: 1, maxDelta: 0, total: tree.total[0], before: 0, after: 0,
		unitNs: unit === "ns" ? 1 : 0, palette: kinds[kind].palette, countname: unit, nametype: "Function:",
		beforeName: "", afterName: ""};
}

// Swatches of the causes and marks there are.
function putLegend(group, kind, tree) {
	const seen = new Map();
	for (let i = 1; i < tree.n; i++)
		if (frames.kind[tree.frame[i]] === KIND.wait)
			seen.set(tree.frame[i], (seen.get(tree.frame[i]) || 0) + tree.total[i]);
	const keys = [...seen].sort((a, b) => b[1] - a[1]).slice(0, 12).map(([f]) => [frames[kinds[kind].colors][f], frames.label[f]]);
	if (kind === "wall")
		keys.unshift(["#f59a4c", "running"], ["#a3c4f0", "waiting"]);
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
}

// An element whose inside has ids and styles of its own.
function island(css) {
	const host = el("div", {class: "island"}), root = host.attachShadow({mode: "open"});
	if (css)
		root.append(el("style", {}, css));
	return {host, root};
}

const flames = {}; // by kind: {host, svg, root}

function makeFlame(kind, tree, state) {
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
		state: () => state, save: (text, isNew) => saveFlame(kind, text, isNew), back: () => history.back()});
	flames[kind] = {host, svg, text: state};
	return flames[kind];
}

function saveFlame(kind, text, isNew) {
	if (flames[kind])
		flames[kind].text = text;
	view.flame[kind] = text;
	saveView(isNew);
}

// Sum up the stretch and draw it; says how long that took.
function drawFlame() {
	const kind = view.graph, began = performance.now();
	const tree = kinds[kind].sum(stretch()), box = document.getElementById("flame");
	for (const k in flames)
		flames[k].host.hidden = k !== kind;
	const isEmpty = !(tree.total[0] > 0);
	document.getElementById("flame-empty").hidden = !isEmpty;
	if (isEmpty) {
		if (flames[kind])
			flames[kind].host.hidden = true;
		box.ms = performance.now() - began;
		view.tree = tree;
		drawSandwich(tree, kind);
		return;
	}
	if (!flames[kind]) {
		makeFlame(kind, tree, view.flame[kind] || "");
	} else {
		flames[kind].host.hidden = false;
		putLegend(flames[kind].svg.querySelector("#legend"), kind, tree);
		flames[kind].svg.flame.relayout();
		flames[kind].svg.flame.replaceTree(tree);
	}
	view.tree = tree;
	box.ms = performance.now() - began;
	drawSandwich(tree, kind);
}

// "4.2 s", "1,203 samples".
function weighText(kind, x) {
	return unitOf(kind) === "ns" ? timeText(x) : countText(x) + " " + unitOf(kind);
}
