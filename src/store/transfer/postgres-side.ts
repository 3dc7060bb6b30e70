import { isRecord, parseJson } from "../../domain/text/json.ts";
import type { Sql, Value } from "../postgres/connection/sql.ts";
import type { Cell, Column, Page, Table, TableOrigin, TableTarget } from "./tables.ts";

const ROWS_A_PAGE = 50;

/** Call in a transaction. */
export function postgresSide(sql: Sql): TableOrigin & TableTarget {
  return {
    count: async ({ name }) => Number((await sql.first(`select count(*) as count from ${name}`))?.["count"]),
    async *pages(table) {
      const names = table.columns.map(({ name }) => name).join(", ");
      const key = table.key.join(", ");
      const parameters = table.key.map((name, place) => `$${place + 2}::${kindOf(table, name)}`).join(", ");
      let after: readonly Value[] | undefined;
      for (;;) {
        const where = after === undefined ? "" : `where (${key}) > (${parameters})`;
        const found = await sql.all(`select ${names} from ${table.name} ${where} order by ${key} limit $1`, ROWS_A_PAGE, ...(after ?? []));
        const page: Page = found.map((one) => table.columns.map((column) => cellOf(one[column.name], column)));
        if (page.length > 0) yield page;
        const last = found.at(-1);
        if (last === undefined || page.length < ROWS_A_PAGE) return;
        after = table.key.map((name) => (typeof last[name] === "number" ? last[name] : String(last[name])));
      }
    },
    async clear({ name }) {
      await sql.run(`delete from ${name}`);
    },
    async insert(table, page) {
      const columns = columnsOf(table, page);
      const parameters = columns.map(({ kind }, place) => `$${place + 1}::${kind}[]`).join(", ");
      const overriding = table.sequence === undefined ? "" : "overriding system value";
      const names = columns.map(({ name }) => name).join(", ");
      await sql.run(`insert into ${table.name} (${names}) ${overriding} select * from unnest(${parameters})`, ...columns.map(({ values }) => values));
      if (table.sequence === "rowid") await count(sql, `pg_get_serial_sequence('${table.name}', 'seq')`, Number(page.at(-1)?.[0]));
    },
    async advance({ name }, last) {
      if (last === 0) return;
      // Numbers of log lines are given out in blocks.
      if (name === "log_chunks") await count(sql, "'log_chunk_blocks'", Math.ceil(last / 1000) * 1000 + 1);
      else await count(sql, `pg_get_serial_sequence('${name}', 'seq')`, last);
    },
    async lastNumber({ name }) {
      const highest = Number((await sql.first(`select coalesce(max(seq), 0) as seq from ${name}`))?.["seq"]);
      if (name === "log_chunks") return highest;
      const last = await sql.first(`select coalesce(pg_sequence_last_value(pg_get_serial_sequence('${name}', 'seq')::regclass), 0) as seq`);
      return Math.max(highest, Number(last?.["seq"]));
    },
  };
}

async function count(sql: Sql, sequence: string, last: number): Promise<void> {
  await sql.run(`select setval(${sequence}::regclass, $1)`, last);
}

interface Values extends Column {
  readonly values: readonly Cell[];
}

function columnsOf(table: Table, page: Page): readonly Values[] {
  const columns = table.columns.map((column, place) => ({ ...column, values: page.map((one) => one[place] ?? null) }));
  if (table.name !== "saved_components") return columns;
  const definitions = columns.find(({ name }) => name === "definition")?.values ?? [];
  return [...columns, { name: "declared_version", kind: "text", values: definitions.map(versionIn) }];
}

/** Only PostgreSQL has it as a column. */
function versionIn(definition: Cell): string {
  const declared = parseJson(String(definition));
  return isRecord(declared) ? String(declared["version"]) : "";
}

function kindOf(table: Table, name: string): Column["kind"] {
  return table.columns.find((column) => column.name === name)?.kind ?? "text";
}

function cellOf(value: unknown, { kind }: Column): Cell {
  if (value === null || value === undefined) return null;
  if (kind === "boolean") return value === true;
  return kind === "text" ? String(value) : Number(value);
}
