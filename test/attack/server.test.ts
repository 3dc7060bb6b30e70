import { writeFileSync } from "node:fs";
import { connect } from "node:net";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { temporaryFolder } from "../support/home.ts";
import type { DeployedSource, TestServer } from "../support/runtime.ts";
import { startAttacked } from "./attacked-server.ts";

const raw = (message: string): string => `require("node:fs").writeSync(3, ${message} + "\\n");`;
const source = (run: string, props = ""): string =>
  `import { createRequire } from "node:module"; const require = createRequire(import.meta.url);
   export default { name: "attack", version: "1", props: { db: "$.service.db", http: "$.interface.http", ${props} }, async run(event) { ${run} } };`;

/** Duration of the slowest health check during `work`, ms. */
async function silenceDuring(server: TestServer, work: () => Promise<unknown>): Promise<number> {
  let [longest, isOver] = [0, false];
  const watch = (async () => {
    while (!isOver) {
      const began = performance.now();
      await (await fetch(`${server.apiUrl}/healthz`)).text();
      longest = Math.max(longest, performance.now() - began);
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
  })();
  await work().catch(() => {});
  isOver = true;
  await watch;
  return longest;
}

async function works(server: TestServer): Promise<void> {
  const other = await server.deploy('export default { name: "other", version: "1", run() { return 1; } };');
  expect(await other.run()).toMatchObject({ returned: 1 });
}

describe("the channel of a component's process", () => {
  it.each([
    ["30 MB of objects", raw('JSON.stringify({ type: "child:log", id: null, line: 1 }) + "{},".repeat(10_000_000)')],
    ["30 MB of members inside a message", raw('"[" + "{},".repeat(10_000_000) + "1]"')],
    ["deep nesting", raw('"[".repeat(20_000_000)')],
    ["garbage", raw('"\\u0000\\u0001 not json"')],
    [
      "a state that is no JSON",
      raw(
        'JSON.stringify({ type: "child:done", id: event.id ?? "inv_1", outcome: { kind: "returned" }, part: { emits: [], stateChanges: { a: "no" }, touched: {} } })',
      ),
    ],
    [
      "a million small messages",
      `const text = (JSON.stringify({ type: "child:pong", memoryBytes: 1 }) + "\\n").repeat(1000); for (let n = 0; n < 1000; n++) require("node:fs").writeSync(3, text);`,
    ],
    [
      "late parts without end",
      `const text = (JSON.stringify({ type: "child:late", id: "inv_1", part: { emits: [], stateChanges: {}, touched: {} } }) + "\\n").repeat(100); for (let n = 0; n < 300; n++) require("node:fs").writeSync(3, text);`,
    ],
    ["what looks like its last words", `for (let n = 0; n < 100; n++) process.stderr.write("FATAL ERROR: ".repeat(2000));`],
  ])("cannot be used to freeze the server: %s", async (_title, run) => {
    const { server } = await startAttacked({ timeoutMs: "5" });
    const deployed = await server.deploy(source(run));
    const silence = await silenceDuring(server, () => deployed.run());
    expect(silence).toBeLessThan(2500);
    await works(server);
  });

  it("does not let it change what another source has recorded", async () => {
    const { server } = await startAttacked();
    const victim = await server.deploy(source("this.$emit(1); return 1;"));
    const { id } = await victim.run();
    const forged = {
      type: "child:late",
      id,
      part: { emits: [{ payload: '"forged"' }], stateChanges: { a: "1" }, touched: {} },
      outcome: { kind: "threw", error: { name: "E", message: "FORGED", stack: "" } },
    };
    const attacker = await server.deploy(source(`${raw(JSON.stringify(JSON.stringify(forged)))} await new Promise((done) => setTimeout(done, 300));`));
    await attacker.run();
    expect(await server.api.get(`/v1/invocations/${String(id)}`)).toMatchObject({ data: { outcome: "returned", event_count: 1 } });
    expect(await attacker.payloads()).toEqual([]);
  });

  it("ends the process of one that asks and never reads, not the server", async () => {
    const { server } = await startAttacked({ timeoutMs: "20" });
    const greedy = source(
      'await this.store.set("k", "x".repeat(9_000_000)); for (let n = 0; n < 900; n++) void this.store.get("k").catch(() => {}); const end = Date.now() + 8000; while (Date.now() < end);',
      'store: "data_store",',
    );
    const deployed = await server.deploy(greedy, { props: { store: "s" } });
    await deployed.run().catch(() => {});
    await works(server);
  });

  it("takes no more state than a source may have", async () => {
    const { server } = await startAttacked();
    const forged = `const text = JSON.stringify("x".repeat(9_000_000)); for (let n = 0; n < 12; n++) require("node:fs").writeSync(3, JSON.stringify({ type: "child:late", id: "ID", part: { emits: [], stateChanges: { ["k" + n]: text }, touched: {} } }).replace("ID", globalThis.id) + "\\n");`;
    const deployed = await server.deploy(source(`if (event.id) { globalThis.id = event.id; ${forged} } return 1;`));
    const { id } = await deployed.run({});
    await deployed.run({ id: String(id) }).catch(() => {});
    await works(server);
    const state = await deployed.state();
    expect(JSON.stringify(state).length).toBeLessThan(70_000_000);
  });
});

describe("code that is uploaded", () => {
  const refused = async (code: string, files: Record<string, string> = {}): Promise<string> => {
    const { server } = await startAttacked();
    const message = await server.deploy(code, { files }).then(
      async (deployed: DeployedSource) => JSON.stringify(await deployed.run().catch(String)),
      (error: unknown) => `${String(error)} ${JSON.stringify(error)}`,
    );
    await works(server);
    return message;
  };

  it("cannot have files of this machine read by the compiler", async () => {
    const folder = await temporaryFolder();
    writeFileSync(join(folder, "secret.txt"), "hush-hush");
    writeFileSync(join(folder, "secret.json"), '"hush-hush"');
    writeFileSync(join(folder, "secret"), "hush-hush");
    const up = "../".repeat(12).slice(0, -1);
    const attempts = [
      `const f = "xt"; export default { name: "a", version: "1", async run() { return (await import(\`${up}${folder}/secret.t\${f}\`)).default; } };`,
      `const f = "on"; export default { name: "a", version: "1", async run() { return (await import("${up}${folder}/secret.js" + f)).default; } };`,
      `const f = "et"; export default { name: "a", version: "1", async run() { return require(/* x */ \`${up}${folder}/secr\${f}\`); } };`,
      `import x from "${folder}/secret.txt"; export default { name: "a", version: "1", run() { return x; } };`,
      `import x from "file://${folder}/secret.txt"; export default { name: "a", version: "1", run() { return x; } };`,
      `import x from "${up}${folder}/secret.txt"; export default { name: "a", version: "1", run() { return x; } };`,
      `export default {\n//# sourceMappingURL=${folder}/secret`,
      `export default {\n//# sourceMappingURL=data:application/json,${encodeURIComponent(JSON.stringify({ version: 3, sources: [`${folder}/secret`], mappings: "AAAA" }))}`,
    ];
    // The compiler gets a single file in another way.
    for (const files of [{}, { "other.mjs": "export default 1" }]) for (const attempt of attempts) expect(await refused(attempt, files)).not.toContain("hush");
  });

  it.each(["import/*", "/*import*/", "//import\n", "require/*", "import('./'/*", "import(`./\n"])(
    "cannot freeze the server by a text of nothing but %j",
    async (part) => {
      const { server } = await startAttacked();
      const text = part.repeat(Math.floor(500_000 / part.length));
      expect(await silenceDuring(server, () => server.deploy(text).catch(String))).toBeLessThan(2500);
    },
  );

  it("cannot stop the compiler for others", async () => {
    expect(await refused(`export default ${"(".repeat(2_000_000)}`)).toContain("PD_");
  });

  it("cannot make each line that it prints cost a megabyte", async () => {
    const map = Buffer.from(JSON.stringify({ version: 3, sources: ["n".repeat(1_000_000)], sourcesContent: ["x"], mappings: "AAAA" })).toString("base64");
    const { server } = await startAttacked();
    const deployed = await server.deploy(
      `export default { name: "a", version: "1", run() { for (let n = 0; n < 2000; n++) console.log(n); } };\n//# sourceMappingURL=data:application/json;base64,${map}`,
    );
    expect(await silenceDuring(server, () => deployed.run())).toBeLessThan(2500);
  });
});

describe("a stranger on the wire", () => {
  const send = (url: string, text: string): Promise<string> =>
    new Promise((resolve) => {
      const { hostname, port } = new URL(url);
      let answer = "";
      const socket = connect(Number(port), hostname, () => socket.write(text));
      socket.setEncoding("latin1").on("data", (chunk: string) => (answer += chunk));
      socket.once("close", () => resolve(answer));
      socket.once("error", () => resolve(answer));
      setTimeout(() => socket.destroy(), 1500);
    });

  it.each([
    ["two hosts", "GET / HTTP/1.1\r\nhost: a\r\nhost: b\r\n\r\n"],
    ["two lengths of a body", "POST / HTTP/1.1\r\nhost: a\r\ntransfer-encoding: chunked\r\ncontent-length: 5\r\n\r\n0\r\n\r\n"],
    ["a folded header", "GET / HTTP/1.1\r\nhost: a\r\nx: a\r\n b\r\n\r\n"],
    ["a name with a blank", "GET / HTTP/1.1\r\nhost : a\r\n\r\n"],
  ])("is refused with %s", async (_title, text) => {
    const { server } = await startAttacked();
    for (const url of [server.apiUrl, server.endpointUrl]) expect(await send(url, text)).toMatch(/^HTTP\/1.1 4\d\d/);
  });

  it("does not make the server wait for a body that nobody wants", async () => {
    const { server } = await startAttacked();
    const begun = `POST /nobody HTTP/1.1\r\nhost: a\r\ncontent-length: 9000000\r\n\r\nxxxxxxxxxx`;
    const answers = await Promise.all(Array.from({ length: 40 }, () => send(server.endpointUrl, begun)));
    for (const answer of answers) expect(answer).toMatch(/^HTTP\/1\.1 404 [^]*connection: close/i);
  });

  it("with a key cannot freeze it by a body, nor with a very long name", async () => {
    const { server } = await startAttacked();
    for (const body of [`{"a":[${"[],".repeat(6_000_000)}1]}`, `{"a":${"[".repeat(19_000_000)}`, `{${'"a":1,'.repeat(2_500_000)}"b":1}`]) {
      const post = (): Promise<Response> =>
        fetch(`${server.apiUrl}/v1/sources`, {
          method: "POST",
          body,
          headers: { authorization: `Bearer ${server.apiKey}`, "content-type": "application/json" },
        });
      expect(await silenceDuring(server, async () => expect((await post()).status).toBe(413))).toBeLessThan(2500);
    }
    const long = "x".repeat(12_000);
    for (const path of [`/v1/apps/${long}`, `/v1/components/registry/${long}`, `/v1/components/search?app=${long}`, `/v1/sources/${long}`]) {
      const { status } = await fetch(`${server.apiUrl}${path}`, { headers: { authorization: `Bearer ${server.apiKey}` } });
      expect([path.slice(0, 30), status < 500]).toEqual([path.slice(0, 30), true]);
    }
  });
});
