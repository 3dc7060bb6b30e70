import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { build } from "esbuild";
import { describe, expect, it } from "vitest";

const FILE = join(import.meta.dirname, "..", "..", "src", "system", "heap-bounds.ts");

/** Without a bound, it would be 36 to 64. Node 24 and later reach three to four times 8. */
const YOUNG_MB = Number(process.versions.node.split(".")[0]) < 24 ? 26 : 35;

/** Allocates objects of which many survive a collection, while a thread starts. Prints MB. */
const PROGRAM = `
const { getHeapSpaceStatistics } = require("node:v8");
const { Worker } = require("node:worker_threads");
const megabytes = () => getHeapSpaceStatistics().find(({ space_name }) => space_name === "new_space").space_size / 2 ** 20;
let kept = [];
let most = 0;
function make(keep) {
  for (let n = 0; n < 5000; n++) kept.push({ n, text: "x" + n });
  if (kept.length > keep) kept = kept.slice(keep / 2);
  most = Math.max(most, megabytes());
}
async function work(keep) {
  for (let turn = 0; turn < 150; turn++) {
    make(keep);
    await new Promise((resolve) => setImmediate(resolve));
  }
}
/** A thread that has just begun. While one begins a collection may find that little is made, and shrink the space: then another is begun. */
async function besideFullSpace() {
  for (let tries = 0; tries < 50; tries++) {
    await work(60_000);
    const worker = new Worker("setInterval(() => {}, 1000)", { eval: true });
    await new Promise((resolve) => worker.once("online", resolve));
    if (megabytes() >= 8) return worker;
    await worker.terminate();
  }
  throw new Error("the space was never full");
}
(async () => {
  if (process.argv[1] === "bounded") bound.boundHeap();
  await work(60_000);
  const before = most;
  const worker = await besideFullSpace();
  // Not what it came to beside threads before that one.
  most = before;
  // In one turn.
  for (let times = 0; times < 150; times++) make(60_000);
  await work(60_000);
  await worker.terminate();
  const young = most;
  let heap = 0;
  for (let times = 0; times < 20; times++) {
    await work(500_000);
    heap = Math.max(heap, process.memoryUsage().heapTotal / 2 ** 20);
  }
  console.log(JSON.stringify({ young, heap }));
})();
`;

describe("the heap of a server", () => {
  it("stays small, also after a thread has begun, and the process ends when nothing else goes on", async () => {
    const { outputFiles } = await build({ entryPoints: [FILE], bundle: true, platform: "node", format: "cjs", write: false });
    const code = `const bound = (() => { const module = { exports: {} }; ${outputFiles[0]?.text ?? ""}; return module.exports; })(); ${PROGRAM}`;
    const mostOf = (word: string): { young: number; heap: number } => JSON.parse(execFileSync(process.execPath, ["-e", code, word], { encoding: "utf8" }));
    const [bounded, free] = [mostOf("bounded"), mostOf("free")];
    expect(bounded.young).toBeLessThan(YOUNG_MB);
    expect(free.young).toBeGreaterThan(bounded.young);
    expect(free.heap).toBeGreaterThan(1.3 * bounded.heap);
  });
});
