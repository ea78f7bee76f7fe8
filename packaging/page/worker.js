// worker.js - one command of perfkit on the files that were dropped; one worker a command, so that
// its memory is gone with it and a command can be stopped.
"use strict";
const PIECE = 4 << 20, AHEAD = 8 << 20;

// read(file, position, into) -> bytes. A read costs the browser more than its bytes, so one that follows
// another reads ahead. No buffer of it is collected while the program runs: it goes when it is sent, to
// nobody.
function fileReader() {
  const reader = new FileReaderSync(), { port1: nobody, port2 } = new MessageChannel();
  const ahead = new Uint8Array(AHEAD);
  let of, from = 0, end = 0; // ahead holds these bytes of this file
  port2.close();

  function more(file, position, length, into) {
    const buffer = reader.readAsArrayBuffer(file.slice(position, position + length)), n = buffer.byteLength;
    into.set(new Uint8Array(buffer));
    nobody.postMessage(null, [buffer]);
    return n;
  }

  return (file, position, into) => {
    const length = Math.min(into.length, file.size - position);
    if (length <= 0) return 0;
    const held = file === of && position >= from ? Math.max(0, Math.min(end - position, length)) : 0;
    into.set(ahead.subarray(position - from, position - from + held));
    const rest = length - held, next = position + held;
    if (rest && rest < AHEAD && file === of && next === end) {
      end = (from = next) + more(file, next, AHEAD, ahead);
      into.set(ahead.subarray(0, rest), held);
    } else if (rest) {
      more(file, next, rest, into.subarray(held));
      of = file;
      from = end = next + rest;
    }
    return length;
  };
}

// The dropped files stay where they are; what is asked for is read.
function showFiles(program, files, progress) {
  const { FS, WORKERFS } = program;
  FS.mkdir("/files");
  FS.mkdir("/w");
  FS.mount(WORKERFS, { files: [] }, "/files");
  const read = fileReader(), folder = FS.lookupPath("/w").node;
  let done = 0, told = 0;
  WORKERFS.stream_ops.read = (stream, buffer, offset, length, position) => {
    const n = read(stream.node.contents, position, view(buffer, offset, length));
    done += n;
    if (done - told >= PIECE) progress(told = done);
    return n;
  };
  for (const { name, file } of files)
    WORKERFS.createNode(folder, name, WORKERFS.FILE_MODE, 0, file, file.lastModifiedDate || new Date(file.lastModified));
  FS.chdir("/w");
}

// Blobs are the browser's: it writes them to disk when memory is short.
function temporary() {
  const reader = new FileReaderSync();
  return {
    put: (bytes) => new Blob([bytes]),
    get: (blob, from, to) => new Uint8Array(reader.readAsArrayBuffer(blob.slice(from, to))),
    drop() {},
  };
}

function written(FS, files) {
  const had = new Set([".", "..", ...files.map((f) => f.name)]), out = [];
  for (const name of FS.readdir("/w"))
    if (!had.has(name) && FS.isFile(FS.stat("/w/" + name).mode)) out.push({ name, blob: new Blob([FS.readFile("/w/" + name)]) });
  return out;
}

async function run({ wasm, args, files }) {
  const out = [], err = [];
  const program = await perfkit({
    instantiateWasm(imports, done) {
      WebAssembly.instantiate(wasm, imports).then((instance) => done(instance, wasm));
      return {};
    },
    thisProgram: "perfkit",
    print() {},
    printErr() {},
    quit() {},
    preRun: [(p) => Object.assign(p.ENV, { HOME: "/tmp", TMPDIR: "/tmp", XDG_CACHE_HOME: "/tmp/cache" })],
  });
  standardStreams(program.FS, {
    read: () => 0,
    out: (bytes) => out.push(bytes.slice()),
    err: (bytes) => err.push(bytes.slice()),
  });
  blockFiles(program.FS, temporary());
  showFiles(program, files, (read) => postMessage({ read }));
  const status = runMain(program, args, (line) => err.push(new TextEncoder().encode(line + "\n")));
  postMessage({ status, out: new Blob(out), err: await new Blob(err).text(), made: written(program.FS, files) });
}

onmessage = (event) => run(event.data).catch((e) => postMessage({ status: 1, out: new Blob(), err: "perfkit: " + e + "\n", made: [] }));
