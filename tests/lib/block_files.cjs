// block_files.cjs SRC - blockFiles of packaging/npm/host.js against plain bytes: two files, larger than what it
// keeps in memory, written, read and cut at random places.
"use strict";
const { BLOCK, blockFiles } = require(process.argv[2] + "/packaging/npm/host.js");
const file = { node: { setattr() {} }, stream: { mmap: 1 } }, places = [], FS = { filesystems: { MEMFS: { ops_table: { file } } } };
let dropped = 0;
blockFiles(FS, {
  put: (bytes) => places.push(Buffer.from(bytes)) - 1,
  get: (place, from, to) => places[place].subarray(from, to),
  drop: (place) => { places[place] = null; dropped++; },
});
const SIZE = 60 * BLOCK, wants = [Buffer.alloc(SIZE), Buffer.alloc(SIZE)], files = [{ usedBytes: 0 }, { usedBytes: 0 }];
let seed = 1;
const random = (n) => (seed = (seed * 1103515245 + 12345) % 2147483648) % n;
for (let step = 0; step < 4000; step++) {
  const k = random(2), node = files[k], want = wants[k], at = random(SIZE), n = Math.min(SIZE - at, random(step % 50 ? 9000 : 3 * BLOCK));
  const kind = random(40);
  if (kind === 0) {
    const size = Math.min(node.usedBytes, random(SIZE)); // shorter: what was behind is gone
    file.node.setattr(node, { size });
    want.fill(0, size);
  } else if (kind < 24) {
    const bytes = Buffer.alloc(n + 3, step % 251 + 1);
    file.stream.write({ node }, new Int8Array(bytes.buffer, bytes.byteOffset, bytes.length), 3, n, at);
    want.fill(step % 251 + 1, at, at + n);
  } else {
    const got = Buffer.alloc(n + 5), m = file.stream.read({ node }, new Int8Array(got.buffer, got.byteOffset, got.length), 5, n, at);
    if (m !== Math.max(0, Math.min(n, node.usedBytes - at))) throw Error("read " + m + " of " + n);
    if (m && got.compare(want, at, at + m, 5, 5 + m)) throw Error("step " + step + ": other bytes");
  }
}
if (!places.length || !dropped) throw Error("nothing left memory");
