// npm run bench [part …]. Compares each figure with a limit: a minimal program for the same work, in the same minutes.
import { mkdirSync, writeFileSync } from "node:fs";
import { cpus } from "node:os";
import { join } from "node:path";
import { round } from "./support.mjs";

const PARTS = ["start", "commands", "reload", "deploy", "requests", "slow-disk", "memory", "deliveries", "emits", "streams", "workflows", "growth", "peers"];
/** Slow, or in need of a browser or of PostgreSQL: only when named. */
const BY_NAME = ["waiting", "saves", "page", "postgres", "cluster"];

const wanted = process.argv.slice(2);
const unknown = wanted.filter((name) => ![...PARTS, ...BY_NAME].includes(name));
if (unknown.length > 0) {
  console.error(`There is no part ${unknown.join(", ")}: ${[...PARTS, ...BY_NAME].join(", ")}`);
  process.exit(2);
}

const machine = { node: process.version, platform: `${process.platform} ${process.arch}`, cpus: cpus().length, at: new Date().toISOString() };
console.log(`node ${machine.node}, ${machine.platform}, ${machine.cpus} cores`);
const results = [];
for (const name of wanted.length === 0 ? PARTS : wanted) {
  const { default: measure } = await import(`./parts/${name}.mjs`);
  const began = performance.now();
  for (const row of await measure()) {
    results.push({ part: name, ...row });
    show(row);
  }
  console.log(`   (${name}: ${Math.round((performance.now() - began) / 1000)} s)`);
}
const file = join(import.meta.dirname, "..", "..", "build", "bench.json");
mkdirSync(join(file, ".."), { recursive: true });
writeFileSync(file, `${JSON.stringify({ machine, results }, null, 2)}\n`);
console.log(`Written to ${file}`);

function show({ what, limit, now, ratio, spread, bare }) {
  console.log(`\n${what}`);
  if (limit !== undefined) console.log(`   limit  ${limit}`);
  console.log(`   now    ${now}`);
  if (ratio !== undefined) console.log(`   ratio  ${round(ratio)} of the limit (${spread})${bare === undefined ? "" : `; ${bare}`}`);
}
