import { appendFile, mkdir, rm } from "node:fs/promises";
import { availableParallelism } from "node:os";
import { dirname } from "node:path";
import { isRecord, parseJson } from "../domain/text/json.ts";
import { ComponentFolder, type NoComponent } from "../registry/component-folder.ts";
import { type CheckPorts, type CheckResult, checkComponent } from "./check-component.ts";
import { readIfThere } from "../system/home/whole-files.ts";

export interface ConformanceSettings {
  readonly folder: string;
  /** Text in the path or key. */
  readonly grep?: string;
  /** Results of an aborted check. Deleted after a complete one. */
  readonly progressFile: string;
  readonly onResult: (result: CheckResult, done: number, total: number) => void;
  readonly signal: AbortSignal;
}

export interface ConformanceReport {
  readonly folder: string;
  readonly total: number;
  readonly deployable: number;
  /** The highest count first. */
  readonly failures: Readonly<Record<string, number>>;
  readonly results: readonly CheckResult[];
  readonly left: Readonly<Partial<Record<NoComponent, readonly string[]>>>;
}

/** Chosen: workers spend time waiting for their processes. */
const EXTRA_WORKERS = 1;

/** Resumes an aborted check from the progress file. */
export async function checkFolder(ports: CheckPorts, settings: ConformanceSettings): Promise<ConformanceReport> {
  const { folder, grep = "", progressFile, signal } = settings;
  const files = new ComponentFolder(folder);
  const components = (await files.list()).filter(({ path, key }) => path.includes(grep) || key.includes(grep));
  const left = [...files.left].map(([reason, paths]) => [reason, paths.filter((path) => path.includes(grep))] as const);
  await mkdir(dirname(progressFile), { recursive: true });
  const done = await readProgress(progressFile);
  const results = new Map<string, CheckResult>();
  const waiting = components.values();
  const work = async (): Promise<void> => {
    for (const { path, key, type, version } of waiting) {
      if (signal.aborted) return;
      const known = done.get(`${path} ${version}`);
      const startedAt = ports.clock.now();
      const failure = known === undefined ? await checkComponent(ports, folder, path) : known.failure;
      const result = known ?? { path, key, type, version, durationMs: ports.clock.now() - startedAt, ...(failure === undefined ? {} : { failure }) };
      if (signal.aborted && known === undefined) return;
      if (known === undefined) await appendFile(progressFile, `${JSON.stringify(result)}\n`);
      results.set(path, result);
      settings.onResult(result, results.size, components.length);
    }
  };
  await Promise.all(Array.from({ length: availableParallelism() + EXTRA_WORKERS }, work));
  if (!signal.aborted) await rm(progressFile, { force: true });
  const report = reportOf(
    folder,
    components.flatMap(({ path }) => results.get(path) ?? []),
  );
  return { ...report, left: Object.fromEntries(left.filter(([, paths]) => paths.length > 0)) };
}

async function readProgress(file: string): Promise<ReadonlyMap<string, CheckResult>> {
  const lines = ((await readIfThere(file)) ?? "").split("\n").filter((line) => line !== "");
  const results = lines.map((line): unknown => parseJson(line)).filter(isResult);
  return new Map(results.map((result) => [`${result.path} ${result.version}`, result]));
}

/** False for a truncated last line, whose component is checked again. */
function isResult(value: unknown): value is CheckResult {
  return isRecord(value) && typeof value["path"] === "string" && typeof value["durationMs"] === "number";
}

function reportOf(folder: string, results: readonly CheckResult[]): Omit<ConformanceReport, "left"> {
  const failures: Record<string, number> = {};
  for (const { failure } of results) if (failure !== undefined) failures[failure.class] = (failures[failure.class] ?? 0) + 1;
  const sorted = Object.fromEntries(Object.entries(failures).toSorted(([, a], [, b]) => b - a));
  return { folder, total: results.length, deployable: results.filter(({ failure }) => failure === undefined).length, failures: sorted, results };
}
