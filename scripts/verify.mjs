// All checks, including those too slow for CI.
//   npm run verify                      all parts
//   npm run verify -- --only page,attack
import { spawnSync } from "node:child_process";
import { parseArgs } from "node:util";

const vitest = (project, ...more) => ["npx", "vitest", "run", "--project", project, ...more];
/** Printed, to repeat a failed torture run. */
const seed = () => String(Date.now() % 1_000_000_000);

const PARTS = {
  test: ["npm", "test"],
  deaths: vitest("deaths", "--maxWorkers", "2"),
  node: vitest("node", "--maxWorkers", "1"),
  installs: vitest("installs"),
  postgres: vitest("postgres", "--maxWorkers", "2"),
  services: vitest("services"),
  page: vitest("page", "--maxWorkers", "1"),
  nodes: ["node", "scripts/other-nodes.mjs"],
  attack: ["npm", "run", "-s", "attack"],
  torture: ["npm", "run", "-s", "torture", "--", "--minutes", "3", "--seed", seed()],
  "torture postgres": ["npm", "run", "-s", "torture", "--", "--minutes", "3", "--store", "postgres", "--seed", seed()],
  "torture nodes": ["npm", "run", "-s", "torture", "--", "--minutes", "3", "--nodes", "3", "--seed", seed()],
  faults: ["npm", "run", "-s", "torture:faults"],
  leaks: ["npm", "run", "-s", "leaks"],
  lint: ["npm", "run", "-s", "lint"],
  types: ["npm", "run", "-s", "types"],
  "dead-code": ["npm", "run", "-s", "dead-code"],
};

const { values } = parseArgs({ options: { only: { type: "string" } } });
const chosen = values.only === undefined ? Object.keys(PARTS) : values.only.split(",");
const unknown = chosen.filter((name) => !Object.hasOwn(PARTS, name));
if (unknown.length > 0) {
  console.error(`Cannot verify ${unknown.join(", ")}: the parts are ${Object.keys(PARTS).join(", ")}`);
  process.exit(2);
}
const env = { ...process.env, NO_COLOR: "1" };
delete env.NODE_EXTRA_CA_CERTS;
const results = chosen.map((name) => {
  const [command, ...words] = PARTS[name];
  console.log(`\n== ${name}: ${[command, ...words].join(" ")}`);
  const began = performance.now();
  const { status } = spawnSync(command, words, { stdio: "inherit", env });
  return { name, isPassed: status === 0, seconds: Math.round((performance.now() - began) / 1000) };
});

const timeOf = (seconds) => `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, "0")}`;
console.log(`\n${"part".padEnd(18)}${"time".padStart(8)}  result`);
for (const { name, isPassed, seconds } of results) console.log(`${name.padEnd(18)}${timeOf(seconds).padStart(8)}  ${isPassed ? "passed" : "FAILED"}`);
const failed = results.filter(({ isPassed }) => !isPassed).length;
console.log(`${results.length - failed} passed, ${failed} failed`);
process.exit(failed === 0 ? 0 : 1);
