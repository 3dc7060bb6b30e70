import type { DeployedId, InvocationId } from "../domain/ids.ts";
import type { CatchUp, Schedule } from "../domain/schedule.ts";

/** A timer prop of a deployed source and where it stands. */
export interface Timer {
  readonly sourceId: DeployedId;
  readonly prop: string;
  readonly schedule: Schedule;
  readonly catchUp: CatchUp;
  /** Intervals count from here, epoch ms. */
  readonly anchorAt: number;
  /** The next planned instant; absent when there is none any more. */
  readonly nextAt?: number;
}

/** A timer whose row this program did not write so: it does not fire. */
export interface UnreadableTimer {
  readonly sourceId: DeployedId;
  readonly prop: string;
  readonly problem: string;
}

/** What became of a planned instant, or of `count` of them in a row. */
export interface TimerInstant {
  readonly sourceId: DeployedId;
  readonly prop: string;
  readonly plannedAt: number;
  /** Last of the row; equals `plannedAt` for a single one. */
  readonly lastPlannedAt: number;
  readonly count: number;
  readonly state: "running" | "fired" | "coalesced" | "skipped";
  readonly invocationId?: InvocationId;
  readonly reason?: string;
}

/** The plan of all timers, and the ledger of their instants. */
export interface TimerStore {
  /** Of these sources. */
  listTimers(of: readonly DeployedId[]): Promise<readonly Timer[]>;
  /** Those that a list of timers has left out and that still cannot be read. */
  listUnreadableTimers(of: readonly DeployedId[]): Promise<readonly UnreadableTimer[]>;
  /**
   * Moves a timer on from where it stands, and writes what becomes of the instants that are passed so, in one transaction:
   * a `running` one becomes `fired` with the commit of its run. False, with nothing written: another host has moved it
   * already. A timer that was replaced meanwhile keeps its new plan. Asked again for an instant that the same invocation
   * has claimed already, it says true again.
   */
  advance(timer: Timer, to: Timer, instants: readonly TimerInstant[]): Promise<boolean>;
  /** A `running` instant ended without a run that could be stored. */
  settleInstant(instant: TimerInstant): Promise<void>;
  /** Instants of these sources that are written down as running: on their host, or when it ended. */
  listRunning(of: readonly DeployedId[]): Promise<readonly TimerInstant[]>;
  /** Newest first. */
  listInstants(sourceId: DeployedId, limit: number): Promise<readonly TimerInstant[]>;
}
