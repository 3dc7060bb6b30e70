import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { writeFile } from "node:fs/promises";
import { get } from "node:http";
import { type Socket, connect as connectTo, createServer } from "node:net";
import { pathToFileURL } from "node:url";
import { TraceMap, originalPositionFor } from "@jridgewell/trace-mapping";
import { describe, expect, it, onTestFinished } from "vitest";
import { type PeerRules, peerOf, refusalOfPeer } from "../../src/debugger/loopback-peer.ts";
import type { JsonObject } from "../../src/domain/text/json.ts";
import { DebuggerClient } from "../support/debugger.ts";
import { PdHome, collect } from "../support/pd.ts";
import { eventually } from "../support/runtime.ts";

/** In TypeScript, the compiled lines differ from the author's. `shout` is on line 8 + `above`. */
const source = (word: string, above = 0): string => `import { twice } from "./lib.ts";
interface Order { readonly amount: number }
${"// one line more\n".repeat(above)}export default {
  name: "Orders", version: "0.0.1", props: { http: { type: "$.interface.http", customResponse: true } },
  async run(event: { query: Record<string, string> }) {
    const order: Order = { amount: Number(event.query["amount"] ?? 1) };
    const doubled: number = twice(order.amount);
    const shout = \`${word} \${doubled}\`;
    this.http.respond({ body: shout });
    this.$emit({ shout });
  },
};
`;
const SHOUT_LINE = 8;

interface Session {
  readonly child: ChildProcess;
  readonly shown: () => string;
  readonly endpoint: string;
  readonly id: string;
  readonly url: string;
  readonly path: string;
}

async function startSession(home: PdHome, words: readonly string[] = [], text = source("is")): Promise<Session> {
  await home.file("src/lib.ts", "export function twice(amount: number): number {\n  return amount * 2;\n}\n");
  const path = await home.file("src/orders.ts", text);
  const child = home.spawn(["dev", path, "--inspect=0", ...words]);
  const [stdout, stderr] = [collect(child, "stdout"), collect(child, "stderr")];
  const shown = (): string => stdout() + stderr();
  await eventually(async () => shown().includes("Ready to be debugged"));
  const found = (pattern: RegExp): string => pattern.exec(shown())?.[1] ?? "";
  return { child, shown, endpoint: found(/Endpoint: (\S+)/), id: found(/\((dc_\w+)\)/), url: found(/Debugger: (ws:\S+)/), path };
}

async function connect({ url }: Pick<Session, "url">): Promise<DebuggerClient> {
  const client = await DebuggerClient.connect(url);
  await client.ask("Runtime.enable");
  await client.ask("Debugger.enable");
  return client;
}

async function answer(url: string): Promise<string> {
  return (await fetch(url)).text();
}

/** Returns a position in the author's files. */
function placeOf(script: JsonObject, paused: JsonObject): string {
  const map = new TraceMap(Buffer.from(String(script["sourceMapURL"]).replace(/^.*base64,/, ""), "base64").toString());
  const { callFrames } = paused;
  const { location } = JSON.parse(JSON.stringify(Array.isArray(callFrames) ? callFrames[0] : {}));
  const { source: file, line } = originalPositionFor(map, { line: location.lineNumber + 1, column: location.columnNumber });
  return `${file}:${line}`;
}

function scriptOf(client: DebuggerClient, name = "orders"): Promise<JsonObject> {
  return client.next("Debugger.scriptParsed", ({ url }) => url === `headwater:///${name}.mjs`);
}

describe("pd dev --inspect", () => {
  it("stops at a breakpoint in the author's file, shows its variables, and again in the code of the next save", async () => {
    const home = await PdHome.make();
    const session = await startSession(home);
    const client = await connect(session);
    const file = pathToFileURL(session.path).href;
    const script = await scriptOf(client);
    await client.ask("Debugger.setBreakpointByUrl", { url: file, lineNumber: SHOUT_LINE - 1 });
    const first = answer(`${session.endpoint}?amount=21`);
    const paused = await client.next("Debugger.paused");
    expect(placeOf(script, paused)).toBe(`${file}:${SHOUT_LINE}`);
    expect(await client.valueOf(paused, "order.amount + ' ' + doubled")).toBe("21 42");
    expect(paused["hitBreakpoints"]).toHaveLength(1);
    await eventually(async () => session.shown().includes(`⏸ paused at orders.ts:${SHOUT_LINE}`));
    await client.ask("Debugger.resume");
    expect(await first).toBe("is 42");

    await writeFile(session.path, source("was"));
    await client.next("Runtime.executionContextsCleared");
    const next = await scriptOf(client);
    // An earlier call may still run the old code, without a debugger.
    await eventually(async () => session.shown().includes("now runs version"));
    const second = answer(`${session.endpoint}?amount=4`);
    const again = await client.next("Debugger.paused");
    expect(placeOf(next, again)).toBe(`${file}:${SHOUT_LINE}`);
    expect(again["hitBreakpoints"]).toEqual(paused["hitBreakpoints"]);
    expect(await client.valueOf(again, "doubled")).toBe(8);
    await client.ask("Debugger.stepOver");
    const stepped = await client.next("Debugger.paused");
    expect(placeOf(next, stepped)).toBe(`${file}:${SHOUT_LINE + 1}`);
    expect(await client.valueOf(stepped, "shout")).toBe("was 8");
    await client.ask("Debugger.removeBreakpoint", { breakpointId: String(paused["hitBreakpoints"]).split(",")[0] ?? "" });
    await client.ask("Debugger.resume");
    expect(await second).toBe("was 8");
    expect(await answer(session.endpoint)).toBe("was 2");
  });

  it("moves a breakpoint with its line when the bundle becomes another, and stops at debugger; and in other files", async () => {
    const home = await PdHome.make();
    const session = await startSession(home);
    const client = await connect(session);
    const lib = pathToFileURL(session.path.replace("orders.ts", "lib.ts")).href;
    await client.ask("Debugger.setBreakpointByUrl", { url: lib, lineNumber: 1 });
    await scriptOf(client);
    // Lines of the bundle change, those of lib.ts do not.
    await writeFile(session.path, source("later", 12).replace("this.$emit", "debugger; this.$emit"));
    const script = await scriptOf(client);
    await eventually(async () => session.shown().includes("now runs version"));
    const answered = answer(session.endpoint);
    const inLib = await client.next("Debugger.paused");
    expect(placeOf(script, inLib)).toBe(`${lib}:2`);
    await client.ask("Debugger.resume");
    const atStatement = await client.next("Debugger.paused");
    expect(placeOf(script, atStatement)).toBe(`${pathToFileURL(session.path).href}:${SHOUT_LINE + 14}`);
    await client.ask("Debugger.resume");
    expect(await answered).toBe("later 2");
  });

  it("shows what the component prints, with its values and its own line", async () => {
    const home = await PdHome.make();
    const session = await startSession(home, [], source("is").replace("this.$emit", "console.warn('look', { doubled }); this.$emit"));
    const client = await connect(session);
    const script = await scriptOf(client);
    await answer(session.endpoint);
    const { type, args, stackTrace } = await client.next("Runtime.consoleAPICalled");
    expect([type, args]).toMatchObject(["warning", [{ value: "look" }, { type: "object", preview: { properties: [{ name: "doubled", value: "2" }] } }]]);
    const [frame] = JSON.parse(JSON.stringify(stackTrace)).callFrames;
    expect(placeOf(script, { callFrames: [{ location: frame }] })).toBe(`${pathToFileURL(session.path).href}:${SHOUT_LINE + 2}`);
    await eventually(async () => session.shown().includes("look { doubled: 2 }"));
  });

  it("stops in an action, which runs again with each save, each time in a process of its own", async () => {
    const home = await PdHome.make();
    const action = (word: string): string =>
      `export default { name: "A", version: "1", type: "action",\n  run() {\n    const word: string = "${word}";\n    debugger;\n    return word;\n  } };\n`;
    const path = await home.file("src/greet.ts", action("first"));
    const child = home.spawn(["dev", path, "--inspect=0"]);
    const [stdout, stderr] = [collect(child, "stdout"), collect(child, "stderr")];
    const shown = (): string => stdout() + stderr();
    await eventually(async () => shown().includes("Each save runs the action again with"));
    const client = await connect({ url: /Debugger: (ws:\S+)/.exec(shown())?.[1] ?? "" });
    for (const word of ["second", "third"]) {
      await writeFile(path, action(word));
      const script = await scriptOf(client, "action");
      const paused = await client.next("Debugger.paused");
      const stood = [placeOf(script, paused), await client.valueOf(paused, "word")];
      expect(stood, `${shown()}\n${JSON.stringify(client.said)}`).toEqual([`${pathToFileURL(path).href}:4`, word]);
      await client.ask("Debugger.resume");
      await eventually(async () => shown().includes(`+  "returned": "${word}"`));
    }
    child.kill("SIGINT");
    await once(child, "close");
  });

  it("stops in each step of a workflow, in the step's own file", async () => {
    const home = await PdHome.make();
    const step = (name: string, value: string): Promise<string> =>
      home.file(
        `flow/${name}.mjs`,
        `export default defineComponent({\n  async run({ steps, $ }) {\n    const value = ${value};\n    return value;\n  },\n});\n`,
      );
    await home.file(
      "flow/workflow.yaml",
      "schema: workflow/2022.04\nname: Flow\ntriggers:\n- http: {}\nsteps:\n- namespace: one\n  uses: ./one.mjs\n- namespace: two\n  uses: ./two.mjs\n",
    );
    const paths = [await step("one", "1"), await step("two", "steps.one.$return_value + 1")];
    const child = home.spawn(["dev", "flow", "--inspect=0"]);
    const [stdout, stderr] = [collect(child, "stdout"), collect(child, "stderr")];
    const shown = (): string => stdout() + stderr();
    await eventually(async () => shown().includes("Ready to be debugged"));
    const client = await connect({ url: /Debugger: (ws:\S+)/.exec(shown())?.[1] ?? "" });
    for (const path of paths) await client.ask("Debugger.setBreakpointByUrl", { url: pathToFileURL(path).href, lineNumber: 3 });
    const asked = fetch(/Endpoint: (\S+)/.exec(shown())?.[1] ?? "");
    for (const [index, path] of paths.entries()) {
      const script = await scriptOf(client, "flow");
      const paused = await client.next("Debugger.paused");
      expect([placeOf(script, paused), await client.valueOf(paused, "value")]).toEqual([`${pathToFileURL(path).href}:4`, index + 1]);
      await client.ask("Debugger.resume");
    }
    await asked;
    client.close();
    await eventually(async () => shown().includes("The debugger has disconnected"));
    await fetch(/Endpoint: (\S+)/.exec(shown())?.[1] ?? "");
    await eventually(async () => shown().split("✔ succeeded").length > 4);
    child.kill("SIGINT");
    await once(child, "close");
  });

  it("refuses an action under an id that no debugger listens under, and a second debugger under the same id", async () => {
    const home = await PdHome.make();
    const { apiUrl, apiKey } = await home.up();
    const headers = { authorization: `Bearer ${apiKey}` };
    const run = await fetch(`${apiUrl}/v1/actions/run`, {
      method: "POST",
      headers: { ...headers, "content-type": "application/json" },
      body: JSON.stringify({ component_code: 'export default { name: "A", version: "1", type: "action", run() {} };', debug: "nobody-is-there-to-debug" }),
    });
    expect([run.status, await run.text()]).toEqual([404, expect.stringContaining("no debugger has this id")]);
    const { key } = await home.json("keys", "create", "other");
    const foreign = await fetch(`${apiUrl}/v1/actions/run`, {
      method: "POST",
      headers: { authorization: `Bearer ${String(key)}`, "content-type": "application/json" },
      body: JSON.stringify({ component_code: 'export default { name: "A", version: "1", type: "action", run() {} };', debug: "some-debugger-of-mine" }),
    });
    expect([foreign.status, await foreign.text()]).toEqual([403, expect.stringContaining("PD_NOT_OWNER")]);
    const stop = new AbortController();
    const first = await fetch(`${apiUrl}/sse/actions/some-debugger-of-mine/inspector`, { headers, signal: stop.signal });
    await first.body?.getReader().read();
    expect((await fetch(`${apiUrl}/sse/actions/some-debugger-of-mine/inspector`, { headers })).status).toBe(409);
    expect((await fetch(`${apiUrl}/sse/actions/x/inspector`, { headers })).status).toBe(400);
    stop.abort();
    await eventually(async () => {
      const again = new AbortController();
      const { status } = await fetch(`${apiUrl}/sse/actions/some-debugger-of-mine/inspector`, { headers, signal: again.signal });
      again.abort();
      return status === 200;
    });
  });

  it("lets deadlines stand still while it is paused", async () => {
    const home = await PdHome.make({ PD_TIMEOUT: "1" });
    const session = await startSession(home);
    const client = await connect(session);
    await client.ask("Debugger.setBreakpointByUrl", { url: pathToFileURL(session.path).href, lineNumber: SHOUT_LINE - 1 });
    const answered = answer(session.endpoint);
    const paused = await client.next("Debugger.paused");
    // Longer than a run's timeout, which does not count pauses.
    await new Promise((resolve) => setTimeout(resolve, 1500));
    expect(await client.valueOf(paused, "doubled")).toBe(2);
    await client.ask("Debugger.resume");
    expect(await answered).toBe("is 2");
    await eventually(async () => session.shown().includes("✔ succeeded"));
  });

  it("stays with the code before when a save cannot be loaded", async () => {
    const home = await PdHome.make();
    const session = await startSession(home);
    const client = await connect(session);
    await client.ask("Debugger.setBreakpointByUrl", { url: pathToFileURL(session.path).href, lineNumber: SHOUT_LINE - 1 });
    await writeFile(session.path, `${source("broken")}throw new Error("not today");\n`);
    await eventually(async () => session.shown().includes("Still running the previous version"));
    const answered = answer(session.endpoint);
    const paused = await client.next("Debugger.paused");
    expect(await client.valueOf(paused, "doubled")).toBe(2);
    await client.ask("Debugger.resume");
    expect(await answered).toBe("is 2");
  });

  it("goes on without the debugger when that leaves, or the session is killed, and nobody can come any more", async () => {
    const home = await PdHome.make();
    const server = await home.up();
    const session = await startSession(home);
    const client = await connect(session);
    await client.ask("Debugger.setBreakpointByUrl", { url: pathToFileURL(session.path).href, lineNumber: SHOUT_LINE - 1 });
    const first = answer(session.endpoint);
    await client.next("Debugger.paused");
    client.close();
    expect(await first).toBe("is 2");
    expect(await answer(session.endpoint)).toBe("is 2");

    const again = await connect(session);
    await again.ask("Debugger.setBreakpointByUrl", { url: pathToFileURL(session.path).href, lineNumber: SHOUT_LINE - 1 });
    const second = answer(session.endpoint);
    await again.next("Debugger.paused");
    session.child.kill("SIGKILL");
    expect(await second).toBe("is 2");
    await eventually(async () => (await DebuggerClient.connect(session.url).catch(() => undefined)) === undefined);
    expect(await answer(session.endpoint)).toBe("is 2");
    server.child.kill("SIGTERM");
    await once(server.child, "close");
  });

  it("stops the server also while a component stands still", async () => {
    const home = await PdHome.make();
    const session = await startSession(home);
    const client = await connect(session);
    await client.ask("Debugger.setBreakpointByUrl", { url: pathToFileURL(session.path).href, lineNumber: SHOUT_LINE - 1 });
    const answered = answer(session.endpoint);
    await client.next("Debugger.paused");
    const closed = once(session.child, "close");
    session.child.kill("SIGINT");
    await closed;
    expect(await answered.catch(() => "cut off")).toMatch(/^(is 2|cut off)$/);
  });

  it("debugs what ends its own process, and the process after it", async () => {
    const home = await PdHome.make();
    const session = await startSession(home, [], source("is").replace("this.$emit", 'if (event.query["amount"] === "13") process.exit(3); this.$emit'));
    const client = await connect(session);
    await answer(`${session.endpoint}?amount=13`);
    await eventually(async () => session.shown().includes("its process exited with code 3"));
    await client.ask("Debugger.setBreakpointByUrl", { url: pathToFileURL(session.path).href, lineNumber: SHOUT_LINE - 1 });
    const answered = answer(session.endpoint);
    const paused = await client.next("Debugger.paused");
    expect(await client.valueOf(paused, "doubled")).toBe(2);
    await client.ask("Debugger.resume");
    expect(await answered).toBe("is 2");
    expect(session.shown()).not.toContain("debugger to disconnect");
  });

  it("ends with its session also while the component stands still before it is loaded", async () => {
    const home = await PdHome.make();
    const server = await home.up();
    const session = await startSession(home);
    const client = await connect(session);
    await writeFile(session.path, `debugger;\n${source("waits")}`);
    await client.next("Debugger.paused");
    session.child.kill("SIGKILL");
    await eventually(async () => (await DebuggerClient.connect(session.url).catch(() => undefined)) === undefined);
    expect((await home.pd("update", session.id, "--deactivate")).code).toBe(0);
    server.child.kill("SIGTERM");
    await once(server.child, "close");
  });

  it("outlives whoever knocks and is gone", async () => {
    const home = await PdHome.make();
    const session = await startSession(home);
    const { port } = new URL(session.url);
    for (let knocks = 0; knocks < 30; knocks++) {
      const socket = connectTo(Number(port), "127.0.0.1");
      await once(socket, "connect");
      socket.write(
        "GET /guess HTTP/1.1\r\nhost: 127.0.0.1\r\nconnection: upgrade\r\nupgrade: websocket\r\nsec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\r\nsec-websocket-version: 13\r\n\r\n",
      );
      setImmediate(() => socket.resetAndDestroy());
      await once(socket, "close");
    }
    expect(await answer(session.endpoint)).toBe("is 2");
  });

  it("is listed as Node's own are, and takes no page, no foreign name, no second debugger, and no wrong address", async () => {
    const home = await PdHome.make();
    const session = await startSession(home);
    const { host, port } = new URL(session.url);
    const list = JSON.parse(await answer(`http://${host}/json/list`));
    expect(list).toMatchObject([{ type: "node", webSocketDebuggerUrl: session.url, title: `orders (${session.id})` }]);
    expect(await answer(`http://${host}/json/version`)).toContain('"Protocol-Version": "1.3"');
    const asked = (headers: Record<string, string>): Promise<number | undefined> =>
      new Promise((resolve) => get({ host: "127.0.0.1", port, path: "/json/list", headers }, (response) => resolve(response.resume().statusCode)));
    expect(await asked({ host: "evil.example.com" })).toBe(403);
    for (const origin of ["https://evil.example.com", "null", "chrome-extension://abc", "moz-extension://abc", "file://", "vscode-webview://abc", ""])
      expect([origin, await asked({ origin })]).toEqual([origin, 403]);
    expect(await asked({ "sec-fetch-site": "cross-site" })).toBe(403);
    expect([await asked({}), await asked({ origin: "devtools://devtools" }), await asked({ "sec-fetch-site": "none" })]).toEqual([200, 200, 200]);
    expect((await fetch(`http://${host}/json/list`, { method: "POST" })).status).toBe(405);
    // Any key can read a webhook's answers, so the webhook must not reach this port or the API.
    const api = new URL(String((await home.json("status"))["api_url"])).host;
    for (const url of [`http://${host}/json/list`, `http://localhost:${port}/json/list`, `http://${api}/v1/status`]) {
      const { id } = await home.json("webhooks", "create", url);
      expect(await home.json("webhooks", "test", String(id))).toMatchObject({ error: expect.stringContaining("this server's API") });
    }
    await expect(DebuggerClient.connect(`ws://${host}/guess`)).rejects.toThrow(/403/);
    const client = await connect(session);
    await expect(DebuggerClient.connect(session.url)).rejects.toThrow(/409/);
    expect(await client.ask("NodeWorker.enable", { waitForDebuggerOnStart: true })).toEqual({});
    expect(client.said.filter(({ method }) => method.startsWith("NodeWorker"))).toEqual([]);
  });
});

describe("a component beside the one that is debugged", () => {
  it.each(["wall", "belt"])("may not debug it, in the %s", async (sandbox) => {
    const home = await PdHome.make();
    const session = await startSession(home, ["--sandbox", sandbox, "--component-network", "open"]);
    const { host } = new URL(session.url);
    const spy = `export default { name: "Spy", version: "0.0.1", props: { http: { type: "$.interface.http", customResponse: true } },
      async run() {
        const listed = await fetch("http://${host}/json/list").then((r) => r.text(), (error) => String(error.cause ?? error));
        const opened = await new Promise((done) => { const s = new WebSocket("${session.url}"); s.onopen = () => done("OPENED"); s.onerror = () => done("refused"); }).catch(String);
        this.http.respond({ body: listed + " " + opened });
      } };`;
    const { endpoint_url: url } = await home.json("deploy", await home.file("spy.mjs", spy));
    const said = await answer(String(url));
    expect(said).not.toContain("webSocketDebuggerUrl");
    expect(said).not.toContain("OPENED");
    expect(said).toContain("may not debug");
    expect(await answer(`http://${host}/json/list`)).toContain("webSocketDebuggerUrl");
  });

  it("cannot make time stand still by itself, nor does a debugger that has left", async () => {
    const home = await PdHome.make({ PD_TIMEOUT: "1" });
    const looping = source("is").replace(
      "const doubled",
      `if (event.query["amount"] === "13") { require("node:fs").writeSync(5, '{"method":"Debugger.paused","params":{}}\\n'); for (;;); }\n    const doubled`,
    );
    const session = await startSession(home, [], looping);
    const client = await connect(session);
    await client.ask("Debugger.setBreakpointByUrl", { url: pathToFileURL(session.path).href, lineNumber: SHOUT_LINE });
    const first = answer(session.endpoint);
    await client.next("Debugger.paused");
    client.close();
    expect(await first).toBe("is 2");
    await answer(`${session.endpoint}?amount=13`).catch(() => "cut off");
    await eventually(async () => /✖ (failed|timed out) .*(1 s|timed|longer)/.test(session.shown()));
  });
});

describe("a program of this machine that connects", () => {
  it("is known by its user", async () => {
    const server = createServer().listen(0, "127.0.0.1");
    onTestFinished(() => void server.close());
    await once(server, "listening");
    const address = server.address();
    const port = typeof address === "object" && address !== null ? address.port : 0;
    const [socket] = await Promise.all([once(server, "connection").then(([accepted]: Socket[]) => accepted), once(connectTo(port, "127.0.0.1"), "connect")]);
    if (socket === undefined) throw new Error("nobody has connected");
    expect(await peerOf(socket)).toMatchObject({ user: process.getuid?.() });
    const rules: PeerRules = { isOfComponent: () => false, serverPid: -1, browserPids: new Set() };
    expect(await refusalOfPeer(socket, rules)).toBeUndefined();
    expect(await refusalOfPeer(socket, { ...rules, isOfComponent: (words) => words.length > 0 })).toContain("component");
    // Refuses the server and its child processes, except browsers opened for a person.
    expect(await refusalOfPeer(socket, { ...rules, serverPid: process.pid })).toContain("The server and the programs");
    expect(await refusalOfPeer(socket, { ...rules, serverPid: process.ppid })).toContain("The server and the programs");
    expect(await refusalOfPeer(socket, { ...rules, serverPid: process.ppid, browserPids: new Set([process.pid]) })).toBeUndefined();
    const { remotePort, localAddress, localPort } = socket;
    const another = { remoteAddress: "127.0.0.60", remotePort, localAddress, localPort };
    expect(await peerOf(another)).toBeUndefined();
    expect(await refusalOfPeer(another, rules)).toContain("Only programs");
    socket.destroy();
  });
});

describe("a server that is asked for a debugger", () => {
  it("refuses keys that are not its owner's, ports that are none, and folders that are none", async () => {
    const home = await PdHome.make();
    const { apiKey, apiUrl } = await home.up();
    await home.pd("deploy", await home.file("src/orders.ts", source("is").replace('import { twice } from "./lib.ts";', "const twice = (n: number) => 2 * n;")));
    const { key } = await home.json("keys", "create", "colleague");
    const ask = async (query: string, bearer: string): Promise<{ status: number; text: string }> => {
      const response = await fetch(`${apiUrl}/sse/dc/orders/inspector?${query}`, { headers: { authorization: `Bearer ${bearer}` } });
      return { status: response.status, text: await response.text() };
    };
    expect(await ask("port=0", String(key))).toMatchObject({ status: 403, text: expect.stringContaining("PD_NOT_OWNER") });
    expect(await ask("port=70000", apiKey)).toMatchObject({ status: 400 });
    expect(await ask("port=0&root=https://example.com/", apiKey)).toMatchObject({ status: 400 });
  });

  it("keeps code of others out of what is debugged: it has no permission model", async () => {
    const home = await PdHome.make();
    const { apiUrl, apiKey } = await home.up();
    const path = await home.file("src/orders.ts", source("is"));
    await home.file("src/lib.ts", "export function twice(amount: number): number {\n  return amount * 2;\n}\n");
    const { id } = await home.json("deploy", path);
    await home.json("update", String(id), "--code", await home.file("src/orders.ts", source("was")));
    const { key } = await home.json("keys", "create", "other");
    const stop = new AbortController();
    const inspector = await fetch(`${apiUrl}/sse/dc/${String(id)}/inspector`, { headers: { authorization: `Bearer ${apiKey}` }, signal: stop.signal });
    await inspector.body?.getReader().read();
    const asOther = (method: string, to: string, body: JsonObject) =>
      fetch(`${apiUrl}/v1/sources/${to}`, {
        method,
        headers: { authorization: `Bearer ${String(key)}`, "content-type": "application/json" },
        body: JSON.stringify(body),
      });
    const code = { component_code: 'export default { name: "Mine", version: "1", run() {} };' };
    const answers = [await asOther("PUT", String(id), code), await asOther("POST", `${String(id)}/rollback`, { version: 1 })];
    expect(answers.map(({ status }) => status)).toEqual([403, 403]);
    stop.abort();
    await eventually(async () => (await asOther("PUT", String(id), { name: "Orders" })).status === 200);
  });

  it("is not asked for one on a port that is none", async () => {
    const home = await PdHome.make();
    const path = await home.file("src/orders.ts", source("is"));
    expect(await home.pd("dev", path, "--inspect=high")).toMatchObject({ code: 2, stderr: expect.stringContaining('"high" as the port') });
  });
});
