import { onTestFinished } from "vitest";
import { type ApiClient, dataOf, listOf } from "./api.ts";
import { type Client, createClient } from "../../src/client/client.ts";
import { type GivenSettings, type Settings, readSettings } from "../../src/config.ts";
import type { JsonObject } from "../../src/domain/text/json.ts";
import { type Runtime, startRuntime } from "../../src/runtime.ts";
import type { Clock } from "../../src/ports/clock.ts";
import type { Cluster } from "../../src/ports/cluster.ts";
import type { ServeOptions } from "../../src/serving.ts";
import { memoryStore } from "../../src/store/memory/memory-store.ts";
import { Shelves } from "../../src/store/memory/shelves.ts";
import { silentLog } from "../../src/system/log.ts";
import { CheckedClient } from "./checked-client.ts";
import { temporaryFolder } from "./home.ts";
import { eventually } from "./eventually.ts";
import { InProcessRunner } from "../../src/testing/in-process-runner.ts";

/** No snapshots: each takes a second of CPU. */
export const NEVER_MS = 3_600_000;

export type RunningServer = Omit<Runtime, "engine" | "ask">;

function settingsOf(home: string, flags: GivenSettings): Settings {
  return readSettings({ flags: { port: "0", endpointPort: "0", keyringUse: "never", ...flags, home }, environment: {}, file: {} });
}

/** A server in the test's process, with real child processes and a real database. */
export class TestServer {
  readonly home: string;
  readonly api: ApiClient;
  readonly client: Client;
  readonly #runtime: RunningServer;
  #isStopped = false;

  static async start(
    flags: GivenSettings = {},
    { snapshotAfterMs = NEVER_MS, keepsSpare = false, plugs = {} }: Pick<ServeOptions, "snapshotAfterMs" | "keepsSpare" | "plugs"> = {},
  ): Promise<TestServer> {
    const home = flags.home ?? (await temporaryFolder());
    return TestServer.of(home, await startRuntime(settingsOf(home, flags), silentLog, { snapshotAfterMs, keepsSpare, plugs }));
  }

  /** Components run in the test's process, with a store in memory. */
  static async inMemory(flags: GivenSettings = {}, clock?: Clock, cluster?: Cluster): Promise<TestServer> {
    const [home, runner] = [await temporaryFolder(), new InProcessRunner()];
    const store = memoryStore(new Shelves({ userId: "u_testers", workspaceId: "o_testers" }));
    const runtime = await startRuntime(settingsOf(home, { sandboxUse: "belt", ...flags }), silentLog, {
      plugs: { store, runner, ...(clock === undefined ? {} : { clock }), ...(cluster === undefined ? {} : { cluster }) },
    });
    onTestFinished(() => runner[Symbol.asyncDispose]());
    return TestServer.of(home, runtime);
  }

  static of(home: string, running: RunningServer): TestServer {
    const server = new TestServer(home, running);
    onTestFinished(() => server.stop());
    return server;
  }

  private constructor(home: string, runtime: RunningServer) {
    this.home = home;
    this.#runtime = runtime;
    this.api = new CheckedClient({ baseUrl: runtime.apiUrl, key: runtime.apiKey });
    this.client = createClient({ baseUrl: runtime.apiUrl, key: runtime.apiKey });
  }

  get apiUrl(): string {
    return this.#runtime.apiUrl;
  }

  get endpointUrl(): string {
    return this.#runtime.endpointUrl;
  }

  get apiKey(): string {
    return this.#runtime.apiKey;
  }

  async stop(): Promise<void> {
    if (this.#isStopped) return;
    this.#isStopped = true;
    await this.#runtime[Symbol.asyncDispose]();
  }

  async deploy(
    code: string,
    {
      props = {},
      path = "source.mjs",
      files = {},
      env = {},
    }: { props?: JsonObject; path?: string; files?: Record<string, string>; env?: Record<string, string> } = {},
  ): Promise<DeployedSource> {
    const record = dataOf(
      await this.api.post("/v1/sources", { component_code: code, component_path: path, component_files: files, configured_props: props, env }),
    );
    return new DeployedSource(this, record);
  }
}

export class DeployedSource {
  readonly server: TestServer;
  readonly record: JsonObject;

  constructor(server: TestServer, record: JsonObject) {
    this.server = server;
    this.record = record;
  }

  get id(): string {
    return String(this.record["id"]);
  }

  get path(): string {
    return `/v1/sources/${this.id}`;
  }

  get endpoint(): string {
    return String(this.record["endpoint_url"]);
  }

  async run(event?: JsonObject): Promise<JsonObject> {
    return dataOf(await this.server.api.post(`${this.path}/run`, event === undefined ? {} : { event }));
  }

  async update(change: JsonObject): Promise<JsonObject> {
    return dataOf(await this.server.api.put(this.path, change));
  }

  /** Oldest first. */
  async payloads(): Promise<unknown[]> {
    return (await this.events()).map((event) => event["event"]);
  }

  /** The answer may precede the end of the run. */
  async payloadsOnce(count: number): Promise<unknown[]> {
    return eventually(async () => {
      const payloads = await this.payloads();
      return payloads.length >= count && payloads;
    });
  }

  /** Oldest first. */
  async events(): Promise<JsonObject[]> {
    return listOf(await this.server.api.get(`${this.path}/event_summaries?limit=1000&expand=event`)).toReversed();
  }

  /** Newest first. */
  async invocations(): Promise<readonly JsonObject[]> {
    return listOf(await this.server.api.get(`${this.path}/invocations?limit=1000`));
  }

  async state(): Promise<JsonObject> {
    return dataOf(await this.server.api.get(`${this.path}/state`));
  }

  async logs(invocation: JsonObject): Promise<string[]> {
    const { logs } = dataOf(await this.server.api.get(`/v1/invocations/${String(invocation["id"])}`));
    return Array.isArray(logs) ? logs.map((line) => (typeof line === "object" && line !== null && "msg" in line ? String(line["msg"]) : "")) : [];
  }
}

export { eventually } from "./eventually.ts";
