import { type Step, STEP_NAMES } from "../../../domain/trend/window.ts";
import type { StoredTally, TallyStore } from "../../../ports/stores/tally-store.ts";
import type { Database } from "../../../database/driver.ts";
import { rows } from "../../rows/rows.ts";
import { tallyOf } from "../../rows/tally-rows.ts";

export interface TallyWrites {
  putTallies(tallies: readonly StoredTally[], oldest: Readonly<Record<Step, number>>): void;
}

const PUT = `insert or replace into tallies (scope, step, at, runs, failures, events, delivered, undelivered, durations)
  values (?, ?, ?, ?, ?, ?, ?, ?, ?)`;

export function tallyWrites(db: Database): TallyWrites {
  const put = db.prepare(PUT);
  const drop = db.prepare("delete from tallies where scope = ? and step = ? and at < ?");
  return {
    putTallies(tallies, oldest) {
      for (const { scope, step, at, runs, failures, events, delivered, undelivered, durations } of tallies)
        put.run(scope, step, at, runs, failures, events, delivered, undelivered, JSON.stringify(durations));
      for (const scope of new Set(tallies.map((tally) => tally.scope))) for (const step of STEP_NAMES) drop.run(scope, step, oldest[step]);
    },
  };
}

export function tallyReads(db: Database): Pick<TallyStore, "listTallies"> {
  const list = db.prepare("select * from tallies where scope = ? and step = ? and at >= ? order by at");
  return { listTallies: async (scope, step, since) => rows(list.all(scope, step, since)).map(tallyOf) };
}
