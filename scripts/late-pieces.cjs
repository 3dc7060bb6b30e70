// Loads pieces of the program when they are used. Whoever may want one holds its file open from its own start on, so that
// a program that goes on while another version is installed over it loads what belongs to it.
"use strict";
const { closeSync, fstatSync, openSync, readFileSync } = require("node:fs");
const Module = require("node:module");
const { join } = require("node:path");

/** Path of a piece → its open file, and how that was then. */
const held = new Map();

/** Holds these pieces, but for those that are loaded. */
exports.hold = (names) => {
  for (const name of names) {
    const path = join(__dirname, name);
    if (held.has(path) || require.cache[path] !== undefined) continue;
    const file = openSync(path, "r");
    held.set(path, { file, ...stateOf(file) });
  }
};

/** What a piece exports, as `import()` gives it. */
exports.load = async (name) => piece(join(__dirname, name));

function piece(path) {
  const known = require.cache[path];
  if (known !== undefined) return known.exports;
  const own = new Module(path, module);
  own.filename = path;
  own.paths = Module._nodeModulePaths(__dirname);
  own.require = (id) => (id.startsWith("./") ? piece(join(__dirname, id)) : module.require(id));
  require.cache[path] = own;
  try {
    own._compile(textOf(path), path, "commonjs");
  } catch (error) {
    delete require.cache[path];
    throw error;
  }
  own.loaded = true;
  return own.exports;
}

function textOf(path) {
  const known = held.get(path);
  if (known === undefined) return readFileSync(path, "utf8");
  const { file, size, changed } = known;
  const now = stateOf(file);
  if (now.size !== size || now.changed !== changed) throw new Error(`Cannot load ${path}: it was written over while the program runs. Start the program again`);
  held.delete(path);
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
