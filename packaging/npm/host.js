// host.js - what perfkit.wasm needs of whoever runs it, node or a page's worker: descriptors 0 to 2
// that carry bytes, and one program run.
"use strict";

// streams: {read(bytes) -> n, out(bytes), err(bytes)}; they throw nothing.
function standardStreams(FS, streams) {
  const EPIPE = 64, EINVAL = 28, MAJOR = 64;
  const view = (buffer, offset, length) => new Uint8Array(buffer.buffer, buffer.byteOffset + offset, length);
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

if (typeof module !== "undefined") module.exports = { standardStreams, runMain };
