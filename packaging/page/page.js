// page.js - files in, answers out: each answer is a command of perfkit in a worker of its own.
"use strict";
const EXPORTS = [
  ["Flame graph", ["svg"], "flame.svg"],
  ["Folded", ["collapse"], "stacks.folded"],
  ["pprof", ["export", "--to", "pprof"], "profile.pb.gz"],
  ["speedscope", ["export", "--to", "speedscope"], "run.speedscope.json"],
  ["Firefox", ["export", "--to", "firefox"], "run.json.gz"],
  ["Perfetto", ["export", "--to", "perfetto"], "run.pftrace"],
  ["Store", ["import"], "run.db"],
];
const at = (id) => document.getElementById(id);
const workerUrl = URL.createObjectURL(new Blob([at("worker").textContent], { type: "text/javascript" }));
let wasm, files = [], only = [], running = null, urls = [], lastMade = [], forget = () => {};

async function program() {
  const packed = Uint8Array.from(atob(at("wasm").textContent.trim()), (c) => c.charCodeAt(0));
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"));
  return WebAssembly.compile(await new Response(stream).arrayBuffer());
}

function show(id, yes) { at(id).hidden = !yes; }

function trouble(text) {
  at("trouble").textContent = text || "";
  show("trouble", !!text);
}

const megabytes = (n) => (n / 1e6).toFixed(n < 1e7 ? 1 : 0) + " MB";

// {status, out, err, made}; null if it was stopped.
async function ask(args, doing) {
  stop();
  wasm = wasm || program();
  const module = await wasm, worker = new Worker(workerUrl), total = files.reduce((n, f) => n + f.file.size, 0);
  at("doing").textContent = doing;
  at("bar").removeAttribute("value");
  show("busy", true);
  return new Promise((resolve) => {
    const end = (answer) => {
      worker.terminate();
      running = null;
      show("busy", false);
      resolve(answer);
    };
    running = () => end(null);
    worker.onmessage = ({ data }) => {
      if (data.read === undefined) return end(data);
      at("bar").value = Math.min(1, data.read / total);
      at("doing").textContent = doing + ": " + megabytes(data.read) + " of " + megabytes(total) + " read";
    };
    worker.onerror = (e) => end({ status: 1, out: new Blob(), err: "perfkit: " + (e.message || "the worker ended") + "\n", made: [] });
    worker.postMessage({ wasm: module, args, files });
  });
}

function stop() { if (running) running(); }

function url(blob, type) {
  const made = URL.createObjectURL(type ? new Blob([blob], { type }) : blob);
  urls.push(made);
  return made;
}

function save(blob, name) {
  const a = document.createElement("a");
  a.href = url(blob);
  a.download = name;
  a.click();
}

function tab(name) {
  for (const b of document.querySelectorAll("[data-tab]")) {
    b.setAttribute("aria-selected", b.dataset.tab === name);
    show(b.dataset.tab, b.dataset.tab === name);
  }
}

const isSide = (name) => /\.(csv|jsonl?|ndjson)$/i.test(name);
const mains = () => files.filter((f) => !isSide(f.name)).map((f) => f.name);
const withSides = () => files.filter((f) => isSide(f.name)).flatMap((f) => ["--with", f.name]);

function take(list) {
  const used = new Set();
  stop();
  files = [...list].map((file) => {
    let name = file.name.replace(/\//g, "_");
    while (used.has(name)) name = "2-" + name;
    used.add(name);
    return { name, file };
  });
  for (const u of urls.splice(0)) URL.revokeObjectURL(u);
  at("names").textContent = files.map((f) => f.name + " (" + megabytes(f.file.size) + ")").join(", ");
  at("doctor").firstElementChild.textContent = at("said").textContent = at("files").textContent = "";
  at("report").removeAttribute("src");
  forget();
  only = [];
  show("picture", false);
  show("drop", false);
  show("work", false);
  trouble("");
  if (!mains().length) return trouble("Side files alone: drop the recording with them.");
  if (mains().length > 2) return trouble("One recording, or two to compare. For more, use the command line of perfkit on Linux or npx.");
  at("words").value = "report " + mains()[0];
  return mains().length === 2 ? compare() : answer();
}

// The programs of a recording that was made for none of them, as `report` lists them, with the option
// that selects each.
function programs(report) {
  const lines = report.split("\n"), head = lines.findIndex((l) => /^program .* option$/.test(l));
  if (head < 0 || lines.slice(0, head).some((l) => / recorded; --all for the whole machine$/.test(l))) return [];
  const rows = [];
  for (let i = head + 1; /\S/.test(lines[i] || ""); i++) {
    const m = lines[i].match(/^(.*?) {2,}(.*?) +((?:--comm|--pid) \S.*)$/);
    if (m) rows.push({ name: m[1], option: words(m[3]) });
  }
  return rows.length > 1 ? rows : [];
}

// The one question: the option of the program that is chosen; null if other files were dropped.
function question(rows) {
  const among = files;
  show("ask", true);
  return new Promise((resolve) => {
    const end = (option) => { show("ask", false); resolve(among === files ? option : null); };
    forget = () => end(null);
    at("ask").lastElementChild.replaceChildren(...[{ name: "The whole machine", option: ["--all"] }, ...rows].map((row) => {
      const b = document.createElement("button");
      b.textContent = row.name;
      b.title = row.option.join(" ");
      b.onclick = () => end(row.option);
      return b;
    }));
  });
}

// Folded stacks have no report: their flame graph is the answer.
async function answer() {
  const [name] = mains();
  const said = await ask(["doctor", name], "Asking what it can answer");
  if (!said) return;
  at("doctor").firstElementChild.textContent = (await said.out.text()) + said.err;
  const report = await ask(["report", "-q", name], "Looking for its programs");
  if (!report) return;
  const rows = programs(await report.out.text());
  const chosen = rows.length ? await question(rows) : [];
  if (!chosen) return;
  only = chosen;
  at("words").value = ["report", ...only, name].map(word).join(" ");
  let got = await ask(["html", "-q", ...only, ...withSides(), name], "Writing the case file"), type = "text/html";
  if (got && got.status && !got.out.size) {
    const why = got.err;
    got = await ask(["svg", "-q", ...only, name], "Drawing");
    type = "image/svg+xml";
    if (got && !got.out.size) return trouble(why || got.err);
  }
  if (got) present(got, type, said.status);
}

async function compare() {
  const pair = mains();
  const said = await ask(["report", "--against", pair[0], pair[1]], "Comparing");
  if (!said) return;
  at("doctor").firstElementChild.textContent = (await said.out.text()) + said.err;
  const got = await ask(["svg", "-q", "--diff", ...pair], "Drawing the difference");
  if (!got) return;
  if (!got.out.size) trouble(got.err);
  present(got, "image/svg+xml", said.status);
}

function present(got, type, doctor) {
  show("work", true);
  at("report").src = url(got.out, type);
  tab("case");
  if (got.err.trim() || doctor === 3) trouble(got.err.trim() || "Some answers of this recording would mislead: see “What it can answer”.");
}

function words(line) {
  return [...line.matchAll(/"([^"]*)"|'([^']*)'|(\S+)/g)].map((m) => m[1] ?? m[2] ?? m[3]);
}

const word = (w) => (/[\s'"]/.test(w) ? (w.includes('"') ? "'" + w + "'" : '"' + w + '"') : w);

async function command(line) {
  let args = words(line);
  if (args[0] === "perfkit") args = args.slice(1);
  const got = await ask(args, "perfkit " + args.join(" "));
  if (!got) return;
  const head = await got.out.slice(0, 300).text(), isPicture = /^(<\?xml|<svg|<!doctype html)/i.test(head);
  const isText = !isPicture && !/[\0-\x08\x0e-\x1a\ufffd]/.test(head);
  show("picture", isPicture);
  if (isPicture) at("picture").src = url(got.out, /^<!doctype/i.test(head) ? "text/html" : "image/svg+xml");
  at("said").textContent = (isText ? await got.out.text() : "") + got.err + (got.status ? "exit status " + got.status + "\n" : "");
  at("files").textContent = "";
  const made = got.made.concat(got.out.size && !isText ? [{ name: "perfkit-output" + (isPicture ? (/^<!doctype/i.test(head) ? ".html" : ".svg") : ""), blob: got.out }] : []);
  lastMade = made;
  for (const { name, blob } of made) {
    const a = document.createElement("a");
    a.href = url(blob);
    a.download = a.textContent = name;
    at("files").append("Save ", a, " (" + megabytes(blob.size) + ") ");
  }
}

for (const [label, args, name] of EXPORTS) {
  const b = document.createElement("button");
  b.textContent = label;
  b.onclick = async () => {
    trouble("");
    const out = args[0] === "import" ? ["-o", name] : [];
    const got = await ask([...args, "-q", ...(out.length ? [] : only), ...out, mains()[0]], "Writing " + name);
    if (!got) return;
    const blob = out.length ? got.made.find((m) => m.name === name)?.blob : got.out;
    if (blob && blob.size && !(got.status && got.status !== 3)) save(blob, name);
    else trouble(got.err || "There is nothing of that in this recording.");
  };
  at("save").append(b);
}
at("save").prepend("Save:");
for (const b of document.querySelectorAll("[data-tab]")) b.onclick = () => tab(b.dataset.tab);
at("stop").onclick = () => { stop(); if (at("work").hidden) show("drop", true); };
at("line").onsubmit = (e) => { e.preventDefault(); command(at("words").value); };
at("pick").onchange = (e) => {
  const list = [...e.target.files];
  e.target.value = "";
  if (list.length) take(list);
};
addEventListener("dragover", (e) => { e.preventDefault(); document.body.classList.add("over"); });
addEventListener("dragleave", () => document.body.classList.remove("over"));
addEventListener("drop", (e) => {
  e.preventDefault();
  document.body.classList.remove("over");
  if (e.dataTransfer.files.length) take(e.dataTransfer.files);
});
