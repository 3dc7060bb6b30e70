import { join } from "node:path";
import { messageOf } from "../../domain/errors.ts";
import { type ChildProcess, type ChildSettings, EndedAtStart } from "../process/child-process.ts";
import { type ChildRights, commonFlags, inheritedEnv } from "../process/node-flags.ts";
import { type Outcome, describeOutcome } from "../../domain/run/invocation.ts";
import type { CallRequest, UnitCode, UnitEvents } from "../../ports/runner.ts";
import { ProcessUnit } from "../process/process-unit.ts";

interface Making {
  readonly afterMs: number;
  readonly signal: AbortSignal;
  readonly startChild: (rights: ChildRights) => Promise<ChildProcess>;
  /** New processes now start from the snapshot. */
  readonly onMade: () => Promise<void>;
}

/**
 * A start-up snapshot halves the start time of processes. It is made after the server's start and tested before use. Until
 * then, and after a failure, processes start without one.
 */
export class QuickStart {
  readonly #settings: ChildSettings;
  readonly #startChild: Making["startChild"];
  /** Undefined while no snapshot is usable. */
  #snapshot: string | undefined;
  /** The snapshot is in use or has failed. */
  readonly whenTried: Promise<void>;

  constructor(settings: ChildSettings, making: Making) {
    this.#settings = settings;
    this.#startChild = making.startChild;
    this.whenTried = this.#make(making);
  }

  /** Without special rights. Drops the snapshot when a process fails to start from it. */
  start(): Promise<ChildProcess> {
    const snapshot = this.#snapshot;
    const child = this.#startChild({ snapshot });
    if (snapshot === undefined) return child;
    return child.then((started) => {
      started.ready.catch((error: unknown) => {
        if (error instanceof EndedAtStart && error.isOwnDoing && this.#snapshot === snapshot) this.#goWithout(error);
      });
      return started;
    });
  }

  async #make({ afterMs, signal, onMade }: Making): Promise<void> {
    const { clock, entry, runFolder } = this.#settings;
    await clock.sleepUntil(clock.now() + afterMs, signal);
    const path = join(runFolder, clock.randomText(10), "child.blob");
    try {
      signal.throwIfAborted();
      // Imported late to keep the server's start short.
      const { makeSnapshot } = await import("./startup-snapshot.ts");
      await makeSnapshot({ entry, flags: commonFlags(this.#settings), env: inheritedEnv(), path, signal });
      await tryOut(await this.#startChild({ snapshot: path }), this.#settings);
      this.#snapshot = path;
      await onMade();
    } catch (error) {
      if (!signal.aborted) this.#goWithout(error);
    }
  }

  #goWithout(error: unknown): void {
    this.#snapshot = undefined;
    this.#settings.log.warn("component processes take twice as long to start without a snapshot", { reason: messageOf(error) });
  }
}

const DEADLINE_MS = 30_000;

/** The codes of Node's errors are strings. In a broken snapshot they expose Node's internals. */
const TRIAL = `export default { name: "trial", version: "1", run() {
  try { Buffer.from(5); } catch ({ code }) { if (code === "ERR_INVALID_ARG_TYPE") return; }
  throw new Error("errors of Node have no codes");
} };`;

const CODE: UnitCode = {
  bundle: { code: TRIAL, map: '{"version":3,"sources":[],"mappings":""}', packages: [], imports: [] },
  env: {},
  state: {},
};
const CALL: CallRequest = {
  id: "inv_0",
  method: { kind: "run", trigger: { kind: "manual", event: {} } },
  configured: {},
  dataStores: [],
  secrets: [],
  endpoint: "",
  deadlineMs: DEADLINE_MS,
};
const NO_EVENTS: UnitEvents = { late: () => {}, ended: () => {} };

/** Always ends the process. Rejects when it cannot run a component. */
async function tryOut(child: ChildProcess, { clock, memoryMb, apiUrl }: Pick<ChildSettings, "clock" | "memoryMb" | "apiUrl">): Promise<void> {
  const over = new AbortController();
  void clock.sleepUntil(clock.now() + DEADLINE_MS, over.signal).then(() => child.kill());
  try {
    await child.ready;
    const unit = await ProcessUnit.load(child, CODE, { events: NO_EVENTS, settings: { clock, memoryMb, apiUrl, loadDeadlineMs: DEADLINE_MS } });
    if (!("definition" in unit)) throw hasFailed(unit.outcome);
    const { outcome } = await unit.call(CALL, { log: () => {}, respond: () => {} });
    if (outcome.kind !== "returned") throw hasFailed(outcome);
  } finally {
    over.abort();
    child.kill();
  }
}

function hasFailed(outcome: Outcome): Error {
  return new Error(`a test process failed to run a component: ${describeOutcome(outcome)}`);
}
