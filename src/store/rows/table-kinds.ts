import type { Kind } from "../../domain/health/usage.ts";

/** By the name of the table. */
export const KIND_OF: Readonly<Record<string, Kind>> = {
  events: "events",
  postponed_events: "events",
  invocations: "runs",
  log_chunks: "runs",
  timer_instants: "runs",
  pending_requests: "runs",
  deliveries: "deliveries",
  attempts: "deliveries",
  state: "state",
  action_state: "state",
  source_progress: "state",
  data_stores: "state",
  data_store_values: "state",
  saved_components: "code",
  source_versions: "code",
};
