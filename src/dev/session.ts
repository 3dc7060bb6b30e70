import { once } from "node:events";
import { relative } from "node:path";
import { emitKeypressEvents } from "node:readline";
import type { ChalkInstance } from "chalk";
import { type ApiClient, dataOf, listOf } from "../cli/api-client.ts";
import { askAll, askingForProps, canAsk } from "../cli/ask.ts";
import type { CliContext } from "../cli/context.ts";
import { readParams } from "../cli/local-code.ts";
import { coloursFor, eventLine, printError, printJson, printLine, printNote, text, timelineLine } from "../cli/reporter.ts";
import { withSpinner } from "../cli/spinner.ts";
import { LocalComponent, type ReadResult } from "../code/local-component.ts";
import { PdError } from "../domain/errors.ts";
import { type JsonObject, type JsonValue, isJsonObject } from "../domain/json.ts";
import { Attachments } from "./attachments.ts";
import { FileWatcher } from "./file-watcher.ts";

export interface DevFlags {
  readonly dc?: string;
  readonly name?: string;
  readonly prompt?: boolean;
  readonly promptAll?: boolean;
  readonly prop?: readonly string[];
  readonly props?: string;
  readonly env?: readonly string[];
  readonly envFile?: string;
}

export interface SessionSettings {
  readonly client: ApiClient;
  readonly path: string;
  readonly flags: DevFlags;
  readonly props: JsonObject;
  readonly env: Record<string, string>;
  readonly home: string;
  readonly stop: AbortController;
}

/** What is asked for under --prompt-all: not interfaces, services and credentials. */
const ASKED_BY_DEV = new Set(["string", "string[]", "integer", "integer[]", "boolean", "boolean[]", "object", "any", "$.interface.timer"]);

/** What does not compile may be half a save; an empty file surely is one, unless it stays empty. */
const DOUBT_MS = 20;
const EMPTY_DOUBT_MS = 300;
const RETRY_MS = 1000;

/** A `pd dev` session: file → code → the same dc_ → timeline, until it is stopped. */
export async function openSession(cli: CliContext, settings: SessionSettings): Promise<void> {
  const component = await LocalComponent.open(settings.path);
  const session = new Session(cli, settings, component);
  try {
    await session.run();
  } finally {
    await session.close();
  }
}

class Session {
  readonly #cli: CliContext;
  readonly #settings: SessionSettings;
  readonly #component: LocalComponent;
  readonly #watcher: FileWatcher;
  readonly #colours: ChalkInstance;
  #source: JsonObject = {};
  /** What the files held when they were last taken up, as text to compare. */
  #seen = "";
  /** Something that may be half a save; taken up when it stays the same for a while. */
  #doubtful: { readonly text: string; readonly since: number } | undefined;
  /** Set while nothing is deployed yet. */
  #firstSave: (() => void) | undefined;
  #isAsking = false;
  /** The server did not answer to the last save. */
  #isLost = false;
  #takesKeys = false;

  constructor(cli: CliContext, settings: SessionSettings, component: LocalComponent) {
    this.#cli = cli;
    this.#settings = settings;
    this.#component = component;
    this.#colours = coloursFor(cli.stdout, cli);
    this.#watcher = new FileWatcher(() => this.#look());
  }

  async run(): Promise<void> {
    const { stop } = this.#settings;
    while (!stop.signal.aborted && !(await this.#attachOrWait()));
    if (stop.signal.aborted) return;
    await this.#follow();
    this.#greet();
    this.#listenToKeys();
    if (!stop.signal.aborted) await once(stop.signal, "abort");
  }

  async close(): Promise<void> {
    await this.#watcher.close();
    await this.#component.dispose();
    if (this.#cli.stdin.isTTY === true) this.#cli.stdin.setRawMode(false);
    this.#cli.stdin.pause();
  }

  /** True once attached. A first version that does not compile or deploy is shown, and the next save tried. */
  async #attachOrWait(): Promise<boolean> {
    const { stop, flags, path } = this.#settings;
    const read = await this.#component.read();
    this.#seen = JSON.stringify(read);
    this.#watcher.watch(read.files);
    try {
      await this.#attach(readParams(path, read));
      return true;
    } catch (error) {
      const isHopeless = error instanceof PdError && (error.code === "PD_SOURCE_NOT_FOUND" || (error.code === "PD_BAD_PROPS" && !canAsk(this.#cli, flags)));
      if (isHopeless) throw error;
      printError(this.#cli, error);
      printNote(this.#cli, "Waiting for file change (or ^C to quit)...");
    }
    await new Promise<void>((resolve) => {
      this.#firstSave = resolve;
      stop.signal.addEventListener("abort", () => resolve(), { once: true });
    });
    this.#firstSave = undefined;
    return false;
  }

  async #attach(code: JsonObject): Promise<void> {
    const { client, flags, home, env } = this.#settings;
    const attachments = new Attachments(home);
    const id = flags.dc ?? (await attachments.find(this.#component.entry));
    const before = id === undefined ? undefined : await client.source(id).catch((error: unknown) => this.#unknownSource(error));
    const name = flags.name === undefined ? {} : { name: flags.name };
    const request = { ...code, ...name, env };
    this.#source = await this.#sendAsking(this.#settings.props, (props) =>
      before === undefined
        ? client.post("/v1/sources", { ...request, configured_props: props })
        : client.put(`/v1/sources/${text(before, "id")}`, { ...request, configured_props: props }),
    );
    if (flags.promptAll === true && canAsk(this.#cli, flags)) await this.#askEvery();
    await attachments.keep(this.#component.entry, text(this.#source, "id"));
  }

  /** A component that was deleted meanwhile is made anew; one that was named has to exist. */
  #unknownSource(error: unknown): undefined {
    if (this.#settings.flags.dc !== undefined) throw error;
    if (!(error instanceof PdError && error.code === "PD_SOURCE_NOT_FOUND")) throw error;
  }

  /** Asks for all props of the code as it was just deployed, with the values that they have. */
  async #askEvery(): Promise<void> {
    const values = isJsonObject(this.#source["configured_props"]) ? this.#source["configured_props"] : {};
    const declared = Array.isArray(this.#source["configurable_props"]) ? this.#source["configurable_props"].filter(isJsonObject) : [];
    const asked = declared.filter((prop) => ASKED_BY_DEV.has(String(prop["type"])) && prop["static"] === undefined);
    const questions = asked.map((prop) => ({ ...prop, default: withoutNulls(values[String(prop["name"])] ?? prop["default"]) ?? "" }));
    const answers = await askAll(this.#cli, questions);
    this.#source = await this.#sendAsking(answers, (props) => this.#put({ configured_props: props }));
  }

  #put(change: JsonObject): Promise<JsonObject> {
    return this.#settings.client.put(`/v1/sources/${text(this.#source, "id")}`, change);
  }

  async #sendAsking(props: JsonObject, send: (props: JsonObject) => Promise<JsonObject>): Promise<JsonObject> {
    this.#isAsking = true;
    try {
      const spinning = (values: JsonObject): Promise<JsonObject> => withSpinner(this.#cli, "Deploying", send(values));
      return dataOf(await askingForProps(this.#cli, this.#settings.flags, { props, send: spinning }));
    } finally {
      this.#isAsking = false;
      // Questions leave the terminal as they want it.
      if (this.#takesKeys) this.#cli.stdin.setRawMode(true).resume();
    }
  }

  /** Looks whether something was saved. An editor may be half-way through it. */
  async #look(): Promise<void> {
    const read = await this.#component.read();
    const now = JSON.stringify(read);
    if (now === this.#seen) return;
    const doubtMs = read.kind === "failed" ? DOUBT_MS : read.code.text.trim() === "" ? EMPTY_DOUBT_MS : 0;
    if (this.#doubtful?.text !== now) this.#doubtful = { text: now, since: Date.now() };
    if (Date.now() - this.#doubtful.since < doubtMs) return this.#watcher.lookAgain(doubtMs);
    this.#doubtful = undefined;
    this.#seen = now;
    if (this.#firstSave !== undefined) return this.#firstSave();
    this.#watcher.watch(read.files);
    await this.#save(read);
  }

  /** A save becomes the running code. Whatever is wrong is shown, and the old version serves on. */
  async #save(read: ReadResult): Promise<void> {
    try {
      const code = readParams(this.#settings.path, read);
      this.#source = await this.#sendAsking({}, (props) => this.#put({ ...code, configured_props: props }));
      this.#isLost = false;
    } catch (error) {
      if (error instanceof PdError && error.code === "PD_SERVER_UNREACHABLE") return this.#retryLater(error);
      printError(this.#cli, error);
      printNote(this.#cli, "The version before goes on");
    }
  }

  /** The save is not lost: it is sent as soon as a server answers again. */
  #retryLater(error: PdError): void {
    if (!this.#isLost) printError(this.#cli, error);
    if (!this.#isLost) printNote(this.#cli, "This save will be sent when the server answers again");
    this.#isLost = true;
    this.#seen = "";
    this.#watcher.lookAgain(RETRY_MS);
  }

  /** Resolves when both streams are open: nothing that happens from then on is missed. */
  async #follow(): Promise<void> {
    const { client, stop } = this.#settings;
    const path = `/sse/dc/${text(this.#source, "id")}`;
    const { signal } = stop;
    await Promise.all([
      client.stream(`${path}/emits`, { signal, onMessage: ({ data }) => this.#show(data, eventLine(data, this.#colours)) }),
      client.stream(`${path}/observations`, { signal, onMessage: ({ data }) => this.#show(data, timelineLine(data, this.#colours)) }),
    ]);
  }

  #show(record: JsonObject, line: string | undefined): void {
    if (this.#cli.isJson) printJson(this.#cli, record);
    else if (line !== undefined) printLine(this.#cli, line);
  }

  #greet(): void {
    const { stdin } = this.#cli;
    const path = relative(process.cwd(), this.#component.entry);
    if (this.#cli.isJson) return printJson(this.#cli, this.#source);
    printLine(this.#cli, `Attached to ${text(this.#source, "name_slug")} (${text(this.#source, "id")}), watching ${path}`);
    if (this.#source["endpoint_url"] !== undefined) printLine(this.#cli, `Endpoint: ${text(this.#source, "endpoint_url")}`);
    if (stdin.isTTY === true) printLine(this.#cli, this.#colours.dim("r run now · p replay the last trigger · o open the endpoint · q quit"));
    printLine(this.#cli, "Ready for updates!");
  }

  #listenToKeys(): void {
    const { stdin } = this.#cli;
    if (stdin.isTTY !== true) return;
    this.#takesKeys = true;
    emitKeypressEvents(stdin);
    stdin.setRawMode(true).resume();
    stdin.on("keypress", (_text: string, key: { name?: string; ctrl?: boolean }) => {
      if (this.#isAsking) return;
      this.#press(key.ctrl === true && key.name === "c" ? "q" : (key.name ?? "")).catch((error: unknown) => printError(this.#cli, error));
    });
  }

  async #press(key: string): Promise<void> {
    const { client, stop } = this.#settings;
    const id = text(this.#source, "id");
    switch (key) {
      case "q":
        return stop.abort();
      case "r":
        await client.post(`/v1/sources/${id}/run`);
        return;
      case "p":
        return this.#replayLast(id);
      case "o":
        return this.#openEndpoint();
    }
  }

  async #replayLast(id: string): Promise<void> {
    const recent = listOf(await this.#settings.client.get(`/v1/sources/${id}/invocations?limit=50`));
    const last = recent.find((invocation) => isJsonObject(invocation["trigger"]) && invocation["trigger"]["kind"] !== "hook");
    if (last === undefined) return printNote(this.#cli, "Nothing to replay yet: the source has not been triggered");
    await this.#settings.client.post(`/v1/invocations/${text(last, "id")}/replay`);
  }

  async #openEndpoint(): Promise<void> {
    const url = text(this.#source, "endpoint_url");
    if (url === "") return printNote(this.#cli, "The source has no endpoint: it has no $.interface.http prop");
    const { spawn } = await import("node:child_process");
    const opener = process.platform === "darwin" ? "open" : process.platform === "win32" ? "explorer" : "xdg-open";
    spawn(opener, [url], { stdio: "ignore", detached: true })
      .once("error", () => printNote(this.#cli, `Open ${url} in a browser`))
      .unref();
  }
}

/** A timer as the API shows it has both `cron` and `interval_seconds`, one of them null. */
function withoutNulls(value: JsonValue | undefined): JsonValue | undefined {
  return isJsonObject(value) ? Object.fromEntries(Object.entries(value).filter(([, member]) => member !== null)) : value;
}
