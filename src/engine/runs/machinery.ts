import { PdError } from "../../domain/errors.ts";
import type { Clock } from "../../ports/clock.ts";
import type { LatePart, Unit } from "../../ports/runner.ts";
import { CallQueue, OwnLimits } from "./call-queue.ts";
import { answerDataStore } from "./data-stores.ts";
import { LiveState } from "./live-state.ts";
import type { RunPorts } from "./run-ports.ts";
import { type AskedSource, SourceQuestions } from "./source-questions.ts";
import { SourceUnits } from "./source-units.ts";
import { Usage } from "./usage.ts";

export const NO_LOAD: CallQueue["load"] = { running: 0, waiting: 0 };

/** A change that takes longer holds up nobody any more. */
const LONGEST_HOLD_MS = 100;
/** One source has no more calls that wait for a change: where more come, there is traffic, and that is not held up. */
const MOST_HELD = 8;

/** So much later a change is stored at most, for the runs of calls that were let go to come first. */
const LONGEST_PRECEDENCE_MS = 10;

/** Calls that wait for a version to serve. */
export interface HeldCalls {
  /** Resolves when they have begun, as far as they may. */
  letGo(): Promise<void>;
  /** Resolves when their runs are stored, or take long. */
  untilStored(): Promise<void>;
}

interface MachinerySetup {
  readonly of: AskedSource;
  readonly late: (part: LatePart, unit: Unit | undefined) => void;
  readonly ended: (unit: Unit | undefined) => void;
  /** See `LiveState`. */
  readonly onDisowned: () => void;
}

/** What a source needs once it is called, or changed. */
export class Machinery {
  readonly calls: CallQueue;
  readonly units: SourceUnits;
  readonly state: LiveState;
  /** While anything goes on nothing is cooled down. */
  readonly usage: Usage;
  readonly questions: SourceQuestions;

  readonly #clock: Clock;

  constructor(ports: RunPorts, { of, late, ended, onDisowned }: MachinerySetup) {
    this.#clock = ports.clock;
    this.calls = new CallQueue(new OwnLimits(ports.settings, () => of.source.maxConcurrency));
    this.units = new SourceUnits(ports.runner, ports.processes, { late, ended, ask: (request) => answerDataStore(ports, request) });
    this.state = new LiveState(ports, { sourceId: of.source.id, units: this.units, onDisowned });
    this.usage = new Usage(ports.clock);
    this.questions = new SourceQuestions(ports, of);
  }

  /** Since when its process has nothing to do; `undefined`: it has none, or is at work. */
  get idleMs(): number | undefined {
    return !this.units.isEmpty && this.usage.isIdle ? this.usage.idleMs : undefined;
  }

  /** Calls that come wait for the version that is about to serve, unless that takes long. */
  holdCalls(): HeldCalls {
    const over = new AbortController();
    const { release, calls } = this.calls.hold(MOST_HELD);
    void this.#within(LONGEST_HOLD_MS, over.signal).then(release);
    return {
      letGo: async () => {
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

  /** The server stops: what runs may finish, what waits and what comes is refused. */
  refuse(slug: string): void {
    this.calls.close(new PdError("PD_STOPPING", `Cannot run ${slug}: the server is stopping`));
  }

  /** Resolves when the units are gone and what they did is committed. */
  async untilGone(): Promise<void> {
    await this.usage.untilIdle();
    await this.units.retire();
  }
}
