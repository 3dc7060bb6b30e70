import { basename } from "node:path";
import { PdError } from "../domain/errors.ts";
import { granted } from "../domain/source/process-grant.ts";
import type { Runner, Unit, UnitCode, UnitEvents } from "../ports/runner.ts";
import { ChildProcess, type ChildSettings } from "../sandbox/process/child-process.ts";
import { type Python, setPrefix } from "./interpreter.ts";
import { ProcessUnit } from "../sandbox/process/process-unit.ts";
import { type StartTries, startUnit } from "../sandbox/process/start-unit.ts";
import { processIfWanted, whileWanted } from "../sandbox/process/wanted-load.ts";

const LOAD_DEADLINE_MS = 30_000;
const FACTS = "step.json";

export class PythonRunner implements Runner {
  readonly #settings: ChildSettings;
  readonly #stop = new AbortController();
  readonly #children = new Set<ChildProcess>();

  readonly #python: Pick<Python, "version">;

  /** `settings.interpreter` must be Python. */
  constructor(settings: ChildSettings, python: Pick<Python, "version">) {
    this.#settings = settings;
    this.#python = python;
  }

  async start(code: UnitCode, events: UnitEvents, signal?: AbortSignal): Promise<Unit> {
    this.#refuse(code);
    this.#refuseOtherPackages(code);
    const tries: StartTries = { signal, isStopping: () => this.#stop.signal.aborted, explain };
    const unit = await startUnit(() => this.#load(code, events, signal), tries);
    // The workflow file declares them.
    unit.definition = { type: "action", props: code.bundle.python?.props ?? {}, hasRun: true };
    return unit;
  }

  prepare(): void {}

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort();
    for (const child of this.#children) child.kill();
    await Promise.all([...this.#children].map((child) => child.exited));
  }

  /** Only the wall limits Python, not Node's permission model. */
  #refuse({ allowsPrograms, isCutOff }: UnitCode): void {
    if (isCutOff === true)
      throw new PdError("PD_SANDBOX_UNAVAILABLE", "Cannot do a dry run of a Python step: only JavaScript steps can get recorded answers of third parties", {
        fix: "Send a test message to the workflow: pd run <workflow>",
      });
    const { kind, reason = "" } = this.#settings.enclosure;
    if (kind === "wall" || (reason === "--sandbox belt" && allowsPrograms === true)) return;
    throw new PdError("PD_SANDBOX_UNAVAILABLE", `Cannot run a Python step: it needs the wall, which is not available (${reason})`, {
      fix: "Install bubblewrap. Or, if you trust the code with this machine, start the server with --sandbox belt and deploy with --allow-run true",
    });
  }

  #refuseOtherPackages({ packagesPath }: UnitCode): void {
    if (packagesPath === undefined || basename(packagesPath).startsWith(setPrefix(this.#python))) return;
    throw new PdError("PD_LOAD_FAILED", `Cannot run a step in Python ${this.#python.version}: its packages were installed for another Python version`, {
      fix: "Deploy the workflow again: pd deploy <folder>",
    });
  }

  async #load(code: UnitCode, events: UnitEvents, signal: AbortSignal | undefined) {
    const { clock, memoryMb, apiUrl } = this.#settings;
    const child = await processIfWanted(this.#startChild(code), signal);
    const settings = { clock, memoryMb: code.memoryMb ?? memoryMb, apiUrl, loadDeadlineMs: LOAD_DEADLINE_MS };
    return whileWanted(child, signal, () => ProcessUnit.load(child, code, { events, settings }));
  }

  async #startChild(code: UnitCode): Promise<ChildProcess> {
    if (this.#stop.signal.aborted) throw new PdError("PD_STOPPING", "Cannot start a process for a step: the server is stopping");
    const { bundle, packagesPath } = code;
    const child = await ChildProcess.start(this.#settings, { name: this.#settings.clock.randomText(10), rights: granted(code) });
    this.#children.add(child);
    void child.exited.then(() => this.#children.delete(child));
    try {
      if (packagesPath !== undefined) await child.linkPackages(packagesPath, "site");
      await child.writeModule(FACTS, JSON.stringify(factsOf(bundle)));
      await child.ready;
      return child;
    } catch (error) {
      child.kill();
      throw error;
    }
  }
}

function factsOf({ map, python }: UnitCode["bundle"]): object {
  const { sources = [] }: { sources?: readonly string[] } = JSON.parse(map);
  const { files = {}, props = {}, hasHandler = true } = python ?? {};
  const kinds = Object.entries(props).map(([name, declared]) => [
    name,
    typeof declared === "object" && declared !== null && "type" in declared ? declared["type"] : declared,
  ]);
  return { path: sources[0] ?? "entry.py", files, kinds: Object.fromEntries(kinds), hasHandler };
}

function explain(reason: string): string | undefined {
  return reason.startsWith("ModuleNotFoundError") ? "If the module's package has another name, add the line: # pipedream add-package <name>" : undefined;
}
