import type { Alert } from "../../domain/alert/alert.ts";
import type { AlertId } from "../../domain/ids.ts";

/** An alert is deleted with its source, workflow or webhook. */
export interface AlertStore {
  saveAlert(alert: Alert): Promise<void>;
  /** False when it does not exist. */
  deleteAlert(id: AlertId): Promise<boolean>;
  /** Oldest first. */
  listAlerts(): Promise<readonly Alert[]>;
}
