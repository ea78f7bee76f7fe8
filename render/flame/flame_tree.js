// flame_tree.js - decodes the graph inside the picture (flame_data.h has the format) and makes the trees of
// views (flame_merge.js): without hidden functions, merged from the leaf, around one function.

function readConf() {
	const conf = readSettings();
	for (const key of ["palette", "countname", "nametype", "beforeName", "afterName"])
		conf[key] = String(conf[key]);
	return conf;
}

function readFrames() {
	const strings = element("d-strings").split("\n");
	const colors = element("d-colors").split(" ");
	const num = readNumbers(element("d-frames"));
	const n = num.length / 10;
	const frames = {n: n + 1, smaller: n, name: [], label: [], short: [], own: [], thin: new Uint8Array(n + 1), kind: new Uint8Array(n + 1), dso: [],
		src: [], color: [], order: new Int32Array(n + 1)};
	for (let i = 0; i < n; i++) {
		const [name, kind, dso, src, line, to, color, short, own, thin] = num.subarray(10 * i, 10 * i + 10);
		frames.thin[i] = thin;
		frames.name.push(strings[name]);
		frames.label.push(labelOf(strings[name]));
		frames.short.push(short ? strings[short] : frames.label[i]);
		frames.own.push(own);
		frames.kind[i] = kind;
		frames.dso.push(strings[dso]);
		frames.src.push(!src ? "" : strings[src] + (line ? ":" + line : "") + (to ? "\u2013" + to : ""));
		frames.color.push("#" + colors[color]);
	}
	frames.kind[n] = KIND.mark;
	frames.name.push("[smaller frames]");
	frames.label.push("[smaller frames]");
	frames.short.push("[smaller frames]");
	frames.own.push(0);
	frames.dso.push("");
	frames.src.push("");
	frames.color.push("#c8c8c8");
	const byName = Array.from(frames.order.keys()).sort((a, b) =>
		frames.name[a] < frames.name[b] ? -1 : frames.name[a] > frames.name[b] ? 1 : a - b);
	byName.forEach((frame, rank) => { frames.order[frame] = rank; });
	return frames;
}

function readTree(two) {
	const num = readNumbers(element("d-nodes")), step = two ? 4 : 3;
	const n = num.length / step, tree = newTree(n, two), above = [0];
	for (let i = 0, at = 0; i < n; i++, at += step) {
		const depth = i ? tree.depth[i - 1] + 1 - num[at + 1] : 0;
		tree.frame[i] = num[at];
		tree.depth[i] = depth;
		tree.parent[i] = depth ? above[depth - 1] : 0;
		tree.self[i] = num[at + 2];
		if (two)
			tree.self1[i] = num[at + 3];
		above[depth] = i;
	}
	sumUp(tree);
	if (conf.runsAfter)
		readRuns(tree);
	return tree;
}

// Of several runs: what each has in a node (tree.runs) and in a function itself (frames.runs).
function readRuns(tree) {
	const n = conf.runsBefore + conf.runsAfter, runs = readNumbers(element("d-runs")).slice();
	frames.runs = new Float64Array(n * frames.n);
	for (let i = tree.n - 1; i >= 0; i--)
		for (let k = 0; k < n; k++) {
			frames.runs[tree.frame[i] * n + k] += self(i, k);
			if (i && frames.kind[tree.frame[i]] !== KIND.gone)
				runs[tree.parent[i] * n + k] += runs[i * n + k];
		}
	tree.runs = runs;

	function self(i, k) {
		let own = runs[i * n + k];
		for (let c = i + 1; c < tree.end[i]; c = tree.end[c])
			own -= frames.kind[tree.frame[c]] === KIND.gone ? 0 : runs[c * n + k];
		return own;
	}
}

// A tree without the subtrees whose top frame `drop` names. (Node numbers change.)
function without(tree, drop) {
	const keep = [], place = new Int32Array(tree.n);
	for (let i = 0; i < tree.n;) {
		if (i && drop(tree.frame[i])) {
			i = tree.end[i];
			continue;
		}
		place[i] = keep.length;
		keep.push(i++);
	}
	if (keep.length === tree.n)
		return tree;
	const out = newTree(keep.length, tree.self1 !== null);
	keep.forEach((from, i) => {
		out.parent[i] = place[tree.parent[from]];
		out.frame[i] = tree.frame[from];
		out.depth[i] = tree.depth[from];
		out.self[i] = tree.self[from];
		if (out.self1)
			out.self1[i] = tree.self1[from];
	});
	return sumUp(out);
}

// Nodes in preorder as they are found; sums are computed at the end.
class Growing {
	constructor(two) {
		this.two = two;
		this.n = 0;
		this.tree = newTree(1024, two);
	}

	add(parent, frame, depth, v0, v1) {
		if (this.n === this.tree.n) {
			const larger = newTree(2 * this.n, this.two);
			for (const key in this.tree)
				if (this.tree[key] && this.tree[key].length)
					larger[key].set(this.tree[key]);
			this.tree = larger;
		}
		const t = this.tree;
		t.parent[this.n] = parent;
		t.frame[this.n] = frame;
		t.depth[this.n] = depth;
		t.self[this.n] = v0;
		if (this.two)
			t.self1[this.n] = v1;
		return this.n++;
	}

	finish() {
		for (const key in this.tree)
			if (this.tree[key] && this.tree[key].length)
				this.tree[key] = this.tree[key].subarray(0, this.n);
		this.tree.n = this.n;
		return sumUp(this.tree);
	}
}

const LARGE = 200000;   // nodes; in larger graphs,
const LIGHT = 1e-5;     // groups below this share of the total are not taken apart

// The same stacks merged from the leaf. `leaf` lists the nodes where stacks end, `at` the position of each on
// its path to the root. A group is a range of that list whose stacks share their last frames; sorting it by
// the next frame splits it into the groups of its children.
class LeafMerger {
	constructor(tree, frames) {
		this.tree = tree;
		this.frames = frames;
		this.out = new Growing(tree.self1 !== null);
		const leaf = [];
		for (let i = 0; i < tree.n; i++)
			if (tree.self[i] || (tree.self1 && tree.self1[i]))
				leaf.push(i);
		this.leaf = Int32Array.from(leaf);
		this.at = this.leaf.map((i) => frames.kind[tree.frame[i]] === KIND.gap ? tree.parent[i] : i);
		this.light = tree.n > LARGE ? LIGHT * tree.total[0] : 0;
	}

	sort(from, to) {
		const {at, leaf, tree, frames} = this, n = to - from, keys = new Float64Array(n);
		for (let i = 0; i < n; i++) {
			const node = at[from + i];
			keys[i] = (node ? frames.order[tree.frame[node]] + 1 : 0) * 0x80000000 + i;
		}
		keys.sort();
		const oldAt = at.slice(from, to), oldLeaf = leaf.slice(from, to);
		for (let i = 0; i < n; i++) {
			const k = keys[i] % 0x80000000;
			at[from + i] = oldAt[k];
			leaf[from + i] = oldLeaf[k];
		}
	}

	weight(from, to, self) {
		let sum = 0;
		for (let i = from; self && i < to; i++)
			sum += self[this.leaf[i]];
		return sum;
	}

	// Emit the node of a group and return the groups of its children, last first.
	split({from, to, parent, frame, depth}) {
		const {at, tree, out} = this, groups = [];
		if (to - from > 1)
			this.sort(from, to);
		let i = from;
		while (i < to && !at[i])
			i++;
		const id = out.add(parent, frame, depth, this.weight(from, i, tree.self), this.weight(from, i, tree.self1));
		while (i < to) {
			const next = tree.frame[at[i]], start = i;
			for (; i < to && tree.frame[at[i]] === next; i++)
				at[i] = tree.parent[at[i]];
			groups.push({from: start, to: i, parent: id, frame: next, depth: depth + 1});
		}
		return this.light ? this.heavy(groups, id, depth + 1) : groups.reverse();
	}

	heavy(groups, parent, depth) {
		let v0 = 0, v1 = 0;
		const kept = groups.filter((g) => {
			const w0 = this.weight(g.from, g.to, this.tree.self);
			const w1 = this.weight(g.from, g.to, this.tree.self1);
			if (w0 >= this.light || w1 >= this.light)
				return true;
			v0 += w0;
			v1 += w1;
			return false;
		});
		if (v0 || v1)
			this.out.add(parent, this.frames.smaller, depth, v0, v1);
		return kept.reverse();
	}

	run() {
		const todo = [{from: 0, to: this.leaf.length, parent: 0, frame: this.tree.frame[0], depth: 0}];
		while (todo.length)
			for (const group of this.split(todo.pop()))
				todo.push(group);
		return this.out.finish();
	}
}

function fromLeaf(tree, frames) {
	return new LeafMerger(tree, frames).run();
}

// All outermost occurrences of the function merged: what it calls, and who calls it.
function around(tree, frames, isFocus, rootFrame) {
	const two = tree.self1 !== null;
	const callees = new Merger(rootFrame, two), callers = new Merger(rootFrame, two);
	const image = new Int32Array(tree.n);
	for (let i = 0; i < tree.n;) {
		if (!isFocus(tree.frame[i])) {
			i++;
			continue;
		}
		let up = 0;
		for (let j = tree.parent[i]; j; j = tree.parent[j])
			up = callers.child(up, tree.frame[j]);
		callers.add(up, tree.total[i], two ? tree.total1[i] : 0);
		const top = i;
		for (; i < tree.end[top]; i++) {
			image[i] = i === top ? 0 : callees.child(image[tree.parent[i]], tree.frame[i]);
			callees.add(image[i], tree.self[i], two ? tree.self1[i] : 0);
		}
	}
	return [callees.tree(frames.order), callers.tree(frames.order)];
}
