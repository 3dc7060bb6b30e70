/** What both databases store, in an order in which rows refer only to earlier ones. */

export type Kind = "text" | "bigint" | "integer" | "double precision" | "boolean";
export type Cell = string | number | boolean | null;

export interface Column {
  readonly name: string;
  readonly kind: Kind;
}

export interface Table {
  readonly name: string;
  readonly columns: readonly Column[];
  /** Columns that are unique together, in the order of copying. */
  readonly key: readonly string[];
  /** In SQLite, the column is the row's number. PostgreSQL counts it in a sequence of its own. */
  readonly sequence?: "rowid" | "seq";
}

const KINDS: Readonly<Record<string, Kind>> = { n: "bigint", i: "integer", r: "double precision", b: "boolean" };

/** `columns`: names, with `:n` for a whole number, `:r` for a real one, `:b` for yes or no, `:i` for a small number. */
function table(name: string, key: string, columns: string): Table {
  return {
    name,
    key: key.split(" "),
    columns: columns.split(" ").map((column) => {
      const [own = "", kind] = column.split(":");
      return { name: own, kind: kind === undefined ? "text" : (KINDS[kind] ?? "text") };
    }),
  };
}

function numbered(sequence: "rowid" | "seq", name: string, columns: string): Table {
  return { ...table(name, "seq", `seq:n ${columns}`), sequence };
}

export const TABLES: readonly Table[] = [
  table("identity", "user_id", "user_id workspace_id"),
  numbered("rowid", "saved_components", "id key hash code imports origin bundle definition lock packages_folder is_transient:b created_at:n"),
  numbered(
    "rowid",
    "deployed_components",
    "id component_id version:n highest_version:n name slug endpoint_key configured set_aside dynamic_props env settings active:b is_ready:b activate_due:b workflow_id created_at:n updated_at:n",
  ),
  table("source_versions", "source_id number", "source_id number:n component_id at:n first_seq:n"),
  table("step_components", "workflow_component_id namespace", "workflow_component_id namespace component_id"),
  table("source_progress", "source_id", "source_id fence:n last_seq:n gone:n cache"),
  table("state", "source_id key", "source_id key value"),
  table("action_state", "action key", "action key value"),
  table("events", "source_id seq", "source_id seq:n stored_at:n channel dedupe_id summary ts:n invocation_id payload again_of:n"),
  numbered(
    "seq",
    "invocations",
    "id source_id trigger started_at:n duration_ms:r outcome event_count:n dropped response_status:i replay_of returned version:n",
  ),
  table("log_chunks", "seq", "seq:n source_id invocation_id lines"),
  table("pending_requests", "id", "id source_id trigger received_at:n"),
  numbered("seq", "postponed_events", "source_id due_at:n stored_at:n channel dedupe_id summary ts:n invocation_id payload"),
  table("timers", "source_id prop", "source_id prop schedule catch_up anchor_at:n next_at:n"),
  table("timer_instants", "source_id prop planned_at", "source_id prop planned_at:n last_planned_at:n count:n state invocation_id reason"),
  numbered("rowid", "api_keys", "id name hash read_only:b created_at:n"),
  numbered("rowid", "webhooks", "id url name description active:b secret old_secrets failing_since:n inactive_reason created_at:n updated_at:n"),
  numbered("rowid", "subscriptions", "id emitter_id emitter_key listener_id channel created_at:n"),
  table("auto_subscriptions", "channel listener_id", "channel listener_id"),
  numbered("seq", "deliveries", "listener_id message_id emitter_id channel payload state attempts:n next_at:n created_at:n"),
  numbered("seq", "attempts", "delivery:n at:n duration_ms:r result"),
  table("data_stores", "name", "name created_at:n"),
  table("data_store_values", "store key", "store key value expires_at:n"),
  table("registries", "name", "name kind location position:n"),
  table("accounts", "id", "id app name credentials oauth problem revision:n created_at:n updated_at:n"),
  numbered("seq", "workflow_runs", "id workflow_id version:n trigger message_id state started_at:n ended_at:n failure reason rerun_of from_step wakes:n"),
  table("workflow_steps", "run_seq path", "run_seq:n path noted:n state until:n token record"),
  table("alerts", "id", "id scope via is_daily:b created_at:n"),
  table("tallies", "scope step at", "scope step at:n runs:n failures:n events:n delivered:n undelivered:n durations"),
  table("workflow_recordings", "run_seq path", "run_seq:n path exchanges"),
];

/** A new database has rows of its own in these. */
export const SEEDED: readonly string[] = ["identity", "registries"];

/** Rows in the order of `columns`. */
export type Page = readonly (readonly Cell[])[];

/** One side of a copy. */
export interface TableSide {
  count(table: Table): Promise<number>;
  /** In the order of the key. */
  pages(table: Table): AsyncIterable<Page>;
}

export interface TableTarget extends TableSide {
  clear(table: Table): Promise<void>;
  insert(table: Table, page: Page): Promise<void>;
  /** Highest number given out so far, also to rows that were deleted. */
  advance(table: Table, last: number): Promise<void>;
}

export interface TableOrigin extends TableSide {
  lastNumber(table: Table): Promise<number>;
}
