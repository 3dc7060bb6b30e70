import { coloursFor } from "../colours.ts";
import { relative } from "node:path";
import { type Client, createClient } from "../../client/client.ts";
import type { CodeParams } from "../../api/components.ts";
import type { SourceRecord } from "../../api/sources.ts";
import { canAsk } from "../ask/can-ask.ts";
import { typedProps } from "../props/typed-props.ts";
import { askEach, askingForProps } from "../props/ask-props.ts";
import { type AskedComponent, askedCode, askedSource } from "../props/asked-component.ts";
import type { CliContext } from "../context.ts";
import { readParams } from "../code/local-code.ts";
import { additionParams } from "../code/component-target.ts";
import { printJson, printLine, printNote } from "../reporter.ts";
import { withSpinner } from "../spinner.ts";
import { makeHome } from "../../system/home/home-folder.ts";
import type { LocalComponent, ReadResult } from "../../code/local-component.ts";
import { PdError } from "../../domain/errors.ts";
import type { JsonObject } from "../../domain/text/json.ts";
import { openActionSession } from "./action-session.ts";
import { Attachments } from "../code/attachments.ts";
import { followDebugger, inspectPort, rootOf } from "./debugging.ts";
import { doubtOfComponent } from "./half-saves.ts";
import { DevLoop, type Developed, type Look } from "./dev-loop.ts";
import type { SessionSettings } from "./session-settings.ts";
import { promptAllQuestions } from "./prompt-all.ts";
import { refuseOther } from "./same-component.ts";
import { Timeline } from "./timeline.ts";
import { shownPage } from "../page-address.ts";
import { openComponent } from "./session-component.ts";
import { KEYS, KEY_HELP, openEndpoint, openInspector, replayLast, runNow } from "./key-commands.ts";

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

interface SourceFiles {
  readonly read: ReadResult;
  readonly isCompiled: boolean;
}

/** An action cannot be deployed, so it is run instead. */
function isAction(error: unknown): boolean {
  return error instanceof PdError && error.code === "PD_NOT_A_COMPONENT" && error.details?.["type"] === "action";
}

class Session implements Developed<SourceFiles> {
  readonly #cli: CliContext;
  readonly #settings: SessionSettings;
  /** Quitting aborts saves. */
  readonly #saveClient: Client;
  readonly #component: LocalComponent;
  readonly #loop: DevLoop<SourceFiles>;
  readonly #timeline: Timeline;
  #source: SourceRecord | undefined;
  #isNew = false;
  /** The server could not build a save that was not compiled here. */
  #isRefused = false;
  /** By `performance.now()`. */
  #sentAt = Number.NEGATIVE_INFINITY;
  /** Keys belong to a question while one may be on the screen. */
  #isAsking = false;
  /** URL of the folder that file names are relative to. */
  #root = "";

  constructor(cli: CliContext, settings: SessionSettings, component: LocalComponent) {
    this.#cli = cli;
    this.#settings = settings;
    this.#saveClient = createClient(settings.client.connection.until(settings.stop.signal));
    this.#component = component;
    this.#timeline = new Timeline(cli);
    this.#loop = new DevLoop(cli, settings, this);
  }

  async run(): Promise<void> {
    const { stop } = this.#settings;
    const source = await this.#loop.untilAttached(
      () => this.#attachFirst(),
      (error) => this.#isHopeless(error),
    );
    if (source === undefined || stop.signal.aborted) return;
    const { ended } = await this.#timeline.follow(this.#settings.client, source.id, stop.signal);
    await this.#greet(source);
    const port = inspectPort(this.#settings.flags.inspect);
    if (port !== undefined) await this.#debug(source, port);
    this.#loop.takeKeys(async (key) => (this.#isAsking ? undefined : this.#press(key)));
    this.#loop.lookAgain(0);
    await ended;
  }

  async #debug({ id }: SourceRecord, port: number): Promise<void> {
    const { client, stop } = this.#settings;
    const show = (line: string): void => this.#timeline.print(line);
    await followDebugger(this.#cli, { follow: (...given) => client.follow.debugger(id, ...given), port, root: this.#root, signal: stop.signal, show });
  }

  async close(): Promise<void> {
    this.#loop.close();
    await this.#component.dispose();
  }

  async #attachFirst(): Promise<SourceRecord | undefined> {
    const read = await this.#component.read();
    if (this.#settings.stop.signal.aborted) return undefined;
    this.#loop.take(this.#lookOf(read, true));
    this.#source = await this.#attach(await this.#codeOf(read));
    return this.#source;
  }

  #isHopeless(error: unknown): boolean {
    if (isAction(error)) return true;
    return error instanceof PdError && (HOPELESS.has(error.code) || (error.code === "PD_BAD_PROPS" && !canAsk(this.#cli, this.#settings.flags)));
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
    if (before !== undefined && !this.#loop.saveTo(before.id)) return before;
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
    if (before === undefined) this.#loop.saveTo(source.id);
    return flags.promptAll === true && canAsk(this.#cli, flags) ? this.#askEvery(source) : source;
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

  /** Timeline lines wait while a question may be open. */
  async #whileAsking<Value>(ask: (signal: AbortSignal, asks: () => void) => Promise<Value>): Promise<Value> {
    this.#timeline.hold();
    try {
      return await this.#loop.whileAsking((signal, asks) =>
        ask(signal, () => {
          this.#isAsking = true;
          asks();
        }),
      );
    } finally {
      this.#isAsking = false;
      this.#timeline.release();
    }
  }

  /** Files for the server to compile. Undefined when they must be compiled here. */
  async #uncompiled(): Promise<ReadResult | undefined> {
    const isRefused = this.#isRefused;
    this.#isRefused = false;
    if (isRefused || this.#loop.isFirst) return undefined;
    const read = await this.#component.readAgain();
    // The same text may mean other files now, when an import finds a new one.
    const isOld = performance.now() - this.#sentAt >= UNCOMPILED_MS;
    return isOld && JSON.stringify(read) === this.#loop.seen ? undefined : read;
  }

  async read(): Promise<Look<SourceFiles>> {
    const uncompiled = await this.#uncompiled();
    return this.#lookOf(uncompiled ?? (await this.#component.read()), uncompiled === undefined);
  }

  #lookOf(read: ReadResult, isCompiled: boolean): Look<SourceFiles> {
    return { files: { read, isCompiled }, text: JSON.stringify(read), doubt: doubtOfComponent(read), watched: read.files };
  }

  async save({ read, isCompiled }: SourceFiles): Promise<void> {
    const client = this.#saveClient;
    const source = this.#source;
    this.#sentAt = performance.now();
    this.#loop.lookAgain(UNCOMPILED_MS);
    if (source === undefined) return;
    await this.#loop.send(async () => {
      try {
        const code = await this.#codeOf(read);
        const component = askedCode(client, { ...code, source_id: source.id });
        this.#source = await this.#sendAsking({ props: {}, component, isGuided: false }, (props) =>
          client.sources.update(source.id, { ...code, configured_props: props }),
        );
      } catch (error) {
        if (!(error instanceof PdError && error.code === "PD_BUILD_FAILED") || isCompiled) throw error;
        // The save may be incomplete, or import a file that was not sent. Compiling it here finds out.
        this.#isRefused = true;
        this.#loop.sendAgain(0);
      }
    });
  }

  async #greet(source: SourceRecord): Promise<void> {
    const { stdin } = this.#cli;
    const path = relative(process.cwd(), this.#component.entry);
    if (this.#cli.isJson) return printJson(this.#cli, { ...source, saved_by_another: !this.#loop.isSaving });
    const isOthers = !this.#loop.isSaving;
    const what = isOthers ? "Watching" : this.#isNew ? "Deployed" : "Attached to";
    printLine(this.#cli, `${what} ${source.name_slug} (${source.id})${isOthers ? "" : `, watching ${path}`}`);
    if (isOthers) printNote(this.#cli, `Another pd dev saves ${path}: this one shows what happens, and saves nothing (--new deploys another one)`);
    if (source.endpoint_url !== undefined) printLine(this.#cli, `Endpoint: ${source.endpoint_url}`);
    printLine(this.#cli, `Inspector: ${await shownPage(this.#cli, this.#settings.client, source.id)}`);
    if (stdin.isTTY === true) printLine(this.#cli, coloursFor(this.#cli.stdout, this.#cli).dim(KEY_HELP));
    printLine(this.#cli, "Ready for updates!");
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
      case "h":
      case "?":
        return printNote(this.#cli, KEYS);
    }
  }
}
