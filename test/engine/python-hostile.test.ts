import { describe, expect, it } from "vitest";
import type { JsonObject } from "../../src/domain/text/json.ts";
import { PythonIndex } from "../support/python-index.ts";
import { TestServer } from "../support/runtime.ts";
import { type DeployedWorkflow, deployWorkflow, exportsOf, pythonWorkflow } from "../support/workflows.ts";

async function doing(server: TestServer, what: Readonly<Record<string, readonly string[]>>, more: JsonObject = {}): Promise<DeployedWorkflow> {
  const branches = Object.entries(what).flatMap(([name, lines]) => [`    if what == '${name}':`, ...lines.map((line) => `        ${line}`)]);
  const code = ["import os, socket", "def handler(pd):", "    what = pd.steps['trigger']['event']['do']", ...branches, ""].join("\n");
  return deployWorkflow(
    server,
    pythonWorkflow({
      py: code,
      next: "import os\ndef handler(pd): return sorted(name for name in os.listdir('/tmp') if not name.startswith(('headwater-test-', 'hw-')))\n",
    }),
    more,
  );
}

/** The first step's message, and what the next step found in /tmp. Undefined when it did not run. */
async function came(workflow: DeployedWorkflow, what: string): Promise<[unknown, unknown]> {
  const run = await workflow.run({ do: what });
  const next = exportsOf(run, "next");
  return [run.steps[0]?.["message"], typeof next === "object" && next !== null && "$return_value" in next ? next.$return_value : undefined];
}

describe("a hostile step in Python", () => {
  it("leaves nothing in /tmp for other runs, whatever it makes there", async () => {
    const server = await TestServer.start();
    const workflow = await doing(server, {
      readonly: ["os.makedirs('/tmp/ro'); open('/tmp/ro/secret', 'w').write('x'); os.chmod('/tmp/ro', 0o555)"],
      closed: ["os.mkdir('/tmp/z'); os.chmod('/tmp/z', 0)"],
      deep: ["for n in range(1200): os.mkdir('d'); os.chdir('d')"],
      deepTmp: ["os.chdir('/tmp')", "for n in range(1200): os.mkdir('d'); os.chdir('d')"],
      bytes: ["open(b'/tmp/\\xff', 'w'); open(b'/tmp/\\xfe', 'w')"],
      nothing: ["pass"],
    });
    expect(await came(workflow, "readonly")).toEqual(["succeeded", ["ro"]]);
    expect(await came(workflow, "closed")).toEqual(["succeeded", ["z"]]);
    expect((await came(workflow, "deepTmp"))[0]).toContain("lies more than 100 folders deep");
    expect(await came(workflow, "bytes")).toEqual(["succeeded", []]);
    expect(await came(workflow, "deep")).toEqual(["succeeded", []]);
    expect(await came(workflow, "nothing")).toEqual(["succeeded", []]);
  });

  it("may make a folder of a file, and a file of a folder", async () => {
    const server = await TestServer.start();
    const workflow = await deployWorkflow(
      server,
      pythonWorkflow({
        one: "import os\ndef handler(pd):\n    open('/tmp/f', 'w').write('x'); os.mkdir('/tmp/d')\n",
        two: "import os\ndef handler(pd):\n    os.unlink('/tmp/f'); os.mkdir('/tmp/f'); os.rmdir('/tmp/d'); open('/tmp/d', 'w').write('y')\n",
        three: "import os\ndef handler(pd): return [os.path.isdir('/tmp/f'), open('/tmp/d').read()]\n",
      }),
    );
    expect(exportsOf(await workflow.run(), "three")).toEqual({ $return_value: [true, "y"] });
  });

  it("cannot hand over a number that would arrive as another one, or a text that nothing could read", async () => {
    const server = await TestServer.start();
    const workflow = await doing(server, {
      huge: ["pd.export('a', 1)", "pd.export('b', 10**400)"],
      long: ["return {'id': [1234567890123456789]}"],
      deep: ["import json", "x = []", "for n in range(500): x = [x]", "return x"],
      plain: ["return [2**53, -2**53, '1234567890123456789', 1e300]"],
    });
    expect((await came(workflow, "huge"))[0]).toContain("pd.export('b') is 10000");
    expect((await came(workflow, "long"))[0]).toContain("what the step returns['id'][0] is 1234567890123456789, of which a number keeps only some digits");
    expect((await came(workflow, "deep"))[0]).toContain("nested");
    expect((await came(workflow, "plain"))[0]).toBe("succeeded");
  });

  it("gets no more memory by other ways of taking it", async () => {
    const server = await TestServer.start({ memoryMb: "64" });
    const workflow = await doing(server, {
      shared: ["import mmap", "m = mmap.mmap(-1, 1500 * 2**20)", "for n in range(0, 1500 * 2**20, 4096): m[n] = 1"],
      nothing: ["pass"],
    });
    expect((await came(workflow, "shared"))[0]).not.toBe("succeeded");
    expect((await came(workflow, "nothing"))[0]).toBe("succeeded");
  });

  it("answers for itself alone, also when it has made a copy of its process", async () => {
    const server = await TestServer.start();
    const workflow = await doing(
      server,
      { fork: ["import sys", "pid = os.fork()", "if pid == 0: sys.exit(0)", "os.waitpid(pid, 0)", "return 'parent'"] },
      { allow_run: true },
    );
    expect(exportsOf(await workflow.run({ do: "fork" }), "py")).toEqual({ $return_value: "parent" });
  });

  it("reaches nothing inside when only public addresses may be reached, and cannot take the network from later runs", async () => {
    const server = await TestServer.start({ componentNetwork: "public" });
    const api = new URL(server.apiUrl);
    const ask = `import urllib.request; return urllib.request.urlopen('${server.apiUrl}/healthz', timeout=5).status`;
    const workflow = await doing(server, {
      own: [ask],
      loopback: [`socket.create_connection(('127.0.0.1', ${Number(new URL(server.endpointUrl).port)}), 5)`],
      port: ["socket.socket().connect(('127.0.0.1', 99999999))"],
      text: ["socket.socket().connect(('127.0.0.1', '443'))"],
      datagram: ["socket.socket(socket.AF_INET, socket.SOCK_DGRAM).connect(('127.0.0.1', 53))"],
    });
    expect(Number(api.port)).toBeGreaterThan(0);
    expect((await came(workflow, "own"))[0]).toBe("succeeded");
    expect((await came(workflow, "loopback"))[0]).toMatch(/OSError|PermissionError/);
    expect((await came(workflow, "port"))[0]).toContain("port must be 0-65535");
    expect((await came(workflow, "text"))[0]).toContain("TypeError");
    expect((await came(workflow, "datagram"))[0]).toContain("datagrams do not leave");
    expect((await came(workflow, "own"))[0]).toBe("succeeded");
  });

  it("may have files that are called as ours are, and folders without __init__.py", async () => {
    const server = await TestServer.start();
    const files = pythonWorkflow({
      py: "import main, check, calendar\nfrom tools import more\ndef handler(pd): return [main.X, check.X, calendar.X, more.X]\n",
    });
    const beside = Object.fromEntries(["main", "check", "calendar", "tools/more"].map((name) => [`py/${name}.py`, `X = '${name}'\n`]));
    const run = await (await deployWorkflow(server, { ...files, ...beside })).run();
    expect(run.steps[0]?.["message"]).toBe("succeeded");
    expect(exportsOf(run, "py")).toEqual({
      $return_value: ["main", "check", "calendar", "tools/more"],
    });
  });

  it("is told apart by what its packages hold, not by what they say they are", async () => {
    const [server, index] = [await TestServer.start(), await PythonIndex.start()];
    index.publish({ name: "victim", version: "1.0", files: { "victim.py": "WHO = 'victim'\n" } });
    index.publish({
      name: "evil",
      version: "1.0",
      files: { "victim.py": "WHO = 'evil'\n", "evil.py": "" },
      metadata: "Metadata-Version: 2.1\nname: evil\nversion: 1.0\n\nName: victim\nVersion: 1.0\n",
    });
    await deployWorkflow(server, pythonWorkflow({ py: "import evil\ndef handler(pd): pass\n" }));
    const workflow = await deployWorkflow(server, pythonWorkflow({ py: "import victim\ndef handler(pd): return victim.WHO\n" }));
    expect(exportsOf(await workflow.run(), "py")).toEqual({ $return_value: "victim" });
  });

  it.each([
    ["with a handler that is none of the module", "if __name__ == '__main__':\n    def handler(pd): pass\n", /handler is no function when the file is loaded/],
    ["that only speaks of the older interface", "# a pipedream step\ndef handle(pd): pass\n", /it has no handler/],
    ["of more than can be read", `x = [${"0,".repeat(600_000)}]\ndef handler(pd): pass\n`, /the limit is 1000000/],
    [
      "whose exception cannot tell what it is",
      "class E(Exception):\n    def __str__(self): raise ValueError()\nraise E()\ndef handler(pd): pass\n",
      /its text cannot be made/,
    ],
  ])("%s is refused at deploy", async (_name, code, problem) => {
    const server = await TestServer.start();
    const refused: unknown = await server.api.post("/v1/workflows", { files: pythonWorkflow({ py: code }) }).catch((error: unknown) => error);
    expect(refused instanceof Error ? refused.message : "deployed").toMatch(problem);
  });
});
