// Keeps the program's pieces that a command loads as one script, with what V8 makes of it, in the folder of PD_HOME for the
// next start: of a command's time, half goes into finding, reading and compiling code. It is no promise: what is missing, of
// another version, or not this user's alone is made anew.
"use strict";
const fs = require("node:fs");
const path = require("node:path");
const vm = require("node:vm");

/** Names these files: two builds of the program keep nothing in common. The build puts its own name here. */
const BUILD = "source";
/** Files of this program in the folder, of earlier versions and drafts too. */
const KEPT_NAME = /^[a-z][a-z-]*-([\da-z]+-)?v\d+\.\d+\.\d+\S*-[a-z\d]+(-[\da-f]+)?(\.\d+)?$/;
/** A file that another version of Node or of the program has left. */
const UNUSED_MS = 30 * 24 * 3_600_000;
const WRITABLE_BY_OTHERS = 0o022;
/** Whoever stays has compiled by then what it starts with. */
const AFTER_START_MS = 2000;
/** They write nothing at their end: their home may be somebody else's by then. */
const STAYING = new Set(["up", "serve", "dev"]);
const OPENING = "(exports, require, module, __filename, __dirname){";

/** How a piece begins whose code is never kept: see common-js.mjs. */
const NEVER_KEPT = Buffer.from('"imports at run time";');

/** An object with a function for each piece, by its name. */
const TEXT_BEGINS = "({__proto__:null";
const TEXT_ENDS = "})";

/** Four numbers, which are the format, the bytes of the text, those of the code and nothing; then the build. */
const HEAD_BYTES = 32;
const BUILD_PLACE = 16;
const FORMAT = 4;
/** The second half is looked at in parts. What is allocated in one piece and freed raises what the C library keeps for later. */
const PART_BYTES = 64 * 1024;
/** V8 copies code that lies elsewhere. */
const ALIGNED = 16;

/** Name of a piece → what it is as a function. */
let kept = { __proto__: null };
/** Pieces that this process has loaded from elsewhere, while they are to be kept. */
let added;

/** Takes what was kept for this command, and keeps what it loads. `home`: nothing is kept while there is no such folder. */
exports.use = (home, given) => {
  // It loads what asks a server, which the server itself does without.
  const command = STAYING.has(given) && process.argv.includes("--detach") ? "detach" : given;
  const file = path.join(home, "compiled", `${command}-${BUILD}-${process.version}-${process.arch}${ofFlags()}`);
  const found = read(file, `pieces of ${command}`);
  kept = found?.pieces ?? kept;
  added = new Map();
  const keep = () => {
    // One alone: it has led to no command.
    if (added.size > (found === undefined ? 1 : 0) && areOfThisBuild(added)) write(file, textWith(found?.text, added));
    else if (found?.isCompiled === false) write(file, found.text, found.script);
    added = undefined;
  };
  if (STAYING.has(command)) setTimeout(keep, AFTER_START_MS).unref();
  else process.once("exit", keep);
};

/** Each set of flags has a file of its own. By FNV-1a: Node's own hashes take longer to load than all else here. */
function ofFlags() {
  const flags = [...process.execArgv, process.env.NODE_OPTIONS ?? ""].join(" ").trim();
  if (flags === "") return "";
  let hash = 0x811c9dc5;
  for (const byte of Buffer.from(flags)) hash = Math.imul(hash ^ byte, 0x01000193);
  return `-${(hash >>> 0).toString(16)}`;
}

/** Whether this piece is here, whatever has become of its file. */
exports.has = (name) => kept[name] !== undefined;

/** This piece as a function of what `OPENING` names. `read`: gives the bytes at `place`, when they are wanted. */
exports.functionOf = (name, place, read) => {
  const known = kept[name];
  if (known !== undefined) return known;
  const source = read(place);
  const isNeverKept = source.subarray(0, NEVER_KEPT.length).equals(NEVER_KEPT);
  if (!isNeverKept) added?.set(name, source);
  const importing = isNeverKept ? { importModuleDynamically: vm.constants.USE_MAIN_CONTEXT_DEFAULT_LOADER } : {};
  return new vm.Script(`(function${OPENING}${source}\n})`, { filename: place, columnOffset: -OPENING.length - 9, ...importing }).runInThisContext();
};

/** Its functions are compiled by the next start that uses them, and that one keeps them so. */
function textWith(text, pieces) {
  const more = [...pieces].map(([name, source]) => `,${JSON.stringify(name)}:function${OPENING}${source}\n}`);
  return [text?.slice(0, -TEXT_ENDS.length) ?? TEXT_BEGINS, ...more, TEXT_ENDS].join("");
}

/** What was kept; `name`: that of the script in a stack. */
function read(file, name) {
  try {
    const bytes = readOwn(file);
    const [format, textBytes, codeBytes] = [0, 4, 8].map((place) => bytes.readUInt32LE(place));
    const build = bytes.toString("latin1", BUILD_PLACE, HEAD_BYTES).trim();
    const size = HEAD_BYTES + aligned(textBytes) + aligned(codeBytes);
    if (format !== FORMAT || build !== BUILD || bytes.length !== size) return undefined;
    const text = bytes.toString("utf8", HEAD_BYTES, HEAD_BYTES + textBytes);
    const code = bytes.subarray(HEAD_BYTES + aligned(textBytes), HEAD_BYTES + aligned(textBytes) + codeBytes);
    // The text is written without code first.
    const script = new vm.Script(text, { filename: path.join(__dirname, name), ...(codeBytes === 0 ? {} : { cachedData: code }) });
    // What V8 refuses was compiled under other flags than this process began with.
    return { text, script, pieces: script.runInThisContext(), isCompiled: codeBytes > 0 && script.cachedDataRejected === false };
  } catch {
    return undefined;
  }
}

/** Code that is run: nobody else may have written it. Throws when the file's two halves are not the same. */
function readOwn(file) {
  const folder = fs.lstatSync(path.dirname(file));
  if (!isOwnFolder(folder) || (process.getuid !== undefined && (folder.mode & WRITABLE_BY_OTHERS) !== 0)) throw new Error(`${file} may be replaced by others`);
  const { O_RDONLY, O_NOFOLLOW, O_NONBLOCK } = fs.constants;
  const handle = fs.openSync(file, O_RDONLY | (O_NOFOLLOW ?? 0) | (O_NONBLOCK ?? 0));
  try {
    const { uid, mode, size } = fs.fstatSync(handle);
    const isOwn = process.getuid === undefined || (uid === process.getuid() && (mode & WRITABLE_BY_OTHERS) === 0);
    if (!isOwn) throw new Error(`${file} may be written by others`);
    if (size % 2 !== 0) throw new Error(`${file} is damaged`);
    const bytes = Buffer.allocUnsafeSlow(size / 2);
    let place = fs.readSync(handle, bytes);
    const part = Buffer.allocUnsafeSlow(PART_BYTES);
    for (let at = 0; at < bytes.length; at += PART_BYTES) {
      const read = fs.readSync(handle, part, 0, PART_BYTES, place);
      const expected = bytes.subarray(at, at + PART_BYTES);
      if (!expected.equals(part.subarray(0, read))) throw new Error(`${file} is damaged`);
      place += read;
    }
    return bytes;
  } finally {
    fs.closeSync(handle);
  }
}

function write(file, text, script) {
  try {
    const folder = path.dirname(file);
    makeOwnFolder(folder);
    writeWhole(file, bytesOf(Buffer.from(text), script === undefined ? Buffer.alloc(0) : codeOf(script)));
    for (const name of fs.readdirSync(folder)) if (KEPT_NAME.test(name)) removeIfUnused(path.join(folder, name));
  } catch {
    // A full disk, a home that cannot be written or is not there: the next start takes as long as this one.
  }
}

/** Another version may be put over this one while it runs, and this one again over that. */
function areOfThisBuild(pieces) {
  try {
    const list = fs.readFileSync(path.join(__dirname, "pieces.json"));
    const hashes = hashOf(list) === BUILD ? JSON.parse(list) : {};
    return [...pieces].every(([name, source]) => hashes[name] === hashOf(source));
  } catch {
    return false;
  }
}

/** As the build has it (`common-js.mjs`). */
function hashOf(bytes) {
  return require("node:crypto").createHash("sha256").update(bytes).digest("hex").slice(0, 16);
}

function codeOf(script) {
  // A server changes these flags for itself (heap-bounds.ts), which sets them again.
  for (const flag of ["--semi-space-growth-factor=2", "--heap-growing-percent=0"]) require("node:v8").setFlagsFromString(flag);
  return script.createCachedData();
}

/** A reader finds the old file or the new one. */
function writeWhole(file, bytes) {
  const draft = `${file}.${process.pid}`;
  // One that was killed may have had this process id.
  fs.rmSync(draft, { force: true });
  const handle = fs.openSync(draft, "wx", 0o600);
  try {
    // Twice: V8 dies of code that is damaged, and comparing both takes a tenth of what a checksum would.
    for (let half = 0; half < 2; half++) fs.writeFileSync(handle, bytes);
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

/** Half of what the file holds. */
function bytesOf(text, code) {
  const whole = Buffer.alloc(HEAD_BYTES + aligned(text.length) + aligned(code.length));
  for (const [index, number] of [FORMAT, text.length, code.length].entries()) whole.writeUInt32LE(number, index * 4);
  whole.write(BUILD.padEnd(HEAD_BYTES - BUILD_PLACE), BUILD_PLACE, "latin1");
  text.copy(whole, HEAD_BYTES);
  code.copy(whole, HEAD_BYTES + aligned(text.length));
  return whole;
}

function aligned(bytes) {
  return Math.ceil(bytes / ALIGNED) * ALIGNED;
}

/** Others may remove it first; a file that is still in use is made anew. */
function removeIfUnused(file) {
  const found = fs.lstatSync(file, { throwIfNoEntry: false });
  if (found?.isFile() === true && found.mtimeMs < Date.now() - UNUSED_MS) fs.rmSync(file, { force: true });
}
