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
  // Node 22 and later keep compiled code in this folder.
  require("node:module").enableCompileCache?.(require("node:path").join(homeFolder(), "compiled"));
  void import("../dist/pd.js")
    .then(({ main }) => main(words))
    .then((code) => {
      process.exitCode = code;
    });
}

/** The default home, as in config.ts. Its compiled code is private to the user. */
function homeFolder() {
  const { PD_HOME: home, XDG_DATA_HOME: data, HOME: user } = process.env;
  return home || require("node:path").join(data || `${user}/.local/share`, "headwater");
}
