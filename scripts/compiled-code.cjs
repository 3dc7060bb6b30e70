// Keeps what V8 makes of the program's pieces, in the folder of PD_HOME, for the next start: of a command's time, half goes
// into reading code. It is no promise: what is missing, of another version, or not this user's alone is made anew.
"use strict";
const fs = require("node:fs");
const path = require("node:path");
const v8 = require("node:v8");
const vm = require("node:vm");

const FORMAT = 1;
/** A file that another version of Node or of the program has left. */
const UNUSED_MS = 30 * 24 * 3_600_000;
/** V8 copies what does not lie so. */
const ALIGNED = 16;
const WRITABLE_BY_OTHERS = 0o022;
/** Whoever stays has compiled by then what it starts with. */
const AFTER_START_MS = 2000;
const OPENING = "(function(exports, require, module, __filename, __dirname){";

/** Name of a piece → its source and its compiled code as they were kept. */
let kept = new Map();
/** What this process has loaded, while it is to be kept; and whether any of it was compiled here. */
let loaded;
let isNew = false;

/** Takes what was kept for this command, and keeps what it loads. `home`: nothing is kept while there is no such folder. */
exports.use = (home, command) => {
  const file = path.join(home, "compiled", `${command}-${process.versions.v8}-${process.arch}`);
  kept = read(file);
  loaded = new Map();
  const keep = () => {
    clearTimeout(timer);
    process.removeListener("exit", keep);
    // One alone: it has led to no command.
    if (isNew && loaded.size > 1) write(file, new Map([...kept].filter(isOfThisProgram)), loaded);
    [kept, loaded] = [new Map(), undefined];
  };
  const timer = setTimeout(keep, AFTER_START_MS).unref();
  process.once("exit", keep);
};

/** What `source`, the bytes of the file at `place`, is as a function of what `OPENING` names. */
exports.functionOf = (source, place) => {
  const name = path.basename(place);
  const known = kept.get(name);
  // V8 itself compares no more than the length.
  const cachedData = known?.source.equals(source) ? known.code : undefined;
  const script = new vm.Script(`${OPENING}${source}\n})`, {
    filename: place,
    columnOffset: -OPENING.length,
    cachedData,
    importModuleDynamically: vm.constants.USE_MAIN_CONTEXT_DEFAULT_LOADER,
  });
  if (cachedData === undefined || script.cachedDataRejected) isNew = true;
  loaded?.set(name, { source, script });
  return script.runInThisContext();
};

function read(file) {
  try {
    const bytes = readOwn(file);
    const headLength = bytes.readUInt32LE();
    const head = JSON.parse(bytes.toString("latin1", 4, headLength));
    const all = bytes.subarray(headLength);
    if (head.format !== FORMAT || head.bytes !== all.length) return new Map();
    return new Map(head.pieces.map(([name, source, code]) => [name, { source: all.subarray(...source), code: all.subarray(...code) }]));
  } catch {
    return new Map();
  }
}

/** Code that is run: nobody else may have written it. */
function readOwn(file) {
  const { O_RDONLY, O_NOFOLLOW, O_NONBLOCK } = fs.constants;
  const handle = fs.openSync(file, O_RDONLY | (O_NOFOLLOW ?? 0) | (O_NONBLOCK ?? 0));
  try {
    const { uid, mode } = fs.fstatSync(handle);
    const isOwn = process.getuid === undefined || (uid === process.getuid() && (mode & WRITABLE_BY_OTHERS) === 0);
    if (!isOwn) throw new Error(`${file} may be written by others`);
    return fs.readFileSync(handle);
  } finally {
    fs.closeSync(handle);
  }
}

/** Another run of the command may load it again. */
function isOfThisProgram([name]) {
  return fs.existsSync(path.join(__dirname, name));
}

function write(file, pieces, compiled) {
  try {
    // Code is refused by a process with other flags, and a server changes this one for itself (young-space.ts), which sets it again.
    v8.setFlagsFromString("--semi-space-growth-factor=2");
    for (const [name, { source, script }] of compiled) pieces.set(name, { source, code: script.createCachedData() });
    makeFolder(path.dirname(file));
    writeWhole(file, bytesOf(pieces));
    removeUnused(path.dirname(file));
  } catch {
    // A full disk, a home that cannot be written or is not there: the next start takes as long as this one.
  }
}

/** A reader finds the old file or the new one. */
function writeWhole(file, bytes) {
  const draft = `${file}.${process.pid}`;
  // One that was killed may have had this process id.
  fs.rmSync(draft, { force: true });
  const handle = fs.openSync(draft, "wx", 0o600);
  try {
    fs.writeFileSync(handle, bytes);
    // V8 believes what it reads: what is there after a power cut is whole.
    fs.fsyncSync(handle);
    fs.renameSync(draft, file);
  } catch (error) {
    fs.rmSync(draft, { force: true });
    throw error;
  } finally {
    fs.closeSync(handle);
  }
}

/** The home is not for us to make. */
function makeFolder(folder) {
  try {
    fs.mkdirSync(folder, { mode: 0o700 });
  } catch (error) {
    if (error.code !== "EEXIST") throw error;
  }
}

function bytesOf(pieces) {
  const parts = [];
  let end = 0;
  const place = (bytes) => {
    const start = end;
    end += Math.ceil(bytes.length / ALIGNED) * ALIGNED;
    parts.push(bytes, Buffer.alloc(end - start - bytes.length));
    return [start, start + bytes.length];
  };
  const index = [...pieces].map(([name, { source, code }]) => [name, place(source), place(code)]);
  const text = JSON.stringify({ format: FORMAT, bytes: end, pieces: index });
  const head = Buffer.alloc(Math.ceil((text.length + 4) / ALIGNED) * ALIGNED, " ");
  head.writeUInt32LE(head.length);
  head.write(text, 4, "latin1");
  return Buffer.concat([head, ...parts]);
}

function removeUnused(folder) {
  for (const name of fs.readdirSync(folder)) {
    const file = path.join(folder, name);
    if (fs.statSync(file).mtimeMs < Date.now() - UNUSED_MS) fs.rmSync(file, { force: true });
  }
}
