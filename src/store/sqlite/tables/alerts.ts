import type { Alert } from "../../../domain/alert/alert.ts";
import type { AlertId } from "../../../domain/ids.ts";
import type { AlertStore } from "../../../ports/stores/alert-store.ts";
import type { Database } from "../../../database/driver.ts";
import { alertOf } from "../../rows/alert-rows.ts";
import { rows } from "../../rows/rows.ts";

export interface AlertWrites {
  saveAlert(alert: Alert): void;
  deleteAlert(id: AlertId): boolean;
}

export function alertWrites(db: Database): AlertWrites {
  const save = db.prepare("insert into alerts (id, scope, via, is_daily, created_at) values (?, ?, ?, ?, ?)");
  const remove = db.prepare("delete from alerts where id = ?");
  return {
    saveAlert: ({ id, scope, via, isDaily, createdAt }) => void save.run(id, scope ?? null, via, isDaily ? 1 : 0, createdAt),
    deleteAlert: (id) => remove.run(id).changes > 0,
  };
}

export function alertReads(db: Database): Pick<AlertStore, "listAlerts"> {
  const list = db.prepare("select * from alerts order by created_at, id");
  return { listAlerts: async () => rows(list.all()).flatMap(alertOf) };
}
