import { Counter, Gauge, Histogram, Registry, collectDefaultMetrics } from "prom-client";
import type { Meter } from "../ports/meter.ts";

/** Seconds: from an instant run to the longest deadline. */
const BUCKETS = [0.005, 0.025, 0.1, 0.5, 2, 10, 60, 300];

/** What has happened since the server began. */
export interface Totals {
  readonly runs: number;
  readonly failed: number;
  readonly events: number;
  readonly dropped: number;
  readonly attempts: number;
  readonly delivered: number;
}

/** Figures in the text format of Prometheus. */
export class Metrics implements Meter {
  readonly #registry = new Registry();
  readonly #runs = new Counter({
    name: "headwater_invocations_total",
    help: "Calls of run and of hooks",
    labelNames: ["trigger", "outcome"],
    registers: [this.#registry],
  });
  readonly #runSeconds = new Histogram({ name: "headwater_invocation_seconds", help: "How long they took", buckets: BUCKETS, registers: [this.#registry] });
  readonly #events = new Counter({ name: "headwater_events_total", help: "Events that were kept", registers: [this.#registry] });
  readonly #dropped = new Counter({ name: "headwater_emits_dropped_total", help: "Emits that dedupe dropped", registers: [this.#registry] });
  readonly #attempts = new Counter({
    name: "headwater_delivery_attempts_total",
    help: "Attempts to deliver",
    labelNames: ["verdict"],
    registers: [this.#registry],
  });
  readonly #attemptSeconds = new Histogram({ name: "headwater_delivery_seconds", help: "How long they took", buckets: BUCKETS, registers: [this.#registry] });

  constructor() {
    collectDefaultMetrics({ register: this.#registry });
  }

  /** `count`: how many sources there are when it is asked. */
  watchSources(count: () => number): void {
    this.#watch("headwater_sources", "Deployed sources", count);
  }

  /** `count`: how many processes of sources there are when it is asked. */
  watchProcesses(count: () => number): void {
    this.#watch("headwater_processes", "Processes of sources", count);
  }

  ran({ trigger, outcome, durationMs, events, dropped }: Parameters<Meter["ran"]>[0]): void {
    this.#runs.inc({ trigger, outcome });
    this.#runSeconds.observe(durationMs / 1000);
    if (events > 0) this.#events.inc(events);
    if (dropped > 0) this.#dropped.inc(dropped);
  }

  attempted({ verdict, durationMs }: Parameters<Meter["attempted"]>[0]): void {
    this.#attempts.inc({ verdict });
    this.#attemptSeconds.observe(durationMs / 1000);
  }

  /** Totals since the server began. */
  async totals(): Promise<Totals> {
    const [runs, events, dropped, attempts] = await Promise.all([this.#runs, this.#events, this.#dropped, this.#attempts].map((counter) => counter.get()));
    const sum = (counted: typeof runs, isMeant: (labels: Readonly<Record<string, string | number | undefined>>) => boolean = () => true): number =>
      (counted?.values ?? []).reduce((total, { value, labels }) => total + (isMeant(labels) ? value : 0), 0);
    return {
      runs: sum(runs),
      failed: sum(runs, ({ outcome }) => outcome !== "returned"),
      events: sum(events),
      dropped: sum(dropped),
      attempts: sum(attempts),
      delivered: sum(attempts, ({ verdict }) => verdict === "delivered"),
    };
  }

  text(): Promise<string> {
    return this.#registry.metrics();
  }

  /** A figure that is read when it is asked. */
  #watch(name: string, help: string, read: () => number): void {
    const gauge: Gauge = new Gauge({
      name,
      help,
      registers: [this.#registry],
      collect: () => {
        gauge.set(read());
      },
    });
  }
}
