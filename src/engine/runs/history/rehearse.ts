import { type DedupeCache, dedupe } from "../../../domain/event/dedupe.ts";
import { type Emit, orderEmits } from "../../../domain/event/event.ts";
import type { DeployedComponent } from "../../../domain/source/deployed-component.ts";
import { PdError } from "../../../domain/errors.ts";
import type { DataStoreRequest } from "../../../domain/source/data-store.ts";
import { invocationId } from "../../../domain/ids.ts";
import type { BadResponse, HttpResponse, LogLine, RunResult, StateChanges } from "../../../domain/run/invocation.ts";
import type { SavedComponent } from "../../../domain/component/saved-component.ts";
import type { Trigger } from "../../../domain/run/trigger.ts";
import type { RunStore } from "../../../ports/stores/run-store.ts";
import type { Unit } from "../../../ports/runner.ts";
import { refusedRun } from "../../accounts/credentials.ts";
import { answerDataStore } from "../source/data-stores.ts";
import type { LiveSource } from "../source/live-source.ts";
import { RehearsedStores } from "../source/rehearsed-stores.ts";
import type { RunPorts } from "../source/run-ports.ts";
import { rightsOf, unitCode } from "../source/source-units.ts";

export interface RehearsalPorts extends Pick<RunPorts, "runner" | "packages" | "processes" | "clock" | "settings" | "credentials" | "signal"> {
  readonly store: RunPorts["store"] & Pick<RunStore, "readState" | "readCache">;
}

/** `dropped` is the reason why dedupe would drop the emit now. */
export interface RehearsedEmit {
  readonly emit: Emit;
  readonly dropped?: string;
}

export interface Rehearsal {
  readonly version: number;
  readonly result: Pick<RunResult, "outcome" | "returned">;
  readonly durationMs: number;
  readonly emits: readonly RehearsedEmit[];
  /** Before the call: key → JSON text. */
  readonly state: Readonly<Record<string, string>>;
  readonly stateChanges: StateChanges;
  readonly response: HttpResponse | BadResponse | undefined;
  readonly logs: readonly LogLine[];
}

/**
 * Uses the current code in a separate process, on a copy of the state. Stores no event, state, data store value or
 * record. Requests to third parties are real.
 */
export async function rehearse(ports: RehearsalPorts, live: LiveSource, trigger: Trigger): Promise<Rehearsal> {
  const { clock, credentials, settings, signal, store } = ports;
  const { source, definition, component } = await steady(live);
  const [state, cache] = await Promise.all([store.readState(source.id), store.readCache(source.id)]);
  const access = await credentials.accessOrRefusal(definition.props, source.configured);
  if (access instanceof PdError) return rehearsalOf(refusedRun(access), { version: source.version, state, cache, strategy: undefined, durationMs: 0 });
  let response: HttpResponse | BadResponse | undefined;
  let unit: Unit | undefined;
  const ended = new AbortController();
  const over = AbortSignal.any([signal, live.killed]);
  const stop = (): void => {
    const reason = live.isGone ? "its source was deleted" : "the server is stopping";
    ended.abort(reason);
    unit?.kill(reason);
  };
  over.addEventListener("abort", stop);
  try {
    if (over.aborted) stop();
    unit = await startUnit(ports, live, { source, component, state, signal: ended.signal });
    const startedAt = clock.now();
    const result = await unit.call(
      {
        id: invocationId(startedAt, clock.randomText(8)),
        method: { kind: "run", trigger },
        ...access,
        dynamicProps: source.dynamicProps,
        endpoint: live.endpoint,
        deadlineMs: settings.deadlineMs,
      },
      { log: () => {}, respond: (given) => (response ??= given) },
    );
    const ground = { version: source.version, state, cache, strategy: definition.dedupe, durationMs: clock.now() - startedAt };
    return { ...rehearsalOf(result, ground), response: response ?? defaultResponse(trigger, definition, result) };
  } finally {
    over.removeEventListener("abort", stop);
    unit?.kill("the dry run is over");
  }
}

interface Steady {
  readonly source: DeployedComponent;
  readonly definition: LiveSource["definition"];
  readonly component: SavedComponent;
}

/** Code and values must belong to the same version. */
async function steady(live: LiveSource): Promise<Steady> {
  for (;;) {
    const { source, definition } = live;
    const component = await live.readComponent();
    if (live.source === source) return { source, definition, component };
  }
}

function defaultResponse({ kind }: Trigger, { props }: LiveSource["definition"], { outcome }: RunResult): HttpResponse | undefined {
  if (kind !== "http") return undefined;
  const hasFailed = outcome.kind !== "returned" && props.some((prop) => prop.kind === "http" && prop.customResponse);
  return { status: hasFailed ? 500 : 200, headers: {}, body: "", encoding: "utf8" };
}

async function startUnit(
  ports: RehearsalPorts,
  live: LiveSource,
  {
    source,
    component,
    state,
    signal,
  }: Pick<Steady, "source" | "component"> & { readonly state: Readonly<Record<string, string>>; readonly signal: AbortSignal },
): Promise<Unit> {
  const { processes, runner, packages } = ports;
  const { bundle, packagesFolder } = component;
  const stores = new RehearsedStores(ports.store, ports.clock);
  const code = { ...unitCode(packages, source, { bundle, packagesFolder, ...rightsOf(source) }), state };
  // Its process would otherwise wait for itself to end.
  const wait = processes.enter(live.hasProcess);
  if (wait !== undefined) await wait;
  let isGone = false;
  const leave = (): void => {
    if (!isGone) processes.leave();
    isGone = true;
  };
  try {
    // Work done after the call has ended does not belong to the result.
    const events = { late: () => {}, ask: (request: DataStoreRequest) => answerDataStore({ store: stores, clock: ports.clock }, request), ended: leave };
    return await runner.start(code, events, signal);
  } catch (error) {
    leave();
    throw error;
  }
}

interface Ground {
  readonly version: number;
  readonly state: Readonly<Record<string, string>>;
  readonly cache: DedupeCache;
  readonly strategy: LiveSource["definition"]["dedupe"];
  readonly durationMs: number;
}

function rehearsalOf({ outcome, returned, emits, stateChanges, logs }: RunResult, { version, state, cache, strategy, durationMs }: Ground): Rehearsal {
  const ordered = orderEmits(emits);
  const { dropped } = dedupe(strategy, cache, ordered);
  const reasons = new Map(dropped.map(({ emit, reason }) => [emit, reason]));
  return {
    version,
    result: { outcome, ...(returned === undefined ? {} : { returned }) },
    durationMs,
    emits: ordered.map((emit) => {
      const reason = reasons.get(emit);
      return reason === undefined ? { emit } : { emit, dropped: reason };
    }),
    state,
    stateChanges,
    response: undefined,
    logs,
  };
}
