import { coloursFor } from "../colours.ts";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import type { RunRecord, WorkflowRecord } from "../../api/workflows.ts";
import type { Client } from "../../client/client.ts";
import { differenceLines, differencesOf } from "../../client/run-difference.ts";
import { PdError, codeOf, messageOf } from "../../domain/errors.ts";
import { makeHome } from "../../system/home/home-folder.ts";
import type { CliContext } from "../context.ts";
import { followDebugger, inspectPort } from "../dev/debugging.ts";
import type { DevFlags } from "../dev/session-settings.ts";
import { FileWatcher } from "../dev/file-watcher.ts";
import { HalfSaves, doubtOfFiles } from "../dev/half-saves.ts";
import { SaveLock } from "../dev/save-lock.ts";
import { RETRY_MS, isServerGone } from "../dev/server-gone.ts";
import { listenToKeys } from "../dev/key-commands.ts";
import { Timeline } from "../dev/timeline.ts";
import { printError, printJson, printLine, printNote } from "../reporter.ts";
import { plainText } from "../terminal-text.ts";
import { type StandFlags, knownWorkflow, printSent, sendWorkflow } from "./deploy-workflow.ts";
import { type WorkflowFolder, readWorkflowFolder } from "./folder.ts";
import { untilRest } from "./until-rest.ts";
import { runLine } from "./workflow-text.ts";

interface DevSettings {
  readonly client: Client;
  readonly path: string;
  readonly flags: StandFlags & Pick<DevFlags, "name" | "inspect" | "new">;
  readonly env: Record<string, string>;
  /** Contains the save locks. */
  readonly home: string;
  /** Address of a remote server, or empty. */
  readonly elsewhere: string;
  readonly stop: AbortController;
}

/** Each save updates the workflow, and reruns the last run from the first changed step. */
export async function openWorkflowSession(cli: CliContext, settings: DevSettings): Promise<void> {
  const session = new WorkflowSession(cli, settings);
  try {
    await session.run();
  } finally {
    await session.close();
  }
}

class WorkflowSession {
  readonly #cli: CliContext;
  readonly #settings: DevSettings;
  readonly #watcher: FileWatcher;
  readonly #timeline: Timeline;
  #workflow: WorkflowRecord | undefined;
  /** The folder's files at the last save, as JSON. */
  #seen = "";
  #seenFiles: WorkflowFolder["files"] = {};
  readonly #lock: SaveLock;
  readonly #halfSaves = new HalfSaves();
  #isLost = false;
  #told = "";
  /** Set until the first deploy succeeds. */
  #firstSave: (() => void) | undefined;

  constructor(cli: CliContext, settings: DevSettings) {
    this.#cli = cli;
    this.#settings = settings;
    this.#timeline = new Timeline(cli);
    this.#lock = new SaveLock(settings.home, settings.elsewhere);
    this.#watcher = new FileWatcher(() => this.#look());
  }

  async run(): Promise<void> {
    const { stop, client } = this.#settings;
    while (!stop.signal.aborted && this.#workflow === undefined) await this.#attachOrWait();
    const workflow = this.#workflow;
    if (workflow === undefined || stop.signal.aborted) return;
    const { ended } = await this.#timeline.follow(client, workflow.id, stop.signal);
    this.#greet(workflow);
    await this.#debug(workflow);
    this.#takeKeys();
    this.#watcher.lookAgain(0);
    await ended;
  }

  async #debug({ id }: WorkflowRecord): Promise<void> {
    const { client, flags, path, stop } = this.#settings;
    const port = inspectPort(flags.inspect);
    if (port === undefined) return;
    const show = (line: string): void => this.#timeline.print(line);
    const root = pathToFileURL(`${resolve(path)}/`).href;
    await followDebugger(this.#cli, { follow: (...given) => client.follow.debugger(id, ...given), port, root, signal: stop.signal, show });
  }

  async close(): Promise<void> {
    this.#lock.release();
    this.#watcher.close();
    if (this.#cli.stdin.isTTY === true) this.#cli.stdin.setRawMode(false);
    this.#cli.stdin.pause();
  }

  async #attachOrWait(): Promise<void> {
    const { stop } = this.#settings;
    const saved = new Promise<void>((resolve) => {
      this.#firstSave = resolve;
      stop.signal.addEventListener("abort", () => resolve(), { once: true });
    });
    // Any file of the folder may contain the fix.
    if (this.#workflow === undefined) this.#watcher.watch([join(this.#settings.path, "workflow.yaml")], [this.#settings.path]);
    try {
      await makeHome(this.#settings.home);
      await this.#attach(this.#take(await readWorkflowFolder(this.#settings.path)));
      this.#firstSave = undefined;
      return;
    } catch (error) {
      if (error instanceof PdError && ["PD_SERVER_UNREACHABLE", "PD_ACCOUNT_NOT_FOUND"].includes(error.code)) throw error;
      printError(this.#cli, error);
      this.#told = messageOf(error);
      printNote(this.#cli, "Waiting for file change (or ^C to quit)...");
    }
    await saved;
  }

  /** Only watches a folder that another session saves. */
  async #attach(folder: WorkflowFolder): Promise<void> {
    const { id } = folder;
    const { client, flags } = this.#settings;
    const before = id === undefined || flags.new === true ? undefined : await knownWorkflow(client, id);
    if (before !== undefined && !this.#lock.hold(before.id)) return this.#watchOnly(before);
    await this.#send(folder, flags.new);
    if (this.#workflow !== undefined) this.#lock.hold(this.#workflow.id);
  }

  #watchOnly(workflow: WorkflowRecord): void {
    this.#workflow = workflow;
    if (this.#cli.isJson) printJson(this.#cli, { ...workflow, saved_by_another: true });
  }

  async #mayTakeOver(): Promise<boolean> {
    const workflow = this.#workflow;
    if (workflow === undefined || this.#lock.isHeld) return true;
    if (!this.#lock.hold(workflow.id)) return false;
    printNote(this.#cli, "The other pd dev has ended: this one saves from now on");
    // The other session has already rerun its last save. If the server does not answer, the next save reports it.
    this.#workflow = (await knownWorkflow(this.#settings.client, workflow.id).catch(() => undefined)) ?? workflow;
    return true;
  }

  #take(folder: WorkflowFolder): WorkflowFolder {
    this.#watch(folder);
    this.#seen = textOf(folder);
    this.#seenFiles = folder.files;
    return folder;
  }

  #watch({ path, files, folders }: WorkflowFolder): void {
    this.#watcher.watch(
      Object.keys(files).map((name) => join(path, name)),
      folders,
    );
  }

  async #send(folder: WorkflowFolder, isNew = false): Promise<void> {
    const { client, flags, env } = this.#settings;
    // Another session may have noted another id.
    const own = { ...folder, id: this.#workflow?.id ?? folder.id };
    const sent = await sendWorkflow(this.#cli, client, { folder: own, flags, env, name: flags.name, isNew });
    const isFirst = this.#workflow === undefined;
    this.#workflow = sent.workflow;
    this.#isLost = false;
    if (this.#cli.isJson) printJson(this.#cli, sent.workflow);
    else if (isFirst) printSent(this.#cli, sent);
    else for (const warning of sent.workflow.warnings) printNote(this.#cli, `Warning: ${warning}`);
  }

  async #look(): Promise<void> {
    const { path } = this.#settings;
    const folder = await readWorkflowFolder(path).catch((error: unknown) => this.#tellOnce(error));
    if (folder === undefined) return;
    this.#told = "";
    this.#watch(folder);
    if (textOf(folder) === this.#seen || !(await this.#mayTakeOver())) return;
    const lookAgainAfter = this.#halfSaves.lookAgainAfter(doubtOfFiles(folder.files, this.#seenFiles), textOf(folder));
    if (lookAgainAfter !== undefined) return this.#watcher.lookAgain(lookAgainAfter);
    if (this.#firstSave !== undefined) return this.#firstSave();
    await this.#save(folder);
  }

  /** A file may be missing during a save. Other problems are printed once. */
  #tellOnce(error: unknown): undefined {
    if (codeOf(error) === "ENOENT") return;
    // The fix may be outside the watched folders.
    this.#watcher.lookAgain(RETRY_MS);
    if (messageOf(error) === this.#told) return;
    this.#told = messageOf(error);
    printError(this.#cli, error);
  }

  /** After an error, the previous version keeps running. */
  async #save(folder: WorkflowFolder): Promise<void> {
    const before = this.#workflow?.version;
    try {
      await this.#send(this.#take(folder));
    } catch (error) {
      if (isServerGone(error)) return this.#retryLater(error);
      printError(this.#cli, error);
      return printNote(this.#cli, "Still running the previous version");
    }
    if (this.#workflow?.version !== before) await this.#goAgain().catch((error: unknown) => printError(this.#cli, error));
  }

  #retryLater(error: PdError): void {
    if (!this.#isLost) printError(this.#cli, error);
    if (!this.#isLost) printNote(this.#cli, "This save will be sent when the server answers again");
    this.#isLost = true;
    this.#seen = "";
    this.#watcher.lookAgain(RETRY_MS);
  }

  async #goAgain(): Promise<void> {
    const { client, stop } = this.#settings;
    const [last] = this.#workflow === undefined ? [] : await client.workflows.runs(this.#workflow.id, { limit: 1 });
    if (last === undefined) return printNote(this.#cli, "No run yet that could be repeated: start one with pd run, or press r");
    const again = await untilRest(client, await client.workflows.rerun(last.id, { from_changed: true }), stop.signal);
    await this.#showDifference(last, again);
  }

  async #showDifference(last: RunRecord, again: RunRecord): Promise<void> {
    const { client } = this.#settings;
    const differences = differencesOf(await client.workflows.steps(last.id), await client.workflows.steps(again.id));
    if (this.#cli.isJson)
      return printJson(this.#cli, { run: again, before: last.id, differences: differences.map(({ namespace, path, kind }) => ({ namespace, path, kind })) });
    printLine(this.#cli, runLine(again));
    const colours = coloursFor(this.#cli.stdout, this.#cli);
    for (const line of differences.flatMap(differenceLines).map(plainText))
      printLine(this.#cli, `  ${line.startsWith("+") ? colours.green(line) : line.startsWith("-") ? colours.red(line) : colours.dim(line)}`);
  }

  #greet({ name_slug: slug, triggers }: WorkflowRecord): void {
    if (this.#cli.isJson) return;
    const endpoint = triggers.find(({ endpoint_url: url }) => url !== undefined)?.endpoint_url;
    const { path } = this.#settings;
    if (this.#lock.isHeld) printLine(this.#cli, `Watching ${path} for ${slug}`);
    else printNote(this.#cli, `Another pd dev saves ${path}: this one shows what happens, and saves nothing`);
    if (endpoint !== undefined) printLine(this.#cli, `Endpoint: ${endpoint}`);
    if (this.#cli.stdin.isTTY === true) printLine(this.#cli, coloursFor(this.#cli.stdout, this.#cli).dim("r run · q quit"));
    printLine(this.#cli, "Ready for updates!");
  }

  #takeKeys(): void {
    const { stdin } = this.#cli;
    const { client, stop } = this.#settings;
    if (stdin.isTTY !== true) return;
    const press = (key: string): void => {
      if (key === "q") stop.abort();
      const id = this.#workflow?.id;
      if (key === "r" && id !== undefined) client.workflows.start(id).catch((error: unknown) => printError(this.#cli, error));
    };
    listenToKeys(stdin, { press, ended: () => stop.abort() });
  }
}

/** A deploy writes the id, which is not a change. */
function textOf({ files: { ".workflow.state": _id, ...files } }: WorkflowFolder): string {
  return JSON.stringify(files);
}
