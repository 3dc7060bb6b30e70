#!/usr/bin/env node
"use strict";
// CommonJS, and one small file behind it: it starts a third faster than ES modules do.
const words = process.argv.slice(2);

if (words.length === 1 && words[0] === "--version") {
  // A reader that has gone away is no failure, as for every command.
  const tell = (error) => {
    if (error.code === "EPIPE") return;
    process.exitCode = 1;
    process.stderr.write(`Error: The output is not whole: ${error.message}\n`);
  };
  process.stdout.on("error", tell).write(`${require("../package.json").version}\n`);
} else {
  // undici parses HTTP with WebAssembly. A process that ends waits until V8 has optimized that code, which took 85 ms of a
  // command's 180. Commands that stay need the optimized code.
  if (!["up", "serve", "dev"].includes(words[0])) require("node:v8").setFlagsFromString("--liftoff-only");
  keepCompiledCode();
  void import("../dist/pd.js")
    .then(({ main }) => main(words))
    .then((code) => {
      process.exitCode = code;
    });
}

/** Node 22 and later keep compiled code in the home. Node executes it, so only this user may be able to write there. */
function keepCompiledCode() {
  const { enableCompileCache } = require("node:module");
  const home = enableCompileCache === undefined ? undefined : homeFolder();
  const found = home === undefined ? undefined : require("node:fs").statSync(home, { throwIfNoEntry: false });
  const isPrivate = found !== undefined && (process.getuid === undefined || (found.uid === process.getuid() && (found.mode & 0o022) === 0));
  const folder = require("node:path").join(home ?? "", "compiled");
  if (isPrivate && isMade(folder)) enableCompileCache(folder);
}

/** Node itself tries for ever to make a folder where the system refuses one, as in /proc. */
function isMade(folder) {
  const { mkdirSync, existsSync } = require("node:fs");
  try {
    mkdirSync(folder, { mode: 0o700 });
    return true;
  } catch {
    return existsSync(folder);
  }
}

/** As in config.ts. Undefined when the user has no home folder. */
function homeFolder() {
  const { PD_HOME: given, XDG_DATA_HOME: data } = process.env;
  const path = require("node:path");
  if (given) return path.resolve(given);
  try {
    return path.join(data || path.join(require("node:os").homedir(), ".local", "share"), "headwater");
  } catch {
    return undefined;
  }
}
