// html_worker.js - flame graphs of a stretch are summed up by a worker, so that the page stays
// quick meanwhile. It runs this same script, which the page's policy knows, without a document.
// Where a browser makes no worker of it, the page sums up itself.

const isWorker = typeof document === "undefined";
const source = isWorker ? "" : document.currentScript.textContent;
// What sums need of the data, table by table.
const SUMMED = {sample: ["t", "row", "weight", "event", "thread"], run: ["n", "start", "end", "thread", "comm", "out"],
	wait: ["n", "start", "end", "thread", "blocked", "bits", "row", "cause"], row: ["comm", "path"], path: ["parent", "frame"],
	thread: ["comm", "tid", "flags", "cgroup", "program"]};

let worker = null;
const asked = new Map(); // by number: who waits for the answer

function sumUpNow(kind, s) {
	const tree = kinds[kind].sum(s);
	return {tree, functions: functionsOf(tree, kind)};
}

// In the page, whose chosen threads stay what they are.
function sumUpOf(kind, s, who) {
	const chosen = view.who;
	view.who = who;
	const sum = sumUpNow(kind, s);
	view.who = chosen;
	return sum;
}

function startWorker() {
	const some = (all, names) => Object.fromEntries(names.map((name) => [name, all[name]]));
	const url = URL.createObjectURL(new Blob([source], {type: "text/javascript"}));
	worker = {ask: new Worker(url), asks: 0};
	worker.ask.onmessage = ({data: answer}) => {
		asked.get(answer.no).resolve(answer);
		asked.delete(answer.no);
	};
	worker.ask.onerror = () => {
		worker = {ask: null};
		for (const {kind, s, who, resolve} of asked.values())
			resolve(sumUpOf(kind, s, who));
		asked.clear();
	};
	const labelled = {sample: ["label"], run: ["parts", "first"], wait: ["parts", "first"]};
	const fields = (name) => SUMMED[name].concat(head.labels.flatMap((key, no) => (labelled[name] || []).map((f) => f + no)));
	worker.ask.postMessage({head: some(head, ["marks", "causes", "shows_system", "events", "span_ns", "labels", "cgroups", "programs"]),
		data: {...some(data, head.labels.map((key, no) => "piece" + no)),
			...Object.fromEntries(Object.keys(SUMMED).map((name) => [name, some(data[name], fields(name))]))},
		frames: some(frames, ["n", "label", "order", "kind", "part"])});
}

// {tree, functions} of a stretch and the threads of `who`, now or once the worker has them.
function askSum(kind, s, who) {
	try {
		if (!worker)
			startWorker();
	} catch (e) {
		worker = {ask: null};
	}
	if (kinds[kind].given || !worker.ask)
		return sumUpOf(kind, s, who);
	return new Promise((resolve) => {
		const no = worker.asks++;
		asked.set(no, {kind, s, who, resolve});
		worker.ask.postMessage({no, kind, s, label, view: {who, event: view.event, only: view.only}});
	});
}

// --- in the worker -----------------------------------------------------------------------------

const summed = new Set();

function answer({no, kind, s, label: chosenLabel, view: chosen}) {
	label = null;
	if (!summed.has(kind)) { // all nodes there can be: no later stretch has to place new ones
		summed.add(kind);
		Object.assign(view, chosen, {who: "", only: ""});
		kinds[kind].sum({from: 0, to: head.span_ns, band: null});
	}
	Object.assign(view, chosen);
	label = chosenLabel;
	const {tree, functions} = sumUpNow(kind, s);
	const buffers = Object.values(tree).filter((x) => x && x.buffer).map((x) => x.buffer);
	self.postMessage({no, tree, functions}, [...new Set(buffers)]);
}

if (isWorker)
	self.onmessage = ({data: message}) => {
		if (message.head)
			({head, data, frames} = message);
		else
			answer(message);
	};
