import { readdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { PythonIndex } from "../support/python-index.ts";
import { TestServer } from "../support/runtime.ts";
import { DeployedWorkflow, deployWorkflow, exportsOf, pythonWorkflow } from "../support/workflows.ts";

function greeting(version: string, text: string): { name: string; version: string; files: Record<string, string> } {
  return { name: "greeting", version, files: { "greeting/__init__.py": `def greet(): return '${text}'\n` } };
}

const GREET = "import greeting\ndef handler(pd): return greeting.greet()\n";
const AFTER = "def handler(pd): return 'unchanged'\n";

/** This Python reports version 3.99. */
async function otherPython(folder: string): Promise<string> {
  const path = join(folder, "python-of-tomorrow");
  await writeFile(path, `#!/bin/sh\npython3 "$@" | sed 's/"version": \\[3, [0-9]*/"version": [3, 99/'\n`, { mode: 0o700 });
  return path;
}

async function problemOf(server: TestServer, code: string, more: Record<string, string> = {}): Promise<{ code?: unknown; message: string; fix?: unknown }> {
  const refused: unknown = await server.api.post("/v1/workflows", { files: { ...pythonWorkflow({ py: code }), ...more } }).catch((error: unknown) => error);
  return refused instanceof Error ? Object.assign(refused, {}) : { message: "deployed" };
}

describe("packages of a step in Python", () => {
  it("are installed from what it imports, with what those want, the newest when it is deployed", async () => {
    const [server, index] = [await TestServer.start(), await PythonIndex.start()];
    index.publish({ name: "other", version: "2.0", files: { "other.py": "WORD = 'two'\n" } });
    index.publish({ ...greeting("1.0.0", "one"), requires: ["other>=1"] });
    index.publish({ ...greeting("1.2.0", "newest"), requires: ["other>=1"] });
    const code = "import json, greeting\nfrom other import WORD\ndef handler(pd): return [greeting.greet(), WORD, json.dumps(1)]\n";
    const workflow = await deployWorkflow(server, pythonWorkflow({ py: code }));
    expect(exportsOf(await workflow.run(), "py")).toEqual({ $return_value: ["newest", "two", "1"] });
  });

  it("stay at their versions while the step stays, and come from the disk when nobody answers", async () => {
    const [server, index] = [await TestServer.start(), await PythonIndex.start()];
    index.publish(greeting("1.0.0", "one"));
    const workflow = await deployWorkflow(server, pythonWorkflow({ py: GREET, after: AFTER }));
    index.publish(greeting("2.0.0", "two"));
    index.isSilent = true;
    await workflow.update({ files: pythonWorkflow({ py: `${GREET}# changed\n`, after: AFTER }) });
    expect(exportsOf(await workflow.run(), "py")).toEqual({ $return_value: "one" });
    // Without the index, another workflow uses the installed package, otherwise the newest.
    const other = await deployWorkflow(server, pythonWorkflow({ py: GREET }));
    expect(exportsOf(await other.run(), "py")).toEqual({ $return_value: "one" });
    index.isSilent = false;
    const third = await deployWorkflow(server, pythonWorkflow({ py: `${GREET}# another\n` }));
    expect(exportsOf(await third.run(), "py")).toEqual({ $return_value: "two" });
    expect((await readdir(join(server.home, "packages"))).filter((name) => name.startsWith("py-"))).toHaveLength(2);
    expect((await readdir(join(server.home, "packages"))).filter((name) => name.startsWith(".partial"))).toEqual([]);
  });

  it("are chosen anew when the server has another Python: a run says that they have to be, and a deploy of the same files does it", async () => {
    const [server, index] = [await TestServer.start(), await PythonIndex.start()];
    index.publish(greeting("1.0.0", "one"));
    const files = pythonWorkflow({ py: GREET });
    const deployed = await deployWorkflow(server, files);
    await server.stop();
    const again = await TestServer.start({ home: server.home, python: await otherPython(server.home) });
    const workflow = new DeployedWorkflow(again, deployed.record);
    const run = await workflow.run();
    expect(run).toMatchObject({ state: "failed", failure: { message: expect.stringContaining("its packages were installed for another Python version") } });
    expect(await workflow.update({ files })).toMatchObject({ version: 2 });
    expect(exportsOf(await workflow.run(), "py")).toEqual({ $return_value: "one" });
    expect(await workflow.update({ files })).toMatchObject({ version: 2 });
  });

  it("have the name and version that a comment or a list beside it says", async () => {
    const [server, index] = [await TestServer.start(), await PythonIndex.start()];
    index.publish(greeting("1.0.0", "one"));
    index.publish(greeting("2.0.0", "two"));
    index.publish({ name: "other-name", version: "1.0", files: { "module_of_it.py": "WORD = 'found'\n" } });
    const code =
      "# pipedream add-package greeting==1.0.0\nimport greeting\n# pipedream add-package other-name\nimport module_of_it\ndef handler(pd): return [greeting.greet(), module_of_it.WORD]\n";
    expect(exportsOf(await (await deployWorkflow(server, pythonWorkflow({ py: code }))).run(), "py")).toEqual({ $return_value: ["one", "found"] });
    const listed = {
      ...pythonWorkflow({ py: "import greeting, module_of_it\ndef handler(pd): return [greeting.greet(), module_of_it.WORD]\n" }),
      "py/requirements.txt": "# mine\ngreeting < 2\nother-name==1.0  # pinned\n",
    };
    expect(exportsOf(await (await deployWorkflow(server, listed)).run(), "py")).toEqual({ $return_value: ["one", "found"] });
  });

  it("that cannot be had are told with the line that wants them", async () => {
    const [server, index] = [await TestServer.start(), await PythonIndex.start()];
    index.publish({ name: "wrong", version: "1.0", files: { "right.py": "" } });
    expect(await problemOf(server, "def handler(pd):\n    import no_such_one\n")).toMatchObject({
      code: "PD_PACKAGE_NOT_FOUND",
      message: expect.stringContaining('"no-such-one", required at py/entry.py:2,'),
    });
    expect(await problemOf(server, "import wrong\ndef handler(pd): pass\n")).toMatchObject({
      code: "PD_LOAD_FAILED",
      fix: expect.stringContaining("# pipedream add-package"),
    });
    expect(await problemOf(server, "def handler(pd): pass\n", { "py/requirements.txt": "ok\n-r ../../secret\n" })).toMatchObject({
      code: "PD_BUILD_FAILED",
      message: expect.stringContaining('py/requirements.txt:2: "-r ../../secret" is not a package of an index'),
    });
    index.isSilent = true;
    expect(await problemOf(server, "import elsewhere\ndef handler(pd): pass\n")).toMatchObject({ code: "PD_PACKAGES_UNREACHABLE" });
  });
});
