import { closeSync, openSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { spawnSync } from "node:child_process";
import { createReadStream } from "node:fs";
import { expect, it, onTestFinished } from "vitest";
import { TerminalWriter } from "../../src/system/process/terminal-writer.ts";
import { eventually } from "../support/eventually.ts";
import { temporaryFolder } from "../support/home.ts";

it("a terminal writer writes all that it is given, in order", async () => {
  const path = join(await temporaryFolder(), "out");
  const fd = openSync(path, "w");
  onTestFinished(() => closeSync(fd));
  const writer = new TerminalWriter(fd);
  const lines = Array.from({ length: 900 }, (_none, n) => `${n} ${"é".repeat(50)}\n`);
  for (const line of lines) writer.write(line);
  await eventually(async () => readFileSync(path, "utf8") === lines.join(""));
});

it("a terminal writer holds nobody while nothing is taken, keeps a thousand lines, and tells how many more there were", async () => {
  const path = join(await temporaryFolder(), "pipe");
  spawnSync("mkfifo", [path]);
  // With both ends open, nothing blocks. A pipe holds 64 KB.
  const fd = openSync(path, "r+");
  const writer = new TerminalWriter(fd);
  for (let n = 0; n < 5000; n++) writer.write(`${n} ${"x".repeat(200)}\n`);
  let text = "";
  const reader = createReadStream(path, { encoding: "utf8" }).on("data", (part) => (text += String(part)));
  onTestFinished(() => {
    reader.destroy();
    closeSync(fd);
  });
  await eventually(async () => /… \d+ lines were dropped\n$/.test(text));
  expect(text.startsWith(`0 ${"x".repeat(200)}\n1 `)).toBe(true);
  expect(text.split("\n").length).toBeLessThan(1100);
});
