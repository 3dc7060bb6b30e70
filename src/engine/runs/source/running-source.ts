import { PdError } from "../../../domain/errors.ts";
import type { Clock } from "../../../ports/clock.ts";
import type { LatePart, Unit } from "../../../ports/runner.ts";
import { CallQueue, OwnLimits } from "./call-queue.ts";
import { answerDataStore } from "./data-stores.ts";
import { LiveState } from "./live-state.ts";
import type { RunPorts } from "./run-ports.ts";
import { type AskedSource, SourceQuestions } from "../questions/source-questions.ts";
import { SourceUnits } from "./source-units.ts";
import { Usage } from "./usage.ts";

export const NO_LOAD: CallQueue["load"] = { running: 0, waiting: 0 };

/** A change that takes longer no longer delays calls. */
const LONGEST_HOLD_MS = 100;
/** More waiting calls than this mean traffic, which must not be delayed. */
const MOST_HELD = 8;

/** Longest time that storing a change waits for the runs of held calls. */
const LONGEST_PRECEDENCE_MS = 10;

/** Calls that wait for an update. */
export interface UpdateHold {
  release(): void;
  /** Resolves when their runs are stored, or after LONGEST_PRECEDENCE_MS. */
  untilStored(): Promise<void>;
}

interface Setup {
  readonly of: AskedSource;
  readonly late: (part: LatePart, unit: Unit | undefined) => void;
  readonly ended: (unit: Unit | undefined) => void;
  /** See `LiveState`. */
  readonly onDisowned: () => void;
}

/** What a source has beside its record once it has been called. */
export class RunningSource {
  readonly calls: CallQueue;
  readonly units: SourceUnits;
  readonly state: LiveState;
  readonly usage: Usage;
  readonly questions: SourceQuestions;

  readonly #clock: Clock;

  constructor(ports: RunPorts, { of, late, ended, onDisowned }: Setup) {
    this.#clock = ports.clock;
    this.calls = new CallQueue(new OwnLimits(ports.settings, () => of.source.settings.max_concurrency));
    this.units = new SourceUnits(ports.runner, ports.processes, { late, ended, ask: (request) => answerDataStore(ports, request) });
    this.state = new LiveState(ports, { sourceId: of.source.id, units: this.units, onDisowned });
    this.usage = new Usage(ports.clock);
    this.questions = new SourceQuestions(ports, of);
  }

  get idleMs(): number | undefined {
    return !this.units.isEmpty && this.usage.isIdle ? this.usage.idleMs : undefined;
  }

  /** Makes new calls wait for the version that is about to serve, for at most LONGEST_HOLD_MS. */
  holdCalls(): UpdateHold {
    const over = new AbortController();
    const { release, calls } = this.calls.hold(MOST_HELD);
    void this.#within(LONGEST_HOLD_MS, over.signal).then(release);
    return {
      release: () => {
        release();
        over.abort();
      },
      untilStored: async () => {
        if (calls.length === 0) return;
        const stored = new AbortController();
        await Promise.race([Promise.allSettled(calls), this.#within(LONGEST_PRECEDENCE_MS, stored.signal)]);
        stored.abort();
      },
    };
  }

  #within(ms: number, signal: AbortSignal): Promise<void> {
    return this.#clock.sleepUntil(this.#clock.now() + ms, signal);
  }

  /** Running calls may finish. Waiting and new calls throw PD_STOPPING. */
  refuse(slug: string): void {
    this.calls.close(new PdError("PD_STOPPING", `Cannot run ${slug}: the server is stopping`));
  }

  async untilGone(): Promise<void> {
    await this.usage.untilIdle();
    await this.units.retire();
  }
}
