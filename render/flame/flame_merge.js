// flame_merge.js - trees of frames: arrays indexed by node, in preorder (a node's subtree is
// i .. end[i] - 1), and stacks merged to such a tree. Flame graphs and reports share it.

const KIND = {user: 0, kernel: 1, jit: 2, inlined: 3, waker: 4, mark: 5, wait: 6, gone: 7, gap: 8, away: 9};

// Arrays for n nodes; `two` = the graph has a second weight.
function newTree(n, two) {
	return {n, parent: new Int32Array(n), frame: new Int32Array(n), depth: new Int32Array(n),
		end: new Int32Array(n), x: new Float64Array(n), self: new Float64Array(n),
		total: new Float64Array(n), self1: two ? new Float64Array(n) : null,
		total1: two ? new Float64Array(n) : null};
}

// A time without samples, in charts of lanes.
function isAway(frame) {
	return conf.span > 0 && frames.kind[frame] === KIND.away;
}

// With parent, depth and self known: totals, subtree ends and offsets.
function sumUp(tree) {
	const {n, parent, end, x, self, total, self1, total1} = tree;
	const next = new Float64Array(n);
	for (let i = n - 1; i >= 0; i--) {
		total[i] += self[i];
		if (!end[i])
			end[i] = i + 1;
		if (total1)
			total1[i] += self1[i];
		if (i) {
			const p = parent[i];
			total[p] += isAway(tree.frame[i]) ? 0 : total[i];
			if (total1)
				total1[p] += total1[i];
			if (end[p] < end[i])
				end[p] = end[i];
		}
	}
	for (let i = 0; i < n; i++) {
		if (i && !(conf.span && !parent[i])) { // lanes begin at 0
			x[i] = next[parent[i]];
			next[parent[i]] += total[i];
		}
		next[i] = x[i] + self[i];
	}
	return tree;
}

// Merging: nodes are made by (parent, frame), then sorted in preorder, children by name.
class Merger {
	constructor(rootFrame, two) {
		this.parent = [0];
		this.frame = [rootFrame];
		this.self = [0];
		this.self1 = two ? [0] : null;
		this.mask = 1023;
		this.slot = new Int32Array(this.mask + 1);
	}

	static hash(parent, frame) {
		let h = Math.imul(parent, 0x9e3779b1) ^ Math.imul(frame + 1, 0x85ebca6b);
		h ^= h >>> 15;
		return Math.imul(h, 0x2c1b3c6d) >>> 7;
	}

	child(parent, frame) {
		for (let i = Merger.hash(parent, frame);; i++) {
			const id = this.slot[i & this.mask];
			if (!id)
				break;
			if (this.parent[id] === parent && this.frame[id] === frame)
				return id;
		}
		const id = this.parent.push(parent) - 1;
		this.frame.push(frame);
		this.self.push(0);
		if (this.self1)
			this.self1.push(0);
		this.place(id);
		if (this.parent.length > this.mask / 2)
			this.grow();
		return id;
	}

	place(id) {
		let i = Merger.hash(this.parent[id], this.frame[id]);
		while (this.slot[i & this.mask])
			i++;
		this.slot[i & this.mask] = id;
	}

	grow() {
		this.mask = this.mask * 2 + 1;
		this.slot = new Int32Array(this.mask + 1);
		for (let id = 1; id < this.parent.length; id++)
			this.place(id);
	}

	add(node, v0, v1) {
		this.self[node] += v0;
		if (this.self1)
			this.self1[node] += v1;
	}

	// `at` then says where in the tree each node is.
	tree(order) {
		const n = this.parent.length, children = Array.from({length: n}, () => null);
		for (let i = 1; i < n; i++)
			(children[this.parent[i]] = children[this.parent[i]] || []).push(i);
		const out = newTree(n, this.self1 !== null), todo = [[0, 0, 0]];
		this.at = new Int32Array(n);
		for (let at = 0; todo.length; at++) {
			const [id, parent, depth] = todo.pop();
			this.at[id] = at;
			out.parent[at] = parent;
			out.depth[at] = depth;
			out.frame[at] = this.frame[id];
			out.self[at] = this.self[id];
			if (out.self1)
				out.self1[at] = this.self1[id];
			if (children[id]) {
				children[id].sort((a, b) => order[this.frame[b]] - order[this.frame[a]]);
				for (const c of children[id])
					todo.push([c, at, depth + 1]);
			}
		}
		return sumUp(out);
	}
}
