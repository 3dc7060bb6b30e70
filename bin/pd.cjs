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
  const isCommand = /^[a-z][a-z-]{0,30}$/.test(words[0] ?? "");
  const { main } = isCommand ? require("../dist/pieces.cjs").begin(words[0]) : require("../dist/pd.cjs");
  main(words).then((code) => {
    process.exitCode = code;
  });
}
