import type { Meter } from "../../ports/meter.ts";

export interface Totals {
  readonly runs: number;
  readonly failed: number;
  readonly events: number;
  readonly dropped: number;
  readonly attempts: number;
  readonly delivered: number;
}

type Run = Parameters<Meter["ran"]>[0];
type Attempt = Parameters<Meter["attempted"]>[0];
type WorkflowRun = Parameters<Meter["workflowRan"]>[0];

interface Watched {
  readonly sources: () => number;
  readonly processes: () => number;
  /** False for what is deleted, and for the triggers of workflows. */
  readonly isCounted: (scope: string) => boolean;
}

interface Scope {
  runs: number;
  failures: number;
  seconds: number;
  events: number;
  delivered: number;
  undelivered: number;
}

/** In the Prometheus text format. The library for process metrics is loaded late. */
export class Metrics implements Meter {
  /** Trigger → outcome → count. */
  readonly #runs = new Map<string, Map<string, number>>();
  /** By the id of a source or workflow. */
  readonly #scopes = new Map<string, Scope>();
  readonly #attempts = new Map<string, number>();
  readonly #runSeconds = new Histogram();
  readonly #attemptSeconds = new Histogram();
  readonly #gauges: Gauge[] = [];
  readonly #refused = new Map<string, number>();
  #events = 0;
  #dropped = 0;
  #isCounted = (_scope: string): boolean => true;

  watch({ sources, processes, isCounted }: Watched): void {
    this.#isCounted = isCounted;
    this.#gauges.push({ name: "headwater_sources", help: "Deployed sources", read: sources });
    this.#gauges.push({ name: "headwater_processes", help: "Processes of sources", read: processes });
  }

  ran({ scope, trigger, outcome, durationMs, events, dropped }: Run): void {
    let outcomes = this.#runs.get(trigger);
    if (outcomes === undefined) this.#runs.set(trigger, (outcomes = new Map()));
    outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1);
    this.#runSeconds.observe(durationMs / 1000);
    this.#events += events;
    this.#dropped += dropped;
    const own = this.#scopeOf(scope);
    own.events += events;
    // A workflow counts its runs, not its steps.
    if (trigger !== "step") addRun(own, outcome !== "returned", durationMs);
  }

  workflowRan({ scope, state, durationMs }: WorkflowRun): void {
    if (state !== "cancelled") addRun(this.#scopeOf(scope), state === "failed", durationMs);
  }

  attempted({ scope, verdict, durationMs }: Attempt): void {
    this.#attempts.set(verdict, (this.#attempts.get(verdict) ?? 0) + 1);
    this.#attemptSeconds.observe(durationMs / 1000);
    if (verdict === "delivered") this.#scopeOf(scope).delivered++;
    else if (verdict !== "retry") this.#scopeOf(scope).undelivered++;
  }

  refused(status: string): void {
    this.#refused.set(status, (this.#refused.get(status) ?? 0) + 1);
  }

  totals(): Totals {
    const runs = this.#countedRuns();
    const attempts = [...this.#attempts];
    return {
      runs: sum(runs.map(({ count }) => count)),
      failed: sum(runs.filter(({ outcome }) => outcome !== "returned").map(({ count }) => count)),
      events: this.#events,
      dropped: this.#dropped,
      attempts: sum(attempts.map(([, count]) => count)),
      delivered: this.#attempts.get("delivered") ?? 0,
    };
  }

  async text(): Promise<string> {
    const { processFigures } = await import("./process-figures.ts");
    const runs = this.#countedRuns().map(({ trigger, outcome, count }) => line("headwater_invocations_total", { trigger, outcome }, count));
    const attempts = [...this.#attempts].map(([verdict, count]) => line("headwater_delivery_attempts_total", { verdict }, count));
    const refused = [...this.#refused].map(([status, count]) => line("headwater_requests_refused_total", { status }, count));
    const own = [
      figure("headwater_invocations_total", "Calls of run and of hooks", { kind: "counter", lines: runs }),
      this.#runSeconds.figure("headwater_invocation_seconds", "Duration of these calls"),
      counter("headwater_events_total", "Stored events", this.#events),
      counter("headwater_emits_dropped_total", "Emits that dedupe dropped", this.#dropped),
      figure("headwater_delivery_attempts_total", "Delivery attempts", { kind: "counter", lines: attempts }),
      this.#attemptSeconds.figure("headwater_delivery_seconds", "Duration of these attempts"),
      figure("headwater_requests_refused_total", "Requests that could not be read", { kind: "counter", lines: refused }),
      ...this.#scopeFigures(),
      ...this.#gauges.map(({ name, help, read }) => figure(name, help, { kind: "gauge", lines: [line(name, {}, read())] })),
    ];
    return `${own.join("\n")}\n${await processFigures()}`;
  }

  #scopeOf(id: string): Scope {
    let scope = this.#scopes.get(id);
    if (scope === undefined) this.#scopes.set(id, (scope = { runs: 0, failures: 0, seconds: 0, events: 0, delivered: 0, undelivered: 0 }));
    return scope;
  }

  #scopeFigures(): string[] {
    for (const id of this.#scopes.keys()) if (!this.#isCounted(id)) this.#scopes.delete(id);
    const lines = (name: string, read: (scope: Scope) => number): string[] => [...this.#scopes].map(([source, scope]) => line(name, { source }, read(scope)));
    return SCOPE_FIGURES.map(({ name, help, read }) => figure(name, help, { kind: "counter", lines: lines(name, read) }));
  }

  #countedRuns(): { trigger: string; outcome: string; count: number }[] {
    return [...this.#runs].flatMap(([trigger, outcomes]) => [...outcomes].map(([outcome, count]) => ({ trigger, outcome, count })));
  }
}

const SCOPE_FIGURES: readonly { readonly name: string; readonly help: string; readonly read: (scope: Scope) => number }[] = [
  { name: "headwater_source_runs_total", help: "Runs of a source or workflow", read: ({ runs }) => runs },
  { name: "headwater_source_failed_runs_total", help: "Those that did not succeed", read: ({ failures }) => failures },
  { name: "headwater_source_run_seconds_total", help: "Sum of their durations", read: ({ seconds }) => seconds },
  { name: "headwater_source_events_total", help: "Events of a source or workflow", read: ({ events }) => events },
  { name: "headwater_source_delivered_total", help: "Deliveries of these events", read: ({ delivered }) => delivered },
  { name: "headwater_source_undelivered_total", help: "Deliveries that were given up", read: ({ undelivered }) => undelivered },
];

function addRun(scope: Scope, hasFailed: boolean, durationMs: number): void {
  scope.runs++;
  scope.seconds += durationMs / 1000;
  if (hasFailed) scope.failures++;
}

interface Gauge {
  readonly name: string;
  readonly help: string;
  readonly read: () => number;
}

/** Upper bounds in seconds. */
const BUCKETS = [0.005, 0.025, 0.1, 0.5, 2, 10, 60, 300];

class Histogram {
  /** Not cumulative. The last one is above the largest bound. */
  readonly #counts = Array.from({ length: BUCKETS.length + 1 }, () => 0);
  #sum = 0;

  observe(seconds: number): void {
    const place = BUCKETS.findIndex((most) => seconds <= most);
    const index = place < 0 ? BUCKETS.length : place;
    this.#counts[index] = (this.#counts[index] ?? 0) + 1;
    this.#sum += seconds;
  }

  figure(name: string, help: string): string {
    let count = 0;
    const lines = this.#counts.map((own, index) => line(`${name}_bucket`, { le: String(BUCKETS[index] ?? "+Inf") }, (count += own)));
    return figure(name, help, { kind: "histogram", lines: [...lines, line(`${name}_sum`, {}, this.#sum), line(`${name}_count`, {}, count)] });
  }
}

function counter(name: string, help: string, value: number): string {
  return figure(name, help, { kind: "counter", lines: [line(name, {}, value)] });
}

function figure(name: string, help: string, { kind, lines }: { kind: "counter" | "gauge" | "histogram"; lines: readonly string[] }): string {
  return [`# HELP ${name} ${help}`, `# TYPE ${name} ${kind}`, ...lines, ""].join("\n");
}

/** Label values must need no escaping. */
function line(name: string, labels: Readonly<Record<string, string>>, value: number): string {
  const told = Object.entries(labels).map(([label, text]) => `${label}="${text}"`);
  return `${name}${told.length === 0 ? "" : `{${told.join(",")}}`} ${value}`;
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}
