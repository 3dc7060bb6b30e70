import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { TestServer } from "../support/runtime.ts";

/** An expression that throws has the value `error: <code>`. */
async function valuesOf(place: string, expressions: Readonly<Record<string, string>>): Promise<unknown> {
  const home = await mkdtemp(join(place, "headwater-test-"));
  const server = await TestServer.start({ home });
  onTestFinished(async () => {
    await server.stop();
    await rm(home, { recursive: true, force: true, maxRetries: 5 });
  });
  const tries = Object.entries(expressions).map(([name, text]) => `await attempt(${JSON.stringify(name)}, async () => ${text});`);
  const source =
    await server.deploy(`import fs from "node:fs"; import os from "node:os"; import path from "node:path"; import { promisify } from "node:util"; import Module from "node:module";
    export default { name: "t", version: "1", async run() {
      const told = {};
      const attempt = async (name, work) => { try { told[name] = await work(); } catch (error) { told[name] = "error: " + error.code; } };
      ${tries.join("\n")}
      return told;
    } };`);
  return (await source.run())["returned"];
}

describe.each([["where this server lies in /tmp", "/tmp"] as const, ["where it lies elsewhere", "/var/tmp"] as const])("a component %s", (_where, place) => {
  it("works with temporary files by whichever name, and finds what lies above them", async () => {
    const told = await valuesOf(place, {
      "code beside them": '(fs.writeFileSync(os.tmpdir() + "/code.mjs", "export default 5"), (await import(os.tmpdir() + "/code.mjs")).default)',
      "two names of one file": '(fs.writeFileSync(os.tmpdir() + "/a", "x"), fs.readFileSync("/tmp/a", "utf8"))',
      "realpath with a callback": "path.basename(await promisify(fs.realpath)(os.tmpdir()))",
      "realpath of the system": 'path.basename(await promisify(fs.realpath.native)("/tmp"))',
      "its folder": '{ const before = process.cwd(); process.chdir("/tmp"); const now = fs.existsSync("a"); process.chdir(before); return now; }'.replace(
        /^(.*)$/,
        "(() => $1)()",
      ),
      "a folder that is copied":
        '(fs.mkdirSync("/tmp/b/c", { recursive: true }), fs.cpSync("/tmp/b/c", "/tmp/d/e", { recursive: true }), fs.readdirSync("/tmp/d"))',
      "what is above": '[fs.statSync("/"), fs.lstatSync(".."), await fs.promises.stat("../..")].map((found) => found.isDirectory())',
      "what is in it": 'fs.readdirSync("/")',
      "a folder that is not above": 'fs.statSync("/usr")',
      "its user": "typeof os.userInfo().username",
      "where programs are": "process.env.PATH",
    });
    expect(told).toEqual({
      "code beside them": 5,
      "two names of one file": "x",
      "realpath with a callback": "tmp",
      "realpath of the system": "tmp",
      "its folder": true,
      "a folder that is copied": ["e"],
      "what is above": [true, true, true],
      "what is in it": "error: ERR_ACCESS_DENIED",
      "a folder that is not above": "error: ERR_ACCESS_DENIED",
      "its user": "string",
      "where programs are": "/usr/bin:/bin",
    });
  });
});

describe("what packages do while they are loaded", () => {
  it("goes well where it wants less than it asks for", async () => {
    const told = await valuesOf(tmpdir(), {
      "names of errors": 'process.binding("uv").errname(-2)',
      constants: '[process.binding("constants").fs.O_CREAT === fs.constants.O_CREAT, process.binding("constants").os.signals.SIGINT]',
      "many buffers at once":
        'new Promise((resolve) => { const binding = process.binding("fs"); const request = new binding.FSReqCallback(); request.oncomplete = (error, written) => resolve([error, written]); binding.writeBuffers(fs.openSync("/tmp/x", "w"), [Buffer.from("ab"), Buffer.from("c")], null, request); })',
      "the rest of Node's insides": 'process.binding("spawn_sync")',
      "hooks of import": 'Module.register("data:text/javascript,")',
      "what is open": "[process._getActiveHandles(), process._getActiveRequests()]",
      "something in place of what is refused": '(process.kill = () => "mine", process.kill(1))',
      "stacks of its own":
        '(Error.prepareStackTrace = (_error, sites) => sites, console.log("a"), console.trace("b"), (Error.prepareStackTrace = undefined), "told")',
    });
    expect(told).toEqual({
      "names of errors": "ENOENT",
      constants: [true, 2],
      "many buffers at once": [null, 3],
      "the rest of Node's insides": "error: ERR_ACCESS_DENIED",
      "what is open": [[], []],
      "something in place of what is refused": "mine",
      "stacks of its own": "told",
    });
  });
});
