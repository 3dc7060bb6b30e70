import { coloursFor } from "../colours.ts";
import { createTwoFilesPatch } from "diff";
import { printActionRun } from "../action-run.ts";
import { isTakenBack } from "../ask/can-ask.ts";
import { typedProps } from "../props/typed-props.ts";
import { askingForProps } from "../props/ask-props.ts";
import { askedCode } from "../props/asked-component.ts";
import { additionParams } from "../code/component-target.ts";
import type { CliContext } from "../context.ts";
import { type LocalCode, readParams } from "../code/local-code.ts";
import { printError, printLine, printNote } from "../reporter.ts";
import { plainText } from "../terminal-text.ts";
import type { LocalComponent, ReadResult } from "../../code/local-component.ts";
import { doubtOfComponent } from "./half-saves.ts";
import { DevLoop, type Developed, type Look } from "./dev-loop.ts";
import type { ActionRunRecord } from "../../api/invocations.ts";
import type { JsonObject } from "../../domain/text/json.ts";
import { followDebugger, inspectPort, rootOf } from "./debugging.ts";
import { openComponent } from "./session-component.ts";
import type { SessionSettings } from "./session-settings.ts";

/** Each save runs the action again with the same input and shows how the result differs. */
export async function openActionSession(cli: CliContext, settings: SessionSettings): Promise<void> {
  const component = await openComponent(settings);
  const session = new ActionSession(cli, settings, component);
  try {
    await session.run();
  } finally {
    await session.close();
  }
}

class ActionSession implements Developed<ReadResult> {
  readonly #cli: CliContext;
  readonly #settings: SessionSettings;
  readonly #component: LocalComponent;
  readonly #loop: DevLoop<ReadResult>;
  /** Kept for later runs. */
  readonly #answers: JsonObject = {};
  /** Undefined until the types are known. */
  #props: JsonObject | undefined;
  #before: string | undefined;
  /** Undefined without `--inspect`. */
  #debugId: string | undefined;
  constructor(cli: CliContext, settings: SessionSettings, component: LocalComponent) {
    this.#cli = cli;
    this.#settings = settings;
    this.#component = component;
    this.#loop = new DevLoop(cli, settings, this);
  }

  async run(): Promise<void> {
    const { signal } = this.#settings.stop;
    await this.#debug();
    const first = await this.#component.read();
    if (signal.aborted) return;
    await this.#loop.save(lookOf(first));
    if (signal.aborted) return;
    printNote(
      this.#cli,
      `Each save runs the action again with the same input${this.#debugId === undefined ? "" : ", under the debugger once it is connected"} (^C ends)`,
    );
    this.#loop.lookAgain(0);
    await new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));
  }

  /** The first run waits until a debugger can attach. */
  async #debug(): Promise<void> {
    const { client, flags, path, stop } = this.#settings;
    const port = inspectPort(flags.inspect);
    if (port === undefined) return;
    const id = crypto.randomUUID();
    const read = await this.#component.read();
    if (stop.signal.aborted) return;
    const root = rootOf(this.#component.place, readParams(path, read).component_path);
    const show = (line: string): void => printLine(this.#cli, line);
    await followDebugger(this.#cli, { follow: (...given) => client.follow.actionDebugger(id, ...given), port, root, signal: stop.signal, show });
    this.#debugId = id;
  }

  async close(): Promise<void> {
    this.#loop.close();
    await this.#component.dispose();
  }

  async read(): Promise<Look<ReadResult>> {
    return lookOf(await this.#component.read());
  }

  async save(read: ReadResult): Promise<void> {
    try {
      const code = readParams(this.#settings.path, read);
      await this.#loop.whileAsking((signal, asks) => this.#runCode(code, { signal, asks }));
    } catch (error) {
      if (!isTakenBack(error)) printError(this.#cli, error);
    }
  }

  async #runCode(read: LocalCode, { signal, asks }: { signal: AbortSignal; asks: () => void }): Promise<void> {
    const { client, flags, props, env } = this.#settings;
    const code = { ...read, ...(await additionParams(flags)), env };
    const component = askedCode(client, code);
    this.#props ??= await typedProps(component, props, flags);
    const run = await askingForProps(this.#cli, flags, {
      props: this.#props,
      answers: this.#answers,
      signal,
      asks,
      component,
      isGuided: this.#before === undefined,
      send: (values) => client.actions.run({ ...code, configured_props: values, ...(this.#debugId === undefined ? {} : { debug: this.#debugId }) }),
    });
    printActionRun(this.#cli, run);
    this.#showDifference(run);
  }

  #showDifference({ exports, ret, message }: ActionRunRecord): void {
    const now = `${JSON.stringify({ exports, returned: ret, outcome: message }, undefined, 2)}\n`;
    const before = this.#before;
    this.#before = now;
    if (before === undefined || this.#cli.isJson) return;
    if (before === now) return printNote(this.#cli, "The result is the same as before");
    const colours = coloursFor(this.#cli.stdout, this.#cli);
    const paint = (line: string): string => (line.startsWith("+") ? colours.green(line) : line.startsWith("-") ? colours.red(line) : line);
    const lines = createTwoFilesPatch("before", "now", before, now, "", "", { context: 1 }).split("\n").slice(4);
    for (const line of lines.filter((text) => text !== "")) printLine(this.#cli, paint(plainText(line)));
  }
}

function lookOf(read: ReadResult): Look<ReadResult> {
  return { files: read, text: JSON.stringify(read), doubt: doubtOfComponent(read), watched: read.files };
}
