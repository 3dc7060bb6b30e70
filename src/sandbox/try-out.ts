import { type Outcome, describeOutcome } from "../domain/invocation.ts";
import type { CallRequest, UnitCode, UnitEvents } from "../ports/runner.ts";
import type { ChildProcess, ChildSettings } from "./child-process.ts";
import { ProcessUnit } from "./process-unit.ts";

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

/** Ends the process in any case. Rejects when it cannot run a component. */
export async function tryOut(child: ChildProcess, { clock, memoryMb, apiUrl }: Pick<ChildSettings, "clock" | "memoryMb" | "apiUrl">): Promise<void> {
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
