import type { DeployedId, InvocationId } from "../../domain/ids.ts";
import type { CatchUp, Schedule } from "../../domain/timer/schedule.ts";

export interface Timer {
  readonly sourceId: DeployedId;
  readonly prop: string;
  readonly schedule: Schedule;
  readonly catchUp: CatchUp;
  /** Intervals count from here, epoch ms. */
  readonly anchorAt: number;
  /** Omitted when the schedule has ended. */
  readonly nextAt?: number;
}

/** It does not fire. */
export interface UnreadableTimer {
  readonly sourceId: DeployedId;
  readonly prop: string;
  readonly problem: string;
}

/** The outcome of a planned instant, or of `count` consecutive ones. */
export interface TimerInstant {
  readonly sourceId: DeployedId;
  readonly prop: string;
  readonly plannedAt: number;
  /** Equals `plannedAt` for a single instant. */
  readonly lastPlannedAt: number;
  readonly count: number;
  readonly state: "running" | "fired" | "coalesced" | "skipped";
  readonly invocationId?: InvocationId;
  readonly reason?: string;
}

export interface TimerStore {
  listTimers(of: readonly DeployedId[]): Promise<readonly Timer[]>;
  /** Timers that `listTimers` left out and that still cannot be read. */
  listUnreadableTimers(of: readonly DeployedId[]): Promise<readonly UnreadableTimer[]>;
  /**
   * Writes the passed instants in one transaction. A `running` instant becomes `fired` with the commit of its run.
   * False, without writing, when another host has already moved the timer. A replaced timer keeps its new plan.
   * Idempotent for the same instant and invocation.
   */
  advance(timer: Timer, to: Timer, instants: readonly TimerInstant[]): Promise<boolean>;
  /** Ends a `running` instant whose run could not be stored. */
  settleInstant(instant: TimerInstant): Promise<void>;
  /** Includes those whose host ended. */
  listRunning(of: readonly DeployedId[]): Promise<readonly TimerInstant[]>;
  /** Newest first. */
  listInstants(sourceId: DeployedId, limit: number): Promise<readonly TimerInstant[]>;
}
