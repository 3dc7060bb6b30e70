// Loads pieces of the program when they are used. Whoever may want one that was not kept holds its file open from its own start on, so that
// a program that goes on while another version is installed over it loads what belongs to it.
"use strict";
const { closeSync, fstatSync, openSync, readFileSync } = require("node:fs");
// That of Node; to require it loads its ES modules as well, for a millisecond.
const Module = module.constructor;
const { homedir } = require("node:os");
const path = require("node:path");
const compiledCode = require("./compiled-code.cjs");

/** Path of a piece → its open file, and how that was then. */
const held = new Map();

/** How pieces name each other. */
const OWN = "./";

/** There are hundreds at a start: to normalize each path takes so long that V8 compiles an optimized function for it, and has its compiler in memory from then on. */
const placeOf = (name) => __dirname + path.sep + name;

/** Holds these pieces, but for those that are loaded, or need no file. */
exports.hold = (ids) => {
  for (const id of ids) {
    const name = id.slice(OWN.length);
    const place = placeOf(name);
    if (held.has(place) || require.cache[place] !== undefined || compiledCode.has(name)) continue;
    const file = openSync(place, "r");
    held.set(place, { file, ...stateOf(file) });
  }
};

/** What a piece exports, as `import()` gives it. */
exports.load = async (id) => piece(id.slice(OWN.length));

/** What the command's own piece exports. What V8 makes of all that it loads is kept for the next time. */
exports.begin = (command) => {
  compiledCode.use(homeFolder(), command);
  return piece("pd.cjs");
};

/** That of `config.ts`; a folder that is named by the command line alone keeps no code. */
function homeFolder() {
  const { PD_HOME: given = "", XDG_DATA_HOME: data } = process.env;
  // Who has no home folder may name one.
  return given === "" ? path.join(data ?? path.join(homedir(), ".local", "share"), "headwater") : path.resolve(given);
}

/** All pieces lie in this folder, and so they find the same. */
const requireOfPieces = Object.assign((id) => (id.startsWith(OWN) ? piece(id.slice(OWN.length)) : require(id)), require);

function piece(name) {
  const place = placeOf(name);
  const known = require.cache[place];
  if (known !== undefined) return known.exports;
  const own = new Module(place, module);
  own.filename = place;
  own.paths = module.paths;
  require.cache[place] = own;
  try {
    compiledCode.functionOf(name, place, bytesOf).call(own.exports, own.exports, requireOfPieces, own, place, __dirname);
  } catch (error) {
    delete require.cache[place];
    throw error;
  }
  own.loaded = true;
  return own.exports;
}

function bytesOf(place) {
  const known = held.get(place);
  if (known === undefined) return readFileSync(place);
  const { file, size, changed } = known;
  const now = stateOf(file);
  if (now.size !== size || now.changed !== changed)
    throw new Error(`Cannot load ${place}: it was written over while the program runs. Start the program again`);
  held.delete(place);
  try {
    return readFileSync(file);
  } finally {
    closeSync(file);
  }
}

function stateOf(file) {
  const { size, mtimeMs: changed } = fstatSync(file);
  return { size, changed };
}
