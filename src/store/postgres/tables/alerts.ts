import type { AlertStore } from "../../../ports/stores/alert-store.ts";
import { alertOf } from "../../rows/alert-rows.ts";
import type { Database } from "../connection/sql.ts";

export function alertTable(db: Database): AlertStore {
  return {
    async saveAlert({ id, scope, via, isDaily, createdAt }) {
      await db.run("insert into alerts (id, scope, via, is_daily, created_at) values ($1, $2, $3, $4, $5)", id, scope ?? null, via, isDaily, createdAt);
    },
    deleteAlert: async (id) => (await db.run("delete from alerts where id = $1", id)).count > 0,
    listAlerts: async () => (await db.all("select * from alerts order by created_at, id")).flatMap(alertOf),
  };
}
