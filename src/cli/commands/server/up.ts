import { coloursFor } from "../../colours.ts";
import { once } from "node:events";
import type { Settings } from "../../../config.ts";
import { PdError, messageOf } from "../../../domain/errors.ts";
import type { DeployedId } from "../../../domain/ids.ts";
import { type Runtime, startRuntime } from "../../../runtime.ts";
import { closeInheritedFiles } from "../../../system/process/inherited-files.ts";
import { streamLog } from "../../../system/log.ts";
import { AFTER_START_MS, collectWhenQuiet } from "../../../system/process/quiet-heap.ts";
import { TerminalWriter } from "../../../system/process/terminal-writer.ts";
import type { CliContext } from "../../context.ts";
import { settingsOf } from "../../settings-of.ts";
import { fields, printJson, printLine, printNote } from "../../reporter.ts";
import { RunLines } from "../../run-lines.ts";
import { forTerminal } from "../../terminal-text.ts";
import { abortOnStop } from "../../stop-signals.ts";

export async function up(cli: CliContext, { detach }: { detach?: boolean | undefined }): Promise<number> {
  const settings = await settingsOf(cli);
  if (detach === true) {
    const { findServer, startInBackground, tellUnusedSettings } = await import("../../context.ts");
    const running = await findServer(settings);
    const client = running ?? (await startInBackground(cli, settings));
    if (cli.isJson) printJson(cli, { api_url: client.connection.baseUrl, home: settings.home, already_running: running !== undefined });
    else printNote(cli, `${running === undefined ? "Started" : "Already running"} at ${client.connection.baseUrl}; pd down stops it`);
    if (running !== undefined) tellUnusedSettings(cli);
    return 0;
  }
  return runServer(cli, settings, { isShared: false });
}

/** Without a named key, listens only on this machine. */
export async function serve(cli: CliContext): Promise<number> {
  return runServer(cli, await settingsOf(cli), { isShared: true });
}

async function runServer(cli: CliContext, settings: Settings, { isShared }: { isShared: boolean }): Promise<number> {
  closeInheritedFiles();
  const stop = abortOnStop();
  const [out, err] = [outputOf(cli.stdout), outputOf(cli.stderr)];
  const log = streamLog(err);
  // Last resort: the server keeps running.
  process.on("unhandledRejection", (reason) =>
    log.error("unhandled rejection", {
      reason: messageOf(reason),
      at: reason instanceof Error ? reason.stack?.split("\n")[1]?.trim() : undefined,
    }),
  );
  if (settings.advertise !== "") return runNode(cli, settings, { isShared, log, stop: stop.signal });
  const runtime = await startRuntime(settings, log, { isShared });
  collectWhenQuiet({ firstLookMs: AFTER_START_MS });
  tellAddresses(cli, { api_url: runtime.apiUrl, endpoint_url: runtime.endpointUrl, home: settings.home }, await pageOf(cli, runtime));
  if (!cli.isJson && cli.stdout.isTTY === true) tellRuns(cli, runtime, out);
  if (!stop.signal.aborted) await once(stop.signal, "abort");
  err.write("Stopping: runs in flight may finish\n");
  await runtime[Symbol.asyncDispose]();
  return 0;
}

interface NodeRun {
  readonly isShared: boolean;
  readonly log: ReturnType<typeof streamLog>;
  readonly stop: AbortSignal;
}

async function runNode(cli: CliContext, settings: Settings, { isShared, log, stop }: NodeRun): Promise<number> {
  const { startNode } = await import("../../../cluster-node.ts");
  const node = await startNode(settings, log, { isShared });
  collectWhenQuiet({ firstLookMs: AFTER_START_MS });
  tellAddresses(cli, { api_url: node.apiUrl, endpoint_url: node.endpointUrl, home: settings.home, node: node.id });
  const over = AbortSignal.any([stop, node.failed]);
  if (!over.aborted) await once(over, "abort");
  cli.stderr.write("Stopping: runs in flight may finish\n");
  await node[Symbol.asyncDispose]();
  if (node.failed.aborted) throw node.failed.reason;
  return 0;
}

interface Addresses {
  readonly api_url: string;
  readonly endpoint_url: string;
  readonly home: string;
  readonly node?: string;
}

/** A terminal gets a link that signs in. */
async function pageOf(cli: CliContext, runtime: Runtime): Promise<string> {
  if (cli.isJson || cli.stdout.isTTY !== true) return `${runtime.apiUrl}/ (pd open)`;
  const [{ hostedClient }, { shownPage }] = await Promise.all([import("../../hosted-client.ts"), import("../../page-address.ts")]);
  return shownPage(cli, hostedClient(runtime));
}

function tellAddresses(cli: CliContext, shown: Addresses, page = `${shown.api_url}/ (pd open)`): void {
  if (cli.isJson) printJson(cli, { ...shown });
  else
    printLine(
      cli,
      fields([
        ["Page", page],
        ["API", shown.api_url],
        ["Endpoints", `${shown.endpoint_url}/<key>`],
        ["Home", shown.home],
        ["Node", shown.node],
      ]),
    );
}

interface Output {
  write(text: string): unknown;
}

/** A stopped terminal, as after Ctrl-S, must not block the server. */
function outputOf(stream: NodeJS.WriteStream): Output {
  return stream.isTTY === true && "fd" in stream && typeof stream.fd === "number" ? new TerminalWriter(stream.fd) : stream;
}

function tellRuns(cli: CliContext, { engine }: Runtime, out: Output): void {
  printNote(cli, "Stop it with Ctrl-C; its runs are shown below");
  const print = (line: string): void => void out.write(`${forTerminal(line)}\n`);
  const lines = new RunLines({ print, colours: coloursFor(cli.stdout, cli) });
  engine.feed.watchAll((id, observation) => {
    if (observation.kind === "ended") lines.add(observation, () => nameOf(engine, id));
  });
}

/** A deleted source or workflow has only its id. */
function nameOf(engine: Runtime["engine"], id: DeployedId): string {
  try {
    return engine.deployed.find(id, "name").slug;
  } catch (error) {
    if (!(error instanceof PdError) || error.code !== "PD_SOURCE_NOT_FOUND") throw error;
    return id;
  }
}
