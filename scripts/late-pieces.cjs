// Loads pieces of the program when they are used. Whoever may want one holds its file open from its own start on, so that
// a program that goes on while another version is installed over it loads what belongs to it.
"use strict";
const { closeSync, fstatSync, openSync, readFileSync } = require("node:fs");
const Module = require("node:module");
const path = require("node:path");

/** Path of a piece → its open file, and how that was then. */
const held = new Map();

/** Holds these pieces, but for those that are loaded. */
exports.hold = (names) => {
  for (const name of names) {
    const place = path.join(__dirname, name);
    if (held.has(place) || require.cache[place] !== undefined) continue;
    const file = openSync(place, "r");
    held.set(place, { file, ...stateOf(file) });
  }
};

/** What a piece exports, as `import()` gives it. */
exports.load = async (name) => piece(path.join(__dirname, name));

function piece(place) {
  const known = require.cache[place];
  if (known !== undefined) return known.exports;
  const own = new Module(place, module);
  own.filename = place;
  own.paths = Module._nodeModulePaths(__dirname);
  own.require = (id) => (id.startsWith("./") ? piece(path.join(__dirname, id)) : module.require(id));
  require.cache[place] = own;
  try {
    own._compile(textOf(place), place, "commonjs");
  } catch (error) {
    delete require.cache[place];
    throw error;
  }
  own.loaded = true;
  return own.exports;
}

function textOf(place) {
  const known = held.get(place);
  if (known === undefined) return readFileSync(place, "utf8");
  const { file, size, changed } = known;
  const now = stateOf(file);
  if (now.size !== size || now.changed !== changed)
    throw new Error(`Cannot load ${place}: it was written over while the program runs. Start the program again`);
  held.delete(place);
  try {
    return readFileSync(file, "utf8");
  } finally {
    closeSync(file);
  }
}

function stateOf(file) {
  const { size, mtimeMs: changed } = fstatSync(file);
  return { size, changed };
}
