import type { Alert } from "../../domain/alert/alert.ts";
import { isAlertId, isDeployedId, isWebhookId } from "../../domain/ids.ts";
import { isTrue } from "./rows.ts";

/** Empty when the row cannot be read. */
export function alertOf(row: Readonly<Record<string, unknown>>): readonly Alert[] {
  const { id, scope, via } = row;
  const isScope = scope === null || isDeployedId(scope);
  if (!isAlertId(id) || !isScope || !(via === "mail" || isWebhookId(via))) return [];
  return [{ id, via, isDaily: isTrue(row["is_daily"]), createdAt: Number(row["created_at"]), ...(scope === null ? {} : { scope }) }];
}
