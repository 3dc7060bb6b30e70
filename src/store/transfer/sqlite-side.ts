import type { Database } from "../../database/driver.ts";
import { isTrue, row, rows } from "../rows/rows.ts";
import type { Cell, Column, Page, Table, TableOrigin, TableTarget } from "./tables.ts";

/** A body may have 10 MB. */
const ROWS_A_PAGE = 50;
/** Their numbers are never given out twice. */
const COUNTED = ["deliveries", "postponed_events"];

export function sqliteSide(db: Database): TableOrigin & TableTarget {
  return {
    count: async ({ name }) => Number(row(db.prepare(`select count(*) as count from ${name}`).get())?.["count"]),
    async *pages(table) {
      const [first, next] = [db.prepare(pageStatement(table, "first")), db.prepare(pageStatement(table, "next"))];
      let after: readonly (string | number)[] | undefined;
      for (;;) {
        const found = rows(after === undefined ? first.all(ROWS_A_PAGE) : next.all(...after, ROWS_A_PAGE));
        const page: Page = found.map((one) => table.columns.map((column) => cellOf(one[column.name], column)));
        if (page.length > 0) yield page;
        const last = found.at(-1);
        if (last === undefined || page.length < ROWS_A_PAGE) return;
        after = table.key.map((name) => (typeof last[name] === "number" ? last[name] : String(last[name])));
      }
    },
    async clear({ name }) {
      db.exec(`delete from ${name}`);
    },
    async insert(table, page) {
      const names = table.columns.map((column) => ownName(table, column.name));
      const insert = db.prepare(`insert into ${table.name} (${names.join(", ")}) values (${names.map(() => "?").join(", ")})`);
      for (const one of page) insert.run(...one.map((cell) => (typeof cell === "boolean" ? Number(cell) : cell)));
    },
    async advance({ name }, last) {
      if (!COUNTED.includes(name)) return;
      db.prepare("update sqlite_sequence set seq = ? where name = ? and seq < ?").run(last, name, last);
      db.prepare("insert into sqlite_sequence (name, seq) select ?, ? where not exists (select 1 from sqlite_sequence where name = ?)").run(name, last, name);
    },
    async lastNumber({ name }) {
      const highest = Number(row(db.prepare(`select coalesce(max(seq), 0) as seq from ${name}`).get())?.["seq"]);
      const counted = Number(row(db.prepare("select seq from sqlite_sequence where name = ?").get(name))?.["seq"] ?? 0);
      return Math.max(highest, counted);
    },
  };
}

function ownName({ sequence }: Table, name: string): string {
  return sequence === "rowid" && name === "seq" ? "rowid" : name;
}

function pageStatement(table: Table, which: "first" | "next"): string {
  const names = table.columns.map(({ name }) => (ownName(table, name) === name ? name : `rowid as ${name}`));
  const key = table.key.map((name) => ownName(table, name)).join(", ");
  const where = which === "first" ? "" : `where (${key}) > (${table.key.map(() => "?").join(", ")})`;
  return `select ${names.join(", ")} from ${table.name} ${where} order by ${key} limit ?`;
}

function cellOf(value: unknown, { kind }: Column): Cell {
  if (value === null || value === undefined) return null;
  if (kind === "boolean") return isTrue(value);
  return kind === "text" ? String(value) : Number(value);
}
