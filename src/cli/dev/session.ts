import { coloursFor } from "../colours.ts";
import { relative } from "node:path";
import { type Client, createClient } from "../../client/client.ts";
import type { CodeParams } from "../../api/components.ts";
import type { SourceRecord } from "../../api/sources.ts";
import { canAsk, isTakenBack } from "../ask/can-ask.ts";
import { typedProps } from "../props/typed-props.ts";
import { askEach, askingForProps } from "../props/ask-props.ts";
import { type AskedComponent, askedCode, askedSource } from "../props/asked-component.ts";
import type { CliContext } from "../context.ts";
import { readParams } from "../code/local-code.ts";
import { additionParams } from "../code/component-target.ts";
import { printError, printJson, printLine, printNote } from "../reporter.ts";
import { withSpinner } from "../spinner.ts";
import { makeHome } from "../../system/home/home-folder.ts";
import type { LocalComponent, ReadResult } from "../../code/local-component.ts";
import { PdError } from "../../domain/errors.ts";
import type { JsonObject } from "../../domain/text/json.ts";
import { openActionSession } from "./action-session.ts";
import { Attachments } from "./attachments.ts";
import { followDebugger, inspectPort, rootOf } from "./debugging.ts";
import { FileWatcher } from "./file-watcher.ts";
import { HalfSaves, doubtOfComponent } from "./half-saves.ts";
import type { SessionSettings } from "./session-settings.ts";
import { promptAllQuestions } from "./prompt-all.ts";
import { refuseOther } from "./same-component.ts";
import { SaveLock } from "./save-lock.ts";
import { RETRY_MS, isServerGone } from "./server-gone.ts";
import { Timeline } from "./timeline.ts";
import { pageOf } from "../page-address.ts";
import { openComponent } from "./session-component.ts";
import { KEY_HELP, listenToKeys, openEndpoint, openInspector, replayLast, runNow } from "./key-commands.ts";

/** Errors that no save can fix. */
const HOPELESS = new Set(["PD_SOURCE_NOT_FOUND", "PD_AMBIGUOUS", "PD_CONFLICT", "PD_SERVER_UNREACHABLE", "PD_STOPPING"]);

/** While new code handles its first calls, the same text is not compiled here as well. */
const UNCOMPILED_MS = 300;

/** Each save updates the source, and the timeline shows its runs. */
export async function openSession(cli: CliContext, settings: SessionSettings): Promise<void> {
  const component = await openComponent(settings);
  const session = new Session(cli, settings, component);
  try {
    await session.run();
  } catch (error) {
    if (!isAction(error)) throw error;
    await openActionSession(cli, settings);
  } finally {
    await session.close();
  }
}

/** An action cannot be deployed, so it is run instead. */
function isAction(error: unknown): boolean {
  return error instanceof PdError && error.code === "PD_NOT_A_COMPONENT" && error.details?.["type"] === "action";
}

class Session {
  readonly #cli: CliContext;
  readonly #settings: SessionSettings;
  /** Quitting aborts saves. */
  readonly #saveClient: Client;
  readonly #component: LocalComponent;
  readonly #watcher: FileWatcher;
  readonly #timeline: Timeline;
  #source: SourceRecord | undefined;
  #isNew = false;
  /** The files of the last save, as JSON. */
  #seen = "";
  readonly #halfSaves = new HalfSaves();
  /** The server could not build a save that was not compiled here. */
  #isRefused = false;
  /** By `performance.now()`. */
  #sentAt = Number.NEGATIVE_INFINITY;
  /** Set until the first deploy succeeds. */
  #firstSave: (() => void) | undefined;
  /** Aborts the question that is open or may follow. */
  #question: AbortController | undefined;
  /** Keys belong to a question while one may be on the screen. */
  #isAsking = false;
  #saving: Promise<void> = Promise.resolve();
  #endLook: () => void = () => {};
  readonly #lock: SaveLock;
  /** The last save still has to be sent. */
  #isLost = false;
  #takesKeys = false;
  /** URL of the folder that file names are relative to. */
  #root = "";

  constructor(cli: CliContext, settings: SessionSettings, component: LocalComponent) {
    this.#cli = cli;
    this.#settings = settings;
    this.#saveClient = createClient(settings.client.connection.until(settings.stop.signal));
    this.#component = component;
    this.#timeline = new Timeline(cli);
    this.#lock = new SaveLock(settings.home, settings.elsewhere);
    this.#watcher = new FileWatcher(() => this.#look());
  }

  async run(): Promise<void> {
    const { stop } = this.#settings;
    let source: SourceRecord | undefined;
    while (!stop.signal.aborted && source === undefined) source = await this.#attachOrWait();
    if (source === undefined || stop.signal.aborted) return;
    const { ended } = await this.#timeline.follow(this.#settings.client, source.id, stop.signal);
    this.#greet(source);
    const port = inspectPort(this.#settings.flags.inspect);
    if (port !== undefined) await this.#debug(source, port);
    this.#takeKeys();
    this.#watcher.lookAgain(0);
    await ended;
  }

  async #debug({ id }: SourceRecord, port: number): Promise<void> {
    const { client, stop } = this.#settings;
    const show = (line: string): void => this.#timeline.print(line);
    await followDebugger(this.#cli, { follow: (...given) => client.follow.debugger(id, ...given), port, root: this.#root, signal: stop.signal, show });
  }

  async close(): Promise<void> {
    this.#lock.release();
    this.#watcher.close();
    await this.#component.dispose();
    if (this.#cli.stdin.isTTY === true) this.#cli.stdin.setRawMode(false);
    this.#cli.stdin.pause();
  }

  /** Returns the deployed source. When the first version fails, shows why and waits for a save. */
  async #attachOrWait(): Promise<SourceRecord | undefined> {
    const { stop, flags } = this.#settings;
    const read = await this.#component.read();
    if (stop.signal.aborted) return undefined;
    this.#seen = JSON.stringify(read);
    const saved = new Promise<void>((resolve) => {
      this.#firstSave = resolve;
      stop.signal.addEventListener("abort", () => resolve(), { once: true });
    });
    this.#watcher.watch(read.files);
    try {
      this.#source = await this.#attach(await this.#codeOf(read));
      this.#firstSave = undefined;
      return this.#source;
    } catch (error) {
      if (isTakenBack(error)) return undefined;
      const isHopeless = error instanceof PdError && (HOPELESS.has(error.code) || (error.code === "PD_BAD_PROPS" && !canAsk(this.#cli, flags)));
      if (isHopeless || isAction(error)) throw error;
      printError(this.#cli, error);
      printNote(this.#cli, "Waiting for file change (or ^C to quit)...");
    }
    await saved;
    return undefined;
  }

  async #codeOf(read: ReadResult): Promise<CodeParams> {
    if (read.kind === "read") this.#noteRoot(rootOf(this.#component.place, read.code.path));
    return { ...readParams(this.#settings.path, read), ...(await additionParams({ ...this.#settings.flags, import: this.#settings.flags.import ?? [] })) };
  }

  /** The debugger keeps the root that it got at the start. */
  #noteRoot(root: string): void {
    if (this.#root !== "" && this.#root !== root && this.#settings.flags.inspect !== undefined)
      printNote(this.#cli, "The folder of its files has changed: restart pd dev --inspect, so that the debugger finds them");
    this.#root = root;
  }

  async #attach(code: CodeParams): Promise<SourceRecord> {
    const { client, flags, home, env, elsewhere, props } = this.#settings;
    await makeHome(home);
    const attachments = new Attachments(home, elsewhere);
    const id = flags.dc ?? (flags.new === true ? undefined : await attachments.find(this.#component.entry));
    const before = id === undefined ? undefined : await client.sources.get(id).catch((error: unknown) => this.#unknownSource(error));
    if (before !== undefined && flags.dc !== undefined && flags.force !== true) await refuseOther(client, before, code);
    if (before !== undefined && !this.#lock.hold(before.id)) return before;
    this.#isNew = before === undefined;
    const request = { ...code, name: flags.name, env };
    const component = askedCode(client, before === undefined ? { ...code, env } : { ...code, env, source_id: before.id });
    const typed = await typedProps(component, props, flags);
    const source = await this.#sendAsking({ props: typed, component, isGuided: before === undefined }, (values) =>
      before === undefined
        ? client.sources.deploy({ ...request, configured_props: values })
        : client.sources.update(before.id, { ...request, configured_props: values }),
    );
    await attachments.keep(this.#component.entry, source.id);
    if (before === undefined) this.#lock.hold(source.id);
    return flags.promptAll === true && canAsk(this.#cli, flags) ? this.#askEvery(source) : source;
  }

  #mayTakeOver(): boolean {
    if (this.#source === undefined || this.#lock.isHeld) return true;
    if (!this.#lock.hold(this.#source.id)) return false;
    printNote(this.#cli, "The other pd dev has ended: this one saves from now on");
    return true;
  }

  /** A remembered source that was deleted is deployed again. A source named by --dc must exist. */
  #unknownSource(error: unknown): undefined {
    if (this.#settings.flags.dc !== undefined) throw error;
    if (!(error instanceof PdError && error.code === "PD_SOURCE_NOT_FOUND")) throw error;
  }

  async #askEvery(source: SourceRecord): Promise<SourceRecord> {
    const { client } = this.#settings;
    const component = askedSource(client, source);
    const answers = await this.#whileAsking((signal, asks) => {
      asks();
      return askEach(this.#cli, promptAllQuestions(source), { signal, component });
    });
    return this.#sendAsking({ props: answers, component, isGuided: false }, (props) => client.sources.update(source.id, { configured_props: props }));
  }

  #sendAsking(
    { props, component, isGuided }: { props: JsonObject; component: AskedComponent; isGuided: boolean },
    send: (props: JsonObject) => Promise<SourceRecord>,
  ): Promise<SourceRecord> {
    const spinning = (values: JsonObject): Promise<SourceRecord> => withSpinner(this.#cli, "Deploying", send(values));
    return this.#whileAsking((signal, asks) => askingForProps(this.#cli, this.#settings.flags, { props, send: spinning, signal, component, isGuided, asks }));
  }

  /** Timeline lines wait while a question may be open. A save aborts it. `ask` must call `asks` before the first question. */
  async #whileAsking<Value>(ask: (signal: AbortSignal, asks: () => void) => Promise<Value>): Promise<Value> {
    const question = new AbortController();
    this.#question = question;
    this.#timeline.hold();
    try {
      return await ask(AbortSignal.any([question.signal, this.#settings.stop.signal]), () => {
        this.#isAsking = true;
        this.#endLook();
      });
    } finally {
      this.#question = undefined;
      this.#isAsking = false;
      // Questions change the terminal's mode. After quitting it belongs to the user again.
      if (this.#takesKeys && !this.#settings.stop.signal.aborted) this.#cli.stdin.setRawMode(true).resume();
      this.#timeline.release();
    }
  }

  /** Files for the server to compile. Undefined when they must be compiled here. */
  async #uncompiled(): Promise<ReadResult | undefined> {
    const isRefused = this.#isRefused;
    this.#isRefused = false;
    if (isRefused || this.#firstSave !== undefined) return undefined;
    const read = await this.#component.readAgain();
    // The same text may mean other files now, when an import finds a new one.
    const isOld = performance.now() - this.#sentAt >= UNCOMPILED_MS;
    return isOld && JSON.stringify(read) === this.#seen ? undefined : read;
  }

  async #look(): Promise<void> {
    const uncompiled = await this.#uncompiled();
    const read = uncompiled ?? (await this.#component.read());
    const now = JSON.stringify(read);
    if (this.#settings.stop.signal.aborted || now === this.#seen || !this.#mayTakeOver()) return;
    const lookAgainAfter = this.#halfSaves.lookAgainAfter(doubtOfComponent(read), now);
    if (lookAgainAfter !== undefined) return this.#watcher.lookAgain(lookAgainAfter);
    this.#question?.abort();
    if (this.#firstSave !== undefined) return this.#firstSave();
    await this.#saving;
    this.#seen = now;
    this.#watcher.watch(read.files);
    this.#sentAt = performance.now();
    this.#watcher.lookAgain(UNCOMPILED_MS);
    this.#saving = this.#save(read, uncompiled === undefined);
    // A question may stay open for long, and a new save takes precedence.
    const asked = new Promise<void>((resolve) => (this.#endLook = resolve));
    await Promise.race([this.#saving, asked]);
  }

  /** After an error, the previous version keeps running. */
  async #save(read: ReadResult, isCompiled: boolean): Promise<void> {
    const client = this.#saveClient;
    const source = this.#source;
    if (source === undefined) return;
    try {
      const code = await this.#codeOf(read);
      const component = askedCode(client, { ...code, source_id: source.id });
      this.#source = await this.#sendAsking({ props: {}, component, isGuided: false }, (props) =>
        client.sources.update(source.id, { ...code, configured_props: props }),
      );
      this.#isLost = false;
    } catch (error) {
      if (isTakenBack(error) || this.#settings.stop.signal.aborted) return;
      if (isServerGone(error)) return this.#retryLater(error);
      if (error instanceof PdError && error.code === "PD_BUILD_FAILED" && !isCompiled) return this.#compileHere();
      printError(this.#cli, error);
      printNote(this.#cli, "Still running the previous version");
    }
  }

  /** The save may be incomplete, or import a file that was not sent. Compiling it here finds out. */
  #compileHere(): void {
    this.#isRefused = true;
    this.#seen = "";
    this.#watcher.lookAgain(0);
  }

  #retryLater(error: PdError): void {
    if (!this.#isLost) printError(this.#cli, error);
    if (!this.#isLost) printNote(this.#cli, "This save will be sent when the server answers again");
    this.#isLost = true;
    this.#seen = "";
    this.#watcher.lookAgain(RETRY_MS);
  }

  #greet(source: SourceRecord): void {
    const { stdin } = this.#cli;
    const path = relative(process.cwd(), this.#component.entry);
    if (this.#cli.isJson) return printJson(this.#cli, { ...source, saved_by_another: !this.#lock.isHeld });
    const isOthers = !this.#lock.isHeld;
    const what = isOthers ? "Watching" : this.#isNew ? "Deployed" : "Attached to";
    printLine(this.#cli, `${what} ${source.name_slug} (${source.id})${isOthers ? "" : `, watching ${path}`}`);
    if (isOthers) printNote(this.#cli, `Another pd dev saves ${path}: this one shows what happens, and saves nothing (--new deploys another one)`);
    if (source.endpoint_url !== undefined) printLine(this.#cli, `Endpoint: ${source.endpoint_url}`);
    printLine(this.#cli, `Inspector: ${pageOf(this.#settings.client, source.id)}`);
    if (stdin.isTTY === true) printLine(this.#cli, coloursFor(this.#cli.stdout, this.#cli).dim(KEY_HELP));
    printLine(this.#cli, "Ready for updates!");
  }

  #takeKeys(): void {
    const { stdin } = this.#cli;
    if (stdin.isTTY !== true) return;
    this.#takesKeys = true;
    const press = (key: string): void => {
      if (!this.#isAsking) this.#press(key).catch((error: unknown) => this.#settings.stop.signal.aborted || printError(this.#cli, error));
    };
    listenToKeys(stdin, { press, ended: () => this.#settings.stop.abort() });
  }

  async #press(key: string): Promise<void> {
    const { client, stop } = this.#settings;
    const source = this.#source;
    if (key === "q" || source === undefined) return stop.abort();
    switch (key) {
      case "r":
        return runNow(client, source);
      case "p":
        return replayLast(this.#cli, client, source);
      case "o":
        return openEndpoint(this.#cli, source);
      case "i":
        return openInspector(this.#cli, client, source);
    }
  }
}
