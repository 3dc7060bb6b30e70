import { coloursFor } from "../../colours.ts";
import { createHash } from "node:crypto";
import { readdir, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import type { Client } from "../../../client/client.ts";
import type { Settings } from "../../../config.ts";
import type { CheckResult } from "../../../conformance/check-component.ts";
import { type ConformanceReport, checkFolder } from "../../../conformance/conformance.ts";
import { openPorts } from "../../../conformance/open-ports.ts";
import { checkMachine } from "../../../check-machine.ts";
import { type Finding, worstFirst } from "../../../domain/health/checkup.ts";
import { PdError, messageOf } from "../../../domain/errors.ts";
import { systemClock } from "../../../system/clock.ts";
import { streamLog } from "../../../system/log.ts";
import { packageVersion } from "../../../system/program-files.ts";
import { type CliContext, findServer } from "../../context.ts";
import { settingsOf } from "../../settings-of.ts";
import { printJson, printLine, printNote } from "../../reporter.ts";
import { type Bar, withBar, withSpinner } from "../../spinner.ts";
import { abortOnStop } from "../../stop-signals.ts";

export interface DoctorFlags {
  readonly registry?: string | undefined;
  readonly grep?: string | undefined;
  /** True: to stdout. A string: to this file. */
  readonly json?: boolean | string | undefined;
}

const SIGNS = { good: "✔", attention: "!", bad: "✖" } as const;

/** Exit code 1 when something is wrong. */
async function checkServer(cli: CliContext, isJson: boolean): Promise<number> {
  const settings = await settingsOf(cli);
  const { client, silent } = await withSpinner(cli, "Checking the server", serverOrWhy(settings));
  const serverVersion = client === undefined ? undefined : (await client.server.status()).version;
  const ofMachine = await withSpinner(cli, "Checking the machine", checkMachine(settings, serverVersion));
  const ofServer = (await client?.server.checkup()) ?? [];
  // Both check the disk and the sandbox. The server's finding counts.
  const known = new Set(ofServer.map(({ about }) => about));
  const found = worstFirst([...silent, ...ofServer, ...ofMachine.filter(({ about }) => !known.has(about))]);
  const colours = coloursFor(cli.stdout, cli);
  const paint = { good: colours.green, attention: colours.yellow, bad: colours.red };
  if (cli.isJson || isJson) printJson(cli, found);
  else
    for (const { level, about, text, fix } of found)
      printLine(cli, `${paint[level](SIGNS[level])} ${about}: ${text}${fix === undefined ? "" : `\n  ${colours.dim(fix)}`}`);
  return found.some(({ level }) => level === "bad") ? 1 : 0;
}

/** A silent server is a finding, and does not hide others. */
async function serverOrWhy(settings: Settings): Promise<{ client: Client | undefined; silent: readonly Finding[] }> {
  try {
    return { client: await findServer(settings), silent: [] };
  } catch (error) {
    if (!(error instanceof PdError)) throw error;
    return { client: undefined, silent: [{ level: "bad", about: "server", text: error.message, fix: error.fix }] };
  }
}

/** Lists the components in a folder that can be deployed here. */
export async function doctor(cli: CliContext, { registry, grep, json }: DoctorFlags): Promise<number> {
  if (registry === undefined) return checkServer(cli, json === true);
  const folder = resolve(registry);
  await readdir(folder).catch((error: unknown) => {
    throw new PdError("PD_FILE_NOT_FOUND", `Cannot read the folder ${folder}: ${messageOf(error)}`, { cause: error });
  });
  const settings = await settingsOf(cli);
  const stop = abortOnStop(cli.stdout);
  const name = createHash("sha256")
    .update(`${folder}\0${grep ?? ""}\0${await packageVersion()}`)
    .digest("hex")
    .slice(0, 16);
  await using ports = await openPorts(settings, streamLog(cli.stderr), stop.signal);
  const check = (bar: Bar): Promise<ConformanceReport> =>
    checkFolder(ports, {
      folder,
      ...(grep === undefined ? {} : { grep }),
      progressFile: join(settings.home, "conformance", `${name}.progress`),
      onResult: progressTeller(cli, { isQuiet: json === true, bar }),
      signal: stop.signal,
    });
  const report = await withBar({ ...cli, isJson: json === true }, "Checking", check);
  if (json !== true) printLeft(cli, report.left);
  if (report.total === 0 && !stop.signal.aborted)
    throw new PdError(
      "PD_FILE_NOT_FOUND",
      `Cannot check ${folder}: it has no component${grep === undefined ? "" : ` with ${JSON.stringify(grep)} in its path or key`}`,
      {
        fix: "Components are files with a key and a version, as in components/<app>/sources/…",
      },
    );
  if (stop.signal.aborted) printNote(cli, `Stopped after ${report.total}; run the same command to continue`);
  if (typeof json === "string") await writeFile(json, `${JSON.stringify(report, undefined, 2)}\n`);
  if (json === true) printJson(cli, report);
  else printReport(cli, report);
  return report.deployable === report.total && !stop.signal.aborted ? 0 : 1;
}

const TELL_EVERY_MS = 5000;

function progressTeller(cli: CliContext, { isQuiet, bar }: { isQuiet: boolean; bar: Bar }): (result: CheckResult, done: number, total: number) => void {
  const colours = coloursFor(cli.stderr, cli);
  const startedAt = systemClock.now();
  let toldAt = startedAt;
  if (!isQuiet) printNote(cli, colours.dim("Looking for components; packages are installed as needed"));
  return ({ path, failure }, done, total) => {
    if (isQuiet) return;
    if (failure !== undefined) bar.above(() => printNote(cli, `${colours.red("✖")} ${path}\n  ${failure.class}: ${failure.reason}`));
    const now = systemClock.now();
    const perSecond = done / (Math.max(1, now - startedAt) / 1000);
    const words = `${done} of ${total}, ${perSecond.toFixed(1)} a second, about ${Math.ceil((total - done) / perSecond / 60)} min left`;
    bar.tick(done, total, words);
    if (bar.isShown || now - toldAt < TELL_EVERY_MS) return;
    toldAt = now;
    printNote(cli, colours.dim(words));
  };
}

const MOST_NAMED = 10;
const REASONS: readonly (readonly [keyof ConformanceReport["left"], string])[] = [
  ["no component", "without a component"],
  ["no key", 'without a key, such as key: "my_app-my-component"'],
  ["no version", 'without a version, such as version: "0.0.1"'],
  ["too large", "larger than 1 MB"],
  ["cannot be read", "that cannot be read"],
];

function printLeft(cli: CliContext, left: ConformanceReport["left"]): void {
  for (const [reason, why] of REASONS) {
    const paths = left[reason] ?? [];
    if (paths.length === 0) continue;
    const more = paths.length > MOST_NAMED ? ` and ${paths.length - MOST_NAMED} more` : "";
    const names = reason === "no component" ? "" : `: ${paths.slice(0, MOST_NAMED).join(", ")}${more}`;
    printNote(cli, `Not checked: ${paths.length} ${paths.length === 1 ? "file" : "files"} ${why}${names}`);
  }
}

function printReport(cli: CliContext, { total, deployable, failures }: ConformanceReport): void {
  for (const [kind, count] of Object.entries(failures)) printLine(cli, `${String(count).padStart(6)}  ${kind}`);
  const share = total === 0 ? 0 : (deployable / total) * 100;
  printLine(cli, `${deployable} of ${total} components can be deployed (${share.toFixed(2)} %)`);
}
