// Runs the tests that depend on Node's version.
//   node scripts/other-nodes.mjs [--smoke] [22 24 26]
// --smoke runs few tests, by default on the newest version only.
import { execFileSync, spawnSync } from "node:child_process";
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { delimiter, join } from "node:path";

const root = join(import.meta.dirname, "..");
const isSmoke = process.argv.includes("--smoke");
const given = process.argv.slice(2).filter((word) => word !== "--smoke");
const versions = given.length > 0 ? given : isSmoke ? ["26"] : ["22", "24", "26"];
const unknown = versions.filter((version) => !/^(2[0-9]|[3-9][0-9])(\.\d+){0,2}$/.test(version));
if (unknown.length > 0) {
  console.error(`Cannot run on Node ${unknown.join(", ")}: a version is a number from 20, like 24 or 22.12.0`);
  process.exit(2);
}
const SMOKE = ["test/client", "test/sandbox/startup-snapshot.test.ts", "test/sandbox/child-globals.test.ts", "test/engine/http.test.ts"];
const ALL = [
  "test/store",
  "test/client",
  "test/node",
  "test/sandbox",
  "test/engine/http.test.ts",
  "test/engine/update.test.ts",
  "test/installs/packages.test.ts",
  "test/e2e/commands.test.ts",
  "test/e2e/dev.test.ts",
  "test/e2e/debugger.test.ts",
  "test/deaths/crash.test.ts",
  "test/deaths/damage.test.ts",
];
const PROJECTS = ["promises", "node", "installs", "deaths"].flatMap((name) => ["--project", name]);

/** Installs Node from the npm package `node`. */
function folderOf(version) {
  const folder = join(root, "node_modules", ".cache", "nodes", version);
  const bin = join(folder, "node_modules", "node", "bin");
  if (existsSync(join(bin, "node"))) return bin;
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, "package.json"), JSON.stringify({ private: true, allowScripts: { node: true } }));
  execFileSync("npm", ["install", "--no-save", "--no-audit", `node@${version}`], { cwd: folder, stdio: ["ignore", "ignore", "inherit"] });
  return bin;
}

/** npm looks for the global config beside Node's binary, where other Nodes have none. */
const npm_config_globalconfig = execFileSync("npm", ["config", "get", "globalconfig"], { encoding: "utf8" }).trim();

const failed = versions.filter((version) => {
  const bin = folderOf(version);
  const node = join(bin, "node");
  const env = { ...process.env, PATH: bin + delimiter + process.env.PATH, ATTACK_NODES: version, npm_config_globalconfig };
  process.stdout.write(`== Node ${execFileSync(node, ["--version"], { encoding: "utf8" })}`);
  const run = (args) => spawnSync(node, [join(root, "node_modules/vitest/vitest.mjs"), "run", ...args], { cwd: root, env, stdio: "inherit" }).status === 0;
  const areKept = run([...PROJECTS, ...(isSmoke ? SMOKE : ALL)]);
  // Each Node version has other modules and flags to attack.
  return !run(["--project", "attack", "test/attack/other-nodes.test.ts"]) || !areKept;
});
if (failed.length > 0) console.log(`failed on Node ${failed.join(", ")}`);
process.exit(failed.length === 0 ? 0 : 1);
