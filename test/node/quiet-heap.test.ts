import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { build } from "esbuild";
import { describe, expect, it } from "vitest";

const FILE = join(import.meta.dirname, "..", "..", "src", "system", "process", "quiet-heap.ts");

const PROGRAM = `
const { collectWhenQuiet } = require("./quiet-heap.cjs");
let kept = Array.from({ length: 3_000_000 }, (_, n) => ({ n }));
collectWhenQuiet({ lookMs: 50 });
const before = process.memoryUsage().heapTotal;
kept = undefined;
const began = Date.now();
const timer = setInterval(() => {
  if (process.memoryUsage().heapTotal > before / 2 && Date.now() - began < 10_000) return;
  clearInterval(timer);
  console.log(JSON.stringify({ before, after: process.memoryUsage().heapTotal, gc: typeof globalThis.gc }));
}, 50);
`;

describe("a thread that has become quiet", () => {
  it("gives back what its heap does not need, and its process ends when nothing else goes on", async () => {
    const { outputFiles } = await build({ entryPoints: [FILE], bundle: true, platform: "node", format: "cjs", write: false });
    const code = PROGRAM.replace(
      'require("./quiet-heap.cjs")',
      `(() => { const module = { exports: {} }; ${outputFiles[0]?.text ?? ""}; return module.exports; })()`,
    );
    const told = JSON.parse(execFileSync(process.execPath, ["-e", code], { encoding: "utf8" }));
    expect(told.after).toBeLessThan(told.before / 2);
    expect(told.gc).toBe("undefined");
  });
});
