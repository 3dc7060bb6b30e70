import { PdError } from "../../../domain/errors.ts";
import { type Migrated, migrateHome } from "../../../migrate-home.ts";
import { isAgreed } from "../../ask/agree.ts";
import type { CliContext } from "../../context.ts";
import { printJson, printLine, printNote } from "../../reporter.ts";
import { settingsOf } from "../../settings-of.ts";
import { withBar } from "../../spinner.ts";
import { abortOnStop } from "../../stop-signals.ts";

export interface MigrateFlags {
  readonly to: string;
  readonly toPasswordFile?: string | undefined;
  readonly yes?: boolean | undefined;
}

/** Table → how people call its rows. */
const TOLD: Readonly<Record<string, string>> = {
  deployed_components: "sources, triggers and workflows",
  events: "events",
  invocations: "runs",
  workflow_runs: "runs of workflows",
  deliveries: "deliveries",
  accounts: "accounts",
  webhooks: "webhooks",
};

/** Between SQLite and PostgreSQL. */
export async function migrate(cli: CliContext, { to, toPasswordFile = "", yes }: MigrateFlags): Promise<number> {
  const settings = await settingsOf(cli);
  const stop = abortOnStop(cli.stdout);
  const migrated = await withBar(cli, "Copying", ({ tick }) =>
    migrateHome({
      settings,
      to,
      passwordFile: toPasswordFile,
      signal: stop.signal,
      agree: (counts) => {
        const found = [...counts].flatMap(([table, count]) => (TOLD[table] === undefined || count === 0 ? [] : [`${count} ${TOLD[table]}`]));
        const what = found.length === 0 ? "no data yet" : found.join(", ");
        return isAgreed(cli, { yes, question: `Copy ${what} to ${targetOf(to)}?`, attempted: "migrate" });
      },
      onProgress: ({ done, total, table }) => {
        if (stop.signal.aborted) throw new PdError("PD_STOPPING", "The migration was stopped: nothing was changed", { fix: "Run it again" });
        tick(done, total, `${done} of ${total} rows, ${table}`);
      },
    }),
  );
  if (migrated === undefined) return 1;
  tell(cli, migrated, settings.databaseUrl === "");
  return 0;
}

/** Without a password. */
function targetOf(to: string): string {
  return to.replace(/^(postgres(?:ql)?:\/\/[^:@/]*):[^@]*@/, "$1@");
}

function tell(cli: CliContext, { counts, path }: Migrated, isToPostgres: boolean): void {
  const rows = [...counts.values()].reduce((sum, count) => sum + count, 0);
  if (cli.isJson) return printJson(cli, { rows, path, tables: Object.fromEntries(counts) });
  printLine(cli, `Copied and compared ${rows} rows`);
  if (isToPostgres) {
    printNote(cli, `The SQLite database is kept as ${path}`);
    printNote(cli, "From now on, start the server with --database-url or PD_DATABASE_URL, on the same home or with the same PD_SECRET_KEY");
  } else {
    printNote(cli, `The database is ${path}; the data on PostgreSQL is unchanged`);
    printNote(cli, "From now on, start the server without --database-url; its secrets need the key that they had (pd status shows where it is)");
  }
}
