import { type AddressInfo, createServer } from "node:net";
import { describe, expect, it, onTestFinished } from "vitest";
import { readSettings } from "../../src/config.ts";
import type { Store } from "../../src/ports/stores/store.ts";
import { startRuntime } from "../../src/runtime.ts";
import { memoryStore } from "../../src/store/memory/memory-store.ts";
import { Shelves } from "../../src/store/memory/shelves.ts";
import { silentLog } from "../../src/system/log.ts";
import { InProcessRunner } from "../../src/testing/in-process-runner.ts";
import { temporaryFolder } from "../support/home.ts";
import { startHttpServer } from "../support/http-server.ts";
import { TestServer } from "../support/runtime.ts";

/** Servers use the same home and store in sequence. */
async function start({ home, store, endpointPort }: { home: string; store: Store; endpointPort: string }): Promise<TestServer> {
  const runner = new InProcessRunner();
  onTestFinished(() => runner[Symbol.asyncDispose]());
  const settings = readSettings({ flags: { home, port: "0", endpointPort, keyringUse: "never", sandboxUse: "belt" }, environment: {}, file: {} });
  return TestServer.of(home, await startRuntime(settings, silentLog, { plugs: { store, runner } }));
}

async function freePort(): Promise<string> {
  const server = createServer();
  const port = await new Promise<number>((resolve) => server.listen(0, "127.0.0.1", () => resolve(portOf(server.address()))));
  await new Promise((resolve) => server.close(resolve));
  return String(port);
}

function portOf(address: AddressInfo | string | null): number {
  return typeof address === "object" && address !== null ? address.port : 0;
}

function signal(): { told: Promise<void>; tell: () => void } {
  let tell = (): void => {};
  const told = new Promise<void>((resolve) => (tell = resolve));
  return { told, tell };
}

describe("a request that is accepted while the server starts", () => {
  it("is run once, though it is stored before the server takes up what an earlier one has left", async () => {
    const runs: string[] = [];
    const [first, end] = [signal(), signal()];
    const outside = await startHttpServer((request, response) => {
      runs.push(request.url ?? "");
      if (request.url === "/slow") void end.told.then(() => response.end());
      else response.end();
    });
    const store = memoryStore(new Shelves({ userId: "u_testers", workspaceId: "o_testers" }));
    const home = await temporaryFolder();
    const before = await start({ home, store, endpointPort: "0" });
    const { endpoint } = await before.deploy(
      `export default { name: "s", version: "1", props: { http: "$.interface.http" }, async run({ path }) { await fetch("${outside}" + path); } };`,
    );
    await before.stop();

    const goOn = signal();
    const slowly: Store = {
      ...store,
      async listBusyListeners() {
        first.tell();
        await goOn.told;
        return store.listBusyListeners();
      },
    };
    const port = await freePort();
    const starting = start({ home, store: slowly, endpointPort: port });
    await Promise.race([first.told, starting]);
    const url = `http://127.0.0.1:${port}${new URL(endpoint).pathname}`;
    // A slow request is answered once it is stored. Its run continues.
    expect((await fetch(`${url}/slow`, { method: "POST" })).status).toBe(200);
    goOn.tell();
    await starting;
    // At the end of this request, every resumed run has begun.
    await fetch(`${url}/quick`, { method: "POST" });
    end.tell();
    expect(runs).toEqual(["/slow", "/quick"]);
  });
});

describe("a source that nobody has called since the start", () => {
  it("refuses calls once it has stopped, as others do", async () => {
    const store = memoryStore(new Shelves({ userId: "u_testers", workspaceId: "o_testers" }));
    const [home, runner] = [await temporaryFolder(), new InProcessRunner()];
    onTestFinished(() => runner[Symbol.asyncDispose]());
    const before = await start({ home, store, endpointPort: "0" });
    const { id } = await before.deploy('export default { name: "s", version: "1", run() {} };');
    await before.stop();
    const settings = readSettings({ flags: { home, port: "0", endpointPort: "0", keyringUse: "never", sandboxUse: "belt" }, environment: {}, file: {} });
    const runtime = await startRuntime(settings, silentLog, { plugs: { store, runner } });
    onTestFinished(() => runtime[Symbol.asyncDispose]());
    const live = runtime.engine.sources.find(id);
    expect([live.hasProcess, live.idleMs, live.load]).toEqual([false, undefined, { running: 0, waiting: 0 }]);
    await live.stop();
    expect(live.hasProcess).toBe(false);
    await expect(live.invoke({ kind: "manual", event: {} })).rejects.toMatchObject({ code: "PD_STOPPING" });
  });
});
