import { spawn } from "node:child_process";
import { once } from "node:events";
import { cp, mkdir, readFile, rm, symlink } from "node:fs/promises";
import { createServer } from "node:http";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { ApiClient, dataOf } from "../support/api.ts";
import { isRecord } from "../../src/domain/json.ts";
import { temporaryFolder } from "../support/home.ts";

const ROOT = join(import.meta.dirname, "..", "..");

/** A copy of the program, as an installation has it. */
async function installed(): Promise<string> {
  const folder = join(await temporaryFolder(), "program");
  await mkdir(folder);
  for (const name of ["bin", "dist", "package.json"]) await cp(join(ROOT, name), join(folder, name), { recursive: true });
  await symlink(join(ROOT, "node_modules"), join(folder, "node_modules"));
  return folder;
}

describe("a server whose program is replaced under it", () => {
  it("goes on with the one that it was started from, also with new processes", async () => {
    const [program, home] = [await installed(), join(await temporaryFolder(), "home")];
    const env = { ...process.env, PD_HOME: home, PD_PORT: "0", PD_ENDPOINT_PORT: "0", PD_KEYRING: "never" };
    const child = spawn(process.execPath, [join(program, "bin", "pd.cjs"), "up"], { env, stdio: ["ignore", "pipe", "inherit"] });
    onTestFinished(() => void child.kill("SIGKILL"));
    let printed = "";
    child.stdout.setEncoding("utf8").on("data", (text: string) => (printed += text));
    while (!printed.includes("Home:")) await once(child.stdout, "data");
    const record: unknown = JSON.parse(await readFile(join(home, "server.json"), "utf8"));
    const key = (await readFile(join(home, "api-key"), "utf8")).trim();
    const api = new ApiClient({ baseUrl: String(isRecord(record) ? record["api_url"] : ""), key });
    await rm(join(program, "dist"), { recursive: true });
    for (const answer of ["one", "two", "three"]) {
      const code = `export default { name: "${answer}", version: "1", run() { return "${answer}"; } };`;
      const source = dataOf(await api.post("/v1/sources", { component_code: code }));
      expect(dataOf(await api.post(`/v1/sources/${String(source["id"])}/run`))).toMatchObject({ outcome: "returned", returned: answer });
    }
    // What it has not done before, it can do as well.
    const delivered: string[] = [];
    const receiver = createServer((request, response) => {
      request.setEncoding("utf8").on("data", (text: string) => delivered.push(text));
      request.on("end", () => response.end());
    }).listen(0, "127.0.0.1");
    onTestFinished(() => void receiver.close());
    await once(receiver, "listening");
    const address = receiver.address();
    const url = `http://127.0.0.1:${typeof address === "object" ? address?.port : ""}/`;
    const emitter = dataOf(await api.post("/v1/sources", { component_code: 'export default { name: "E", version: "1", run() { this.$emit({ a: 1 }); } };' }));
    const webhook = dataOf(await api.post("/v1/webhooks", { url, name: "w", description: "" }));
    await api.post("/v1/subscriptions", { emitter_id: emitter["id"], listener_id: webhook["id"] });
    await api.post(`/v1/sources/${String(emitter["id"])}/run`);
    await expect.poll(() => delivered).toEqual(['{"a":1}']);
    const agent = await fetch(`${String(isRecord(record) ? record["api_url"] : "")}/mcp`, {
      method: "POST",
      headers: { authorization: `Bearer ${key}`, "content-type": "application/json", accept: "application/json, text/event-stream" },
      body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/list", params: {} }),
    });
    expect([agent.status, await agent.text()]).toEqual([200, expect.stringContaining('"tools"')]);
    expect(dataOf(await api.get("/v1/usage"))).toHaveProperty("kinds");
    child.kill("SIGTERM");
    expect(await once(child, "exit")).toEqual([0, null]);
  });
});
