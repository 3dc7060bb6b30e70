// Keeps what V8 makes of the program's pieces, in the folder of PD_HOME, for the next start: of a command's time, half goes
// into reading code. It is no promise: what is missing, of another version, or not this user's alone is made anew.
"use strict";
const fs = require("node:fs");
const path = require("node:path");
const vm = require("node:vm");
const zlib = require("node:zlib");

const FORMAT = 2;
/** Files of this program in the folder, drafts too. */
const KEPT_NAME = /^[a-z][a-z-]*-v\d+\.\d+\.\d+\S*-[a-z\d]+(-[\da-f]+)?(\.\d+)?$/;
/** A file that another version of Node or of the program has left. */
const UNUSED_MS = 30 * 24 * 3_600_000;
/** V8 copies what does not lie so. */
const ALIGNED = 16;
const WRITABLE_BY_OTHERS = 0o022;
/** Whoever stays has compiled by then what it starts with. */
const AFTER_START_MS = 2000;
/** They write nothing at their end: their home may be somebody else's by then. */
const STAYING = new Set(["up", "serve", "dev"]);
const OPENING = "(function(exports, require, module, __filename, __dirname){";

/** How a piece begins whose code is never kept: see common-js.mjs. */
const NEVER_KEPT = Buffer.from('"imports at run time";');

/** Name of a piece → its source and its compiled code as they were kept. */
let kept = new Map();
/** What this process has loaded, while it is to be kept; and whether any of it was compiled here. */
let loaded;
let isNew = false;
/** V8 has taken something of what was kept. */
let wasTaken = false;

/** Takes what was kept for this command, and keeps what it loads. `home`: nothing is kept while there is no such folder. */
exports.use = (home, command) => {
  const file = path.join(home, "compiled", `${command}-${process.version}-${process.arch}${ofFlags()}`);
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
  if (!STAYING.has(command)) process.once("exit", keep);
};

/** V8 refuses what was compiled under other flags: each set of them has a file of its own. */
function ofFlags() {
  const flags = [...process.execArgv, process.env.NODE_OPTIONS ?? ""].join(" ").trim();
  return flags === "" ? "" : `-${zlib.crc32(flags).toString(16)}`;
}

/** What `source`, the bytes of the file at `place`, is as a function of what `OPENING` names. */
exports.functionOf = (source, place) => {
  const text = `${OPENING}${source}\n})`;
  const options = { filename: place, columnOffset: -OPENING.length };
  if (source.subarray(0, NEVER_KEPT.length).equals(NEVER_KEPT))
    return new vm.Script(text, { ...options, importModuleDynamically: vm.constants.USE_MAIN_CONTEXT_DEFAULT_LOADER }).runInThisContext();
  const name = path.basename(place);
  const known = kept.get(name);
  // V8 itself compares no more than the length, and dies of code that is damaged.
  const isSound = known?.source.equals(source) === true && zlib.crc32(known.code) === known.sum;
  const cachedData = isSound ? known.code : undefined;
  const script = new vm.Script(text, { ...options, cachedData });
  // What is refused after others were taken was compiled under the flags that this process began with: the next one begins with them again.
  if (cachedData === undefined || (script.cachedDataRejected && !wasTaken)) isNew = true;
  wasTaken ||= script.cachedDataRejected === false;
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
    return new Map(head.pieces.map(([name, source, code, sum]) => [name, { source: all.subarray(...source), code: all.subarray(...code), sum }]));
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
    const folder = path.dirname(file);
    makeOwnFolder(folder);
    // A server changes these flags for itself (heap-bounds.ts), which sets them again.
    for (const flag of ["--semi-space-growth-factor=2", "--heap-growing-percent=0"]) require("node:v8").setFlagsFromString(flag);
    for (const [name, { source, script }] of compiled) pieces.set(name, { source, code: script.createCachedData() });
    writeWhole(file, bytesOf(pieces));
    for (const name of fs.readdirSync(folder)) if (KEPT_NAME.test(name)) removeIfUnused(path.join(folder, name));
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

/** The home is not for us to make, and in one of somebody else nothing is kept. Throws for what others have put in the place of the folder. */
function makeOwnFolder(folder) {
  const home = path.dirname(folder);
  if (!isOwnFolder(fs.statSync(home))) throw new Error(`${home} is not this user's`);
  const found = fs.lstatSync(folder, { throwIfNoEntry: false });
  if (found === undefined) fs.mkdirSync(folder, { mode: 0o700 });
  else if (!isOwnFolder(found)) throw new Error(`${folder} is no folder of this user's`);
}

function isOwnFolder(found) {
  return found.isDirectory() && (process.getuid === undefined || found.uid === process.getuid());
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
  const index = [...pieces].map(([name, { source, code }]) => [name, place(source), place(code), zlib.crc32(code)]);
  const text = JSON.stringify({ format: FORMAT, bytes: end, pieces: index });
  const head = Buffer.alloc(Math.ceil((text.length + 4) / ALIGNED) * ALIGNED, " ");
  head.writeUInt32LE(head.length);
  head.write(text, 4, "latin1");
  return Buffer.concat([head, ...parts]);
}

/** Others may remove it first; a file that is still in use is made anew. */
function removeIfUnused(file) {
  const found = fs.lstatSync(file, { throwIfNoEntry: false });
  if (found?.isFile() === true && found.mtimeMs < Date.now() - UNUSED_MS) fs.rmSync(file, { force: true });
}
