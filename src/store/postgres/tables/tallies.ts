import type { TallyStore } from "../../../ports/stores/tally-store.ts";
import { STEP_NAMES } from "../../../domain/trend/window.ts";
import { tallyOf } from "../../rows/tally-rows.ts";
import type { Database } from "../connection/sql.ts";

const PUT = `insert into tallies (scope, step, at, runs, failures, events, delivered, undelivered, durations)
  select * from unnest($1::text[], $2::text[], $3::bigint[], $4::bigint[], $5::bigint[], $6::bigint[], $7::bigint[], $8::bigint[], $9::text[])
  on conflict (scope, step, at) do update set runs = excluded.runs, failures = excluded.failures, events = excluded.events,
    delivered = excluded.delivered, undelivered = excluded.undelivered, durations = excluded.durations`;

export function tallyTable(db: Database): TallyStore {
  return {
    putTallies: (tallies, oldest) =>
      db.transaction(async (sql) => {
        await sql.run(
          PUT,
          tallies.map(({ scope }) => scope),
          tallies.map(({ step }) => step),
          tallies.map(({ at }) => at),
          tallies.map(({ runs }) => runs),
          tallies.map(({ failures }) => failures),
          tallies.map(({ events }) => events),
          tallies.map(({ delivered }) => delivered),
          tallies.map(({ undelivered }) => undelivered),
          tallies.map(({ durations }) => JSON.stringify(durations)),
        );
        const scopes = [...new Set(tallies.map(({ scope }) => scope))];
        for (const step of STEP_NAMES)
          await sql.run("delete from tallies where scope = any ($1::text[]) and step = $2 and at < $3", scopes, step, oldest[step]);
      }),
    listTallies: async (scope, step, since) =>
      (await db.all("select * from tallies where scope = $1 and step = $2 and at >= $3 order by at", scope, step, since)).map(tallyOf),
  };
}
