import { spawn, spawnSync } from "node:child_process";
import { readdir, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { temporaryFolder } from "../support/home.ts";
import { collect } from "../support/pd.ts";
import { eventually } from "../support/runtime.ts";

const ROOT = join(import.meta.dirname, "..", "..");
const MOST_BYTES = 60 * 2 ** 20;
const MOST_PACKAGES = 80;

const COMPONENT = `export default {
  name: "Orders", version: "0.0.1",
  props: { http: { type: "$.interface.http", customResponse: true } },
  run(event) { this.http.respond({ body: "thanks" }); this.$emit({ order: event.query.order }); },
};
`;

/** Hard links count once. */
async function sizeOf(folder: string): Promise<number> {
  const files = await readdir(folder, { recursive: true, withFileTypes: true });
  const found = await Promise.all(files.filter((file) => file.isFile()).map((file) => stat(join(file.parentPath, file.name))));
  return [...new Map(found.map(({ ino, size }) => [ino, size])).values()].reduce((sum, size) => sum + size, 0);
}

async function packagesIn(modules: string): Promise<readonly string[]> {
  const names = await readdir(modules);
  const scoped = await Promise.all(names.filter((name) => name.startsWith("@")).map(async (scope) => readdir(join(modules, scope))));
  return [...names.filter((name) => !/^[.@]/.test(name)), ...scoped.flat()];
}

it("is set up and runs a file by one command, small and with few packages, from a fresh cache of npm", async () => {
  const folder = await temporaryFolder();
  const packed = spawnSync("npm", ["pack", "--ignore-scripts", "--json", "--pack-destination", folder], { cwd: ROOT, encoding: "utf8" });
  const [{ filename }] = JSON.parse(packed.stdout);
  await writeFile(join(folder, "orders.mjs"), COMPONENT);
  const cache = join(folder, "npm-cache");
  const env = { ...process.env, npm_config_cache: cache, PD_HOME: join(folder, "home"), PD_PORT: "0", PD_ENDPOINT_PORT: "0", PD_KEYRING: "never" };
  const words = ["exec", "--yes", "--package", join(folder, filename), "--", "headwater"];
  // npm compiles SQLite without a downloaded binary.
  expect(spawnSync("npm", [...words, "--version"], { cwd: folder, env, encoding: "utf8", timeout: 900_000 })).toMatchObject({ status: 0 });
  const session = spawn("npm", [...words, "dev", "orders.mjs"], { cwd: folder, env, stdio: ["ignore", "pipe", "pipe"], detached: true });
  onTestFinished(() => void (session.pid !== undefined && process.kill(-session.pid, "SIGINT")));
  const [stdout, stderr] = [collect(session, "stdout"), collect(session, "stderr")];
  const endpoint = await eventually(async () => /Ready for updates/.test(stdout()) && /Endpoint: (\S+)/.exec(stdout())?.[1]);
  expect(await (await fetch(`${endpoint}?order=7`)).text()).toBe("thanks");
  await eventually(async () => stdout().includes('◆ event {"order":"7"}'));
  expect(stderr()).not.toContain("Error");
  const [run = ""] = await readdir(join(cache, "_npx"));
  const modules = join(cache, "_npx", run, "node_modules");
  expect((await packagesIn(modules)).length).toBeLessThanOrEqual(MOST_PACKAGES);
  expect(await sizeOf(modules)).toBeLessThanOrEqual(MOST_BYTES);
  expect(await readdir(join(modules, "headwater", "dist"))).toContain("third-party-licences.txt");
}, 1_200_000);
