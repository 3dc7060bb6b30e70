import type { Step, TimedTally } from "../../domain/trend/window.ts";

export interface StoredTally extends TimedTally {
  /** Id of a source or workflow. Empty for the whole server. */
  readonly scope: string;
  readonly step: Step;
}

export interface TallyStore {
  /** Replaces those of the same scope, step and time, and removes those of the same scope and step from before `oldest`. */
  putTallies(tallies: readonly StoredTally[], oldest: Readonly<Record<Step, number>>): Promise<void>;
  /** Since a time in epoch ms, oldest first. */
  listTallies(scope: string, step: Step, since: number): Promise<readonly TimedTally[]>;
}
