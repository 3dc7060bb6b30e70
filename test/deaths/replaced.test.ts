import { spawn } from "node:child_process";
import { once } from "node:events";
import { cp, mkdir, readFile, rename, rm, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { ApiClient, dataOf } from "../support/api.ts";
import { isRecord } from "../../src/domain/text/json.ts";
import { temporaryFolder } from "../support/home.ts";

const ROOT = join(import.meta.dirname, "..", "..");

/** With its own database driver, or with all packages of this checkout. */
async function installed({ ownDriver = false } = {}): Promise<string> {
  const folder = join(await temporaryFolder(), "program");
  await mkdir(folder);
  for (const name of ["bin", "dist", "package.json"]) await cp(join(ROOT, name), join(folder, name), { recursive: true });
  const packages = join(folder, "node_modules");
  if (!ownDriver) {
    await symlink(join(ROOT, "node_modules"), packages);
    return folder;
  }
  for (const name of ["better-sqlite3", "bindings", "file-uri-to-path"]) await cp(join(ROOT, "node_modules", name), join(packages, name), { recursive: true });
  for (const name of ["esbuild", "@esbuild"]) await symlink(join(ROOT, "node_modules", name), join(packages, name));
  return folder;
}

async function started(program: string) {
  const home = join(await temporaryFolder(), "home");
  const env = { ...process.env, PD_HOME: home, PD_PORT: "0", PD_ENDPOINT_PORT: "0", PD_KEYRING: "never", PD_SQLITE: "" };
  const child = spawn(process.execPath, [join(program, "bin", "pd.cjs"), "up"], { env, stdio: ["ignore", "pipe", "pipe"] });
  onTestFinished(() => void child.kill("SIGKILL"));
  const printed = { out: "", err: "" };
  child.stderr.setEncoding("utf8").on("data", (text: string) => (printed.err += text));
  child.stdout.setEncoding("utf8").on("data", (text: string) => (printed.out += text));
  await expect.poll(() => printed, { timeout: 10_000 }).toMatchObject({ out: expect.stringContaining("Home:") });
  const record: unknown = JSON.parse(await readFile(join(home, "server.json"), "utf8"));
  const key = (await readFile(join(home, "api-key"), "utf8")).trim();
  const url = String(isRecord(record) ? record["api_url"] : "");
  return { child, printed, key, url, api: new ApiClient({ baseUrl: url, key }) };
}

describe("a server whose program is replaced under it", () => {
  it("still runs components with the one it was started from, also new ones in new processes", async () => {
    const program = await installed();
    const { child, api } = await started(program);
    const deployed = async (answer: string): Promise<void> => {
      const code = `export default { name: "${answer}", version: "1", run() { return "${answer}"; } };`;
      const source = dataOf(await api.post("/v1/sources", { component_code: code }));
      expect(dataOf(await api.post(`/v1/sources/${String(source["id"])}/run`))).toMatchObject({ outcome: "returned", returned: answer });
    };
    await deployed("one");
    await rm(join(program, "dist"), { recursive: true });
    for (const answer of ["two", "three"]) await deployed(answer);
    child.kill("SIGTERM");
    expect(await once(child, "exit")).toEqual([0, null]);
  });

  it("does not load another SQLite beside its own: what would do that fails, and says why", async () => {
    const program = await installed({ ownDriver: true });
    const { api, child } = await started(program);
    const binary = binaryOf(program);
    await cp(binary, `${binary}.new`);
    await rename(`${binary}.new`, binary);
    await expect(api.get("/v1/usage")).rejects.toThrow("better_sqlite3.node: the file was replaced since this program loaded it, for example by an update");
    const source = dataOf(await api.post("/v1/sources", { component_code: 'export default { name: "n", version: "1", run() { return 1; } };' }));
    expect(dataOf(await api.post(`/v1/sources/${String(source["id"])}/run`))).toMatchObject({ returned: 1 });
    child.kill("SIGTERM");
    expect(await once(child, "exit")).toEqual([0, null]);
  });
});

async function startedTwice(program: string, { before = "", between }: { before?: string; between: string }): Promise<readonly string[]> {
  const script = join(program, "embeds.mjs");
  await writeFile(
    script,
    `import { cpSync, renameSync, writeFileSync } from "node:fs";
import { readSettings, startServer } from "./dist/index.js";
const binary = ${JSON.stringify(binaryOf(program))};
const start = async () => {
  try {
    const server = await startServer(readSettings({ environment: process.env }));
    console.log("started");
    await server.close();
  } catch ({ code, message }) {
    console.log(code, message.split("\\n")[0]);
  }
};
${before};
await start();
${between};
await start();
`,
  );
  const home = join(program, "home");
  const env = { ...process.env, PD_HOME: home, PD_PORT: "0", PD_ENDPOINT_PORT: "0", PD_KEYRING: "never", PD_SQLITE: "better-sqlite3" };
  const child = spawn(process.execPath, [script], { env, stdio: ["ignore", "pipe", "inherit"] });
  onTestFinished(() => void child.kill("SIGKILL"));
  let printed = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => (printed += text));
  await once(child, "close");
  return printed.trim().split("\n");
}

function binaryOf(program: string): string {
  return join(program, "node_modules", "better-sqlite3", "build", "Release", "better_sqlite3.node");
}

describe("a program that starts a server, and starts it again", () => {
  it("is told to start anew when the driver of the database was replaced meanwhile: no thread takes another one", async () => {
    const program = await installed({ ownDriver: true });
    const lines = await startedTwice(program, { between: 'cpSync(binary, binary + ".new"); renameSync(binary + ".new", binary)' });
    expect(lines).toEqual(["started", expect.stringMatching(/^PD_DATABASE_UNUSABLE Cannot load .*the file was replaced since this program loaded it/)]);
  });

  it("has the driver that could not be loaded before, once it is mended", async () => {
    const program = await installed({ ownDriver: true });
    const before = 'cpSync(binary, binary + ".kept"); writeFileSync(binary, "no binary")';
    const lines = await startedTwice(program, { before, between: 'renameSync(binary + ".kept", binary)' });
    expect(lines).toEqual([expect.stringMatching(/^PD_DATABASE_UNUSABLE Cannot open a database on Node/), "started"]);
  });
});

describe("the driver of the database that the program was built with", () => {
  it("wants the binary alone of what is installed", async () => {
    const program = await installed({ ownDriver: true });
    await rm(join(program, "node_modules", "better-sqlite3", "lib"), { recursive: true });
    const { api } = await started(program);
    expect(dataOf(await api.get("/v1/status"))).toMatchObject({ database: "better-sqlite3" });
    expect(dataOf(await api.get("/v1/usage"))).toHaveProperty("kinds");
  });
});

describe("a driver of the database that is not the one that the program was built with", () => {
  it("is loaded whole", async () => {
    const program = await installed({ ownDriver: true });
    const folder = join(program, "node_modules", "better-sqlite3");
    const manifest = await readFile(join(folder, "package.json"), "utf8");
    await writeFile(join(folder, "package.json"), manifest.replace(/"version": "[^"]+"/, '"version": "99.0.0"'));
    await writeFile(join(folder, "lib", "index.js"), 'process.stderr.write("version 99\\n"); module.exports = require("./database");');
    const { api, printed } = await started(program);
    expect(printed.err).toContain("version 99");
    expect(dataOf(await api.get("/v1/status"))).toMatchObject({ database: "better-sqlite3" });
  });
});
