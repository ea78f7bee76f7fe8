// host.js - what perfkit.wasm needs of whoever runs it, node or a page's worker: descriptors 0 to 2
// that carry bytes, temporary files of any size, and one program run.
"use strict";

const view = (buffer, offset, length) => new Uint8Array(buffer.buffer, buffer.byteOffset + offset, length);

// Files in memory (MEMFS) as blocks, of which only the newest stay there: what is unpacked may be
// larger than memory. store: {put(bytes) -> place, get(place, from, to) -> bytes, drop(place)}.
const BLOCK = 1 << 20;
function blockFiles(FS, store) {
  const KEPT = 64;
  const kept = []; // {file, i}: file.blocks[i] is in memory
  const { node, stream } = FS.filesystems.MEMFS.ops_table.file;
  const inMemory = (block) => block instanceof Uint8Array;

  function keep(file, i, block) {
    file.blocks[i] = block;
    kept.push({ file, i });
    if (kept.length <= KEPT) return;
    const old = kept.shift(), bytes = old.file.blocks && old.file.blocks[old.i];
    if (inMemory(bytes)) old.file.blocks[old.i] = { place: store.put(bytes) };
  }

  function blockOf(file, i) {
    const block = (file.blocks = file.blocks || [])[i];
    if (inMemory(block)) return block;
    const bytes = new Uint8Array(BLOCK);
    if (block) {
      bytes.set(store.get(block.place, 0, BLOCK));
      store.drop(block.place);
    }
    keep(file, i, bytes);
    return bytes;
  }

  // Each part of a block that [position, position + length) touches.
  function each(position, length, visit) {
    for (let done = 0; done < length;) {
      const from = (position + done) % BLOCK, n = Math.min(BLOCK - from, length - done);
      visit(Math.floor((position + done) / BLOCK), from, n, done);
      done += n;
    }
    return length;
  }

  function resize(file, size) {
    const blocks = file.blocks || [], whole = Math.ceil(size / BLOCK);
    for (const b of blocks.splice(whole)) if (b && b.place !== undefined) store.drop(b.place);
    if (size < file.usedBytes && size % BLOCK && blocks[whole - 1]) blockOf(file, whole - 1).fill(0, size % BLOCK);
    file.usedBytes = size;
  }

  stream.read = ({ node: file }, buffer, offset, length, position) =>
    each(position, Math.max(0, Math.min(file.usedBytes - position, length)), (i, from, n, done) => {
      const block = file.blocks && file.blocks[i], into = view(buffer, offset + done, n);
      if (!block) into.fill(0);
      else if (!inMemory(block) && 4 * n >= BLOCK) into.set(store.get(block.place, from, from + n));
      else into.set(blockOf(file, i).subarray(from, from + n));
    });
  stream.write = ({ node: file }, buffer, offset, length, position) => {
    file.timestamp = Date.now();
    each(position, length, (i, from, n, done) => blockOf(file, i).set(view(buffer, offset + done, n), from));
    file.usedBytes = Math.max(file.usedBytes, position + length);
    return length;
  };
  stream.allocate = ({ node: file }, offset, length) => { file.usedBytes = Math.max(file.usedBytes, offset + length); };
  delete stream.mmap;
  const setattr = node.setattr;
  node.setattr = (file, attr) => {
    setattr(file, { ...attr, size: undefined });
    if (attr.size !== undefined) resize(file, attr.size);
  };
}

// streams: {read(bytes) -> n, out(bytes), err(bytes)}; they throw nothing.
function standardStreams(FS, streams) {
  const EPIPE = 64, EINVAL = 28, MAJOR = 64;
  const writer = (put) => (stream, buffer, offset, length) => {
    if (!put(view(buffer, offset, length))) throw new FS.ErrnoError(EPIPE);
    return length;
  };
  const no = () => { throw new FS.ErrnoError(EINVAL); };
  const devices = [
    { read: (stream, buffer, offset, length) => streams.read(view(buffer, offset, length)), write: no },
    { read: no, write: writer(streams.out) },
    { read: no, write: writer(streams.err) },
  ];
  for (let fd = 0; fd < 3; fd++) {
    const id = FS.makedev(MAJOR, fd), path = "/dev/perfkit" + fd;
    FS.registerDevice(id, { open() {}, close() {}, ...devices[fd] });
    FS.mkdev(path, id);
    FS.close(FS.streams[fd]);
    FS.open(path, fd ? 1 : 0); // the lowest number that is free
  }
}

// The exit status. What stops the program otherwise is one line.
function runMain(program, args, say) {
  try {
    return program.callMain(args);
  } catch (e) {
    if (e && typeof e.status === "number") return e.status;
    say("perfkit: internal error: " + String((e && e.message) || e).split("\n")[0]);
    return 1;
  }
}

if (typeof module !== "undefined") module.exports = { BLOCK, blockFiles, standardStreams, runMain };
