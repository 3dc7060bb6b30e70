import type { Finding } from "./checkup.ts";

export interface PostgresFacts {
  readonly version: string;
  /** Of one answer, in ms. */
  readonly latencyMs: number;
  /** `on`, `off`, `local`, `remote_write` or `remote_apply`. */
  readonly synchronousCommit: string;
  readonly fsync: string;
  /** `synchronous_standby_names`. Empty without a synchronous standby. */
  readonly synchronousStandbys: string;
  /** Connected standbys of any kind. */
  readonly standbys: number;
  /** Age of the oldest open transaction in this database, in ms. */
  readonly oldestTransactionMs: number;
}

const SLOW_MS = 20;
/** Vacuum cannot remove what such a transaction may still read. */
const LONG_TRANSACTION_MS = 5 * 60_000;
const about = "postgresql";

export function postgresFindings(facts: PostgresFacts): readonly Finding[] {
  return [server(facts), durability(facts), ...standby(facts), ...transactions(facts)];
}

function server({ version, latencyMs }: PostgresFacts): Finding {
  const text = `version ${version}, answers in ${latencyMs.toFixed(1)} ms`;
  if (latencyMs < SLOW_MS) return { level: "good", about, text };
  return { level: "attention", about, text: `${text}: each commit takes at least as long`, fix: "Run the server near its database" };
}

function durability({ fsync, synchronousCommit }: PostgresFacts): Finding {
  const off = [fsync === "off" ? "fsync" : [], synchronousCommit === "off" ? "synchronous_commit" : []].flat();
  if (off.length === 0) return { level: "good", about: "durability", text: "acknowledged work is on disk" };
  return {
    level: "bad",
    about: "durability",
    text: `${off.join(" and ")} off: a crash loses acknowledged work`,
    fix: off.map((name) => `alter system set ${name} = on`).join("; "),
  };
}

function standby({ standbys, synchronousStandbys }: PostgresFacts): readonly Finding[] {
  if (standbys === 0) return [];
  if (synchronousStandbys !== "") return [{ level: "good", about: "standby", text: `${standbys} connected, with synchronous replication` }];
  const text = `${standbys} connected, but replication is asynchronous: a promoted standby may lack acknowledged work`;
  return [{ level: "attention", about: "standby", text, fix: "Set synchronous_standby_names" }];
}

function transactions({ oldestTransactionMs }: PostgresFacts): readonly Finding[] {
  if (oldestTransactionMs < LONG_TRANSACTION_MS) return [];
  const text = `a transaction has been open for ${Math.round(oldestTransactionMs / 60_000)} min: deleted rows cannot be removed before it ends`;
  return [{ level: "attention", about: "transactions", text, fix: "Find it in pg_stat_activity, and end it" }];
}
