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
import { doubtOfFiles } from "../dev/half-saves.ts";
import { DevLoop, type Developed, type Look, RETRY_MS } from "../dev/dev-loop.ts";
import { Timeline } from "../dev/timeline.ts";
import { shownPage } from "../page-address.ts";
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
    session.close();
  }
}

class WorkflowSession implements Developed<WorkflowFolder> {
  readonly #cli: CliContext;
  readonly #settings: DevSettings;
  readonly #loop: DevLoop<WorkflowFolder>;
  readonly #timeline: Timeline;
  #workflow: WorkflowRecord | undefined;
  #sentFiles: WorkflowFolder["files"] = {};
  #told = "";
  constructor(cli: CliContext, settings: DevSettings) {
    this.#cli = cli;
    this.#settings = settings;
    this.#timeline = new Timeline(cli);
    this.#loop = new DevLoop(cli, settings, this);
  }

  async run(): Promise<void> {
    const { stop, client } = this.#settings;
    await this.#loop.untilAttached(
      () => this.#attachFirst(),
      (error) => error instanceof PdError && ["PD_SERVER_UNREACHABLE", "PD_ACCOUNT_NOT_FOUND"].includes(error.code),
    );
    const workflow = this.#workflow;
    if (workflow === undefined || stop.signal.aborted) return;
    const { ended } = await this.#timeline.follow(client, workflow.id, stop.signal);
    await this.#greet(workflow);
    await this.#debug(workflow);
    this.#loop.takeKeys((key) => this.#press(key));
    this.#loop.lookAgain(0);
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

  close(): void {
    this.#loop.close();
  }

  async #attachFirst(): Promise<void> {
    // Any file of the folder may contain the fix.
    if (this.#workflow === undefined) this.#loop.watch([join(this.#settings.path, "workflow.yaml")], [this.#settings.path]);
    try {
      await makeHome(this.#settings.home);
      const folder = await readWorkflowFolder(this.#settings.path);
      this.#loop.take(this.#lookOf(folder));
      this.#sentFiles = folder.files;
      await this.#attach(folder);
    } catch (error) {
      this.#told = messageOf(error);
      throw error;
    }
  }

  /** Only watches a folder that another session saves. */
  async #attach(folder: WorkflowFolder): Promise<void> {
    const { id } = folder;
    const { client, flags } = this.#settings;
    const before = id === undefined || flags.new === true ? undefined : await knownWorkflow(client, id);
    if (before !== undefined && !this.#loop.saveTo(before.id)) return this.#watchOnly(before);
    await this.#send(folder, flags.new);
    if (this.#workflow !== undefined) this.#loop.saveTo(this.#workflow.id);
  }

  #watchOnly(workflow: WorkflowRecord): void {
    this.#workflow = workflow;
    if (this.#cli.isJson) printJson(this.#cli, { ...workflow, saved_by_another: true });
  }

  /** The other session has already rerun its last save. If the server does not answer, the next save reports it. */
  async tookOver(): Promise<void> {
    const { client } = this.#settings;
    const workflow = this.#workflow;
    if (workflow !== undefined) this.#workflow = (await knownWorkflow(client, workflow.id).catch(() => undefined)) ?? workflow;
  }

  #lookOf(folder: WorkflowFolder): Look<WorkflowFolder> {
    const { path, files, folders } = folder;
    return {
      files: folder,
      text: textOf(folder),
      doubt: doubtOfFiles(files, this.#sentFiles),
      watched: Object.keys(files).map((name) => join(path, name)),
      folders,
    };
  }

  async #send(folder: WorkflowFolder, isNew = false): Promise<void> {
    const { client, flags, env } = this.#settings;
    // Another session may have noted another id.
    const own = { ...folder, id: this.#workflow?.id ?? folder.id };
    const sent = await sendWorkflow(this.#cli, client, { folder: own, flags, env, name: flags.name, isNew });
    const isFirst = this.#workflow === undefined;
    this.#workflow = sent.workflow;
    if (this.#cli.isJson) printJson(this.#cli, sent.workflow);
    else if (isFirst) printSent(this.#cli, sent);
    else for (const warning of sent.workflow.warnings) printNote(this.#cli, `Warning: ${warning}`);
  }

  async read(): Promise<Look<WorkflowFolder> | undefined> {
    const folder = await readWorkflowFolder(this.#settings.path).catch((error: unknown) => this.#tellOnce(error));
    if (folder === undefined) return undefined;
    this.#told = "";
    const look = this.#lookOf(folder);
    this.#loop.watch(look.watched, look.folders);
    return look;
  }

  /** A file may be missing during a save. Other problems are printed once. */
  #tellOnce(error: unknown): undefined {
    if (codeOf(error) === "ENOENT") return;
    // The fix may be outside the watched folders.
    this.#loop.lookAgain(RETRY_MS);
    if (messageOf(error) === this.#told) return;
    this.#told = messageOf(error);
    printError(this.#cli, error);
  }

  async save(folder: WorkflowFolder): Promise<void> {
    const before = this.#workflow?.version;
    this.#sentFiles = folder.files;
    if (!(await this.#loop.send(() => this.#send(folder)))) return;
    if (this.#workflow?.version !== before) await this.#goAgain().catch((error: unknown) => printError(this.#cli, error));
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

  async #greet({ id, name_slug: slug, triggers }: WorkflowRecord): Promise<void> {
    if (this.#cli.isJson) return;
    const endpoint = triggers.find(({ endpoint_url: url }) => url !== undefined)?.endpoint_url;
    const { client, path } = this.#settings;
    if (this.#loop.isSaving) printLine(this.#cli, `Watching ${path} for ${slug}`);
    else printNote(this.#cli, `Another pd dev saves ${path}: this one shows what happens, and saves nothing`);
    if (endpoint !== undefined) printLine(this.#cli, `Endpoint: ${endpoint}`);
    printLine(this.#cli, `Inspector: ${await shownPage(this.#cli, client, id)}`);
    if (this.#cli.stdin.isTTY === true) printLine(this.#cli, coloursFor(this.#cli.stdout, this.#cli).dim("r run · q quit"));
    printLine(this.#cli, "Ready for updates!");
  }

  async #press(key: string): Promise<void> {
    const { client, stop } = this.#settings;
    if (key === "q") stop.abort();
    const id = this.#workflow?.id;
    if (key === "r" && id !== undefined) await client.workflows.start(id);
  }
}

/** A deploy writes the id, which is not a change. */
function textOf({ files: { ".workflow.state": _id, ...files } }: WorkflowFolder): string {
  return JSON.stringify(files);
}
