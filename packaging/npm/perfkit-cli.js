#!/usr/bin/env node
// perfkit-cli.js - perfkit's command line in node: the same program as on Linux, compiled to
// WebAssembly, with this machine's files.
"use strict";
const fs = require("fs");
const os = require("os");
const path = require("path");
const v8 = require("v8");
const { BLOCK, blockFiles, standardStreams, runMain } = require("./host.js");

const windows = process.platform === "win32";

// The shells of Windows leave * and ? to programs. One that matches nothing stays.
function expand(word) {
  const leaf = path.basename(word), dir = path.dirname(word);
  if (word.startsWith("-") || !/[*?]/.test(leaf)) return [word];
  const like = new RegExp("^" + leaf.replace(/[.+^${}()|[\]\\]/g, "\\$&").replace(/\*/g, ".*").replace(/\?/g, ".") + "$", "i");
  let names = [];
  try {
    names = fs.readdirSync(dir).filter((name) => like.test(name) && (leaf[0] === "." || name[0] !== "."));
  } catch (e) { /* then the word itself is not found */ }
  const prefix = word.slice(0, word.length - leaf.length);
  return names.length ? names.sort().map((name) => prefix + name) : [word];
}

// C:\a\b is /C:/a/b to the program.
const inside = (name) => (/^[A-Za-z]:[\\/]/.test(name) ? "/" + name : name).replace(/\\/g, "/");

// Blocks of temporary files in one file without a name, which goes with the process.
function temporary() {
  const unused = [];
  let fd, end = 0;
  function open() {
    const name = path.join(os.tmpdir(), "perfkit-" + require("crypto").randomUUID());
    fd = fs.openSync(name, "wx+", 0o600);
    fs.unlinkSync(name);
  }
  return {
    put(bytes) {
      if (fd === undefined) open();
      const place = unused.length ? unused.pop() : end++;
      for (let at = 0; at < bytes.length;) at += fs.writeSync(fd, bytes, at, bytes.length - at, place * BLOCK + at);
      return place;
    },
    get(place, from, to) {
      const bytes = new Uint8Array(to - from);
      fs.readSync(fd, bytes, 0, bytes.length, place * BLOCK + from);
      return bytes;
    },
    drop(place) { unused.push(place); },
  };
}

// Every folder of the root (every drive of Windows) under its own name; temporary files go with
// the process.
function mountFiles(FS, NODEFS) {
  const own = new Set(["dev", "proc", "sys"]);
  const roots = windows
    ? "ABCDEFGHIJKLMNOPQRSTUVWXYZ".split("").map((x) => x + ":").filter((x) => fs.existsSync(x + "\\"))
    : fs.readdirSync("/").filter((x) => !own.has(x) && fs.statSync("/" + x, { throwIfNoEntry: false })?.isDirectory());
  for (const root of roots) {
    try {
      FS.mkdirTree("/" + root);
      FS.mount(NODEFS, { root: windows ? root + "\\" : "/" + root }, "/" + root);
    } catch (e) { /* one that cannot be seen is not there */ }
  }
  // emscripten's takes a link's target for a path of the current folder
  NODEFS.node_ops.readlink = (node) => inside(fs.readlinkSync(NODEFS.realPath(node)));
  FS.mkdirTree("/.perfkit/tmp");
  FS.chdir(inside(process.cwd()));
}

function sleep(ms) {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
}

// A pipe that is full or empty for now is asked again.
function retried(io, ended) {
  for (;;) {
    try {
      return io();
    } catch (e) {
      if (e.code === "EOF") return 0;
      if (e.code !== "EAGAIN") return ended;
      sleep(5);
    }
  }
}

function write(fd, bytes) {
  for (let at = 0; at < bytes.length;) {
    const n = retried(() => fs.writeSync(fd, bytes, at, bytes.length - at), -1);
    if (n < 0) return false;
    at += n;
  }
  return true;
}

// Before node 22, V8 spends a third of a short run on compiling again, and better, what ran for
// moments only; these are the newer one's values.
function hurry() {
  if (parseInt(process.versions.node) < 22) v8.setFlagsFromString("--wasm-tiering-budget=13000000");
}

async function main(words) {
  hurry();
  const factory = require("./perfkit.js");
  const args = windows ? words.flatMap(expand).map(inside) : words;
  const program = await factory({
    wasmBinary: fs.readFileSync(path.join(__dirname, "perfkit.wasm")),
    thisProgram: "perfkit",
    print() {},
    printErr() {},
    quit() {},
    preRun: [(p) => Object.assign(p.ENV, process.env, { TMPDIR: "/.perfkit/tmp", XDG_CACHE_HOME: "/.perfkit/cache" })],
  });
  standardStreams(program.FS, {
    read: (bytes) => retried(() => fs.readSync(0, bytes, 0, bytes.length, null), 0),
    out: (bytes) => write(1, bytes),
    err: (bytes) => write(2, bytes),
  });
  blockFiles(program.FS, temporary());
  try {
    mountFiles(program.FS, program.NODEFS);
  } catch (e) {
    write(2, Buffer.from("perfkit: the current folder cannot be read\n"));
    return 1;
  }
  return runMain(program, args, (line) => write(2, Buffer.from(line + "\n")));
}

if (require.main === module) main(process.argv.slice(2)).then((status) => { process.exitCode = status; });
module.exports = { expand, inside };
