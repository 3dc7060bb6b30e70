import { rmSync } from "node:fs";
import { openDatabase } from "../../database/database.ts";
import type { Database } from "../../database/driver.ts";
import { isDeployedId } from "../../domain/ids.ts";
import type { SearchHit, SearchIndex } from "../../ports/search-index.ts";
import { isTrue, row, rows } from "../rows/rows.ts";

const SCHEMA = `
create table if not exists documents (
  id integer primary key,
  kind text not null,
  scope text not null,
  ref text not null,
  at integer not null,
  failed integer not null,
  unique (kind, scope, ref)
);
create index if not exists documents_of on documents (scope, kind, at, id);
create index if not exists documents_at on documents (at);
create table if not exists progress (scope text primary key, seq integer not null default 0, complete integer not null default 0);
create virtual table if not exists words using fts5 (body, tokenize = "unicode61 remove_diacritics 2");
`;
/** Raise it with the schema. */
const SHAPE = 1;
/** Documents that are removed together, so that others wait for a few milliseconds at most. */
const STEP = 50;
const MOST_DOCUMENTS = 1_000_000;
const FILTER = `(? is null or d.kind = ?) and (? is null or d.scope = ?) and (? = 0 or d.failed = 1) and d.at >= ? and d.at <= ?`;

/** A file of its own beside the database, with SQLite's FTS5. What a crash loses is indexed again. */
export function openSearchIndex(path: string): SearchIndex {
  const db = openFile(path);
  let isOpen = true;
  const known = db.prepare("select id from documents where kind = ? and scope = ? and ref = ?");
  const insert = db.prepare("insert into documents (kind, scope, ref, at, failed) values (?, ?, ?, ?, ?)");
  const insertWords = db.prepare("insert into words (rowid, body) values (?, ?)");
  const progress = db.prepare("insert into progress (scope, seq) values (?, ?) on conflict (scope) do update set seq = max(seq, excluded.seq)");
  const complete = db.prepare("select complete from progress where scope = ?");
  const setComplete = db.prepare("insert into progress (scope, complete) values (?, ?) on conflict (scope) do update set complete = excluded.complete");
  const setIncomplete = db.prepare("update progress set complete = 0");
  const newest = db.prepare("select seq from progress where scope = ?");
  const matching = db.prepare(`select d.*, snippet(words, 0, '', '', '…', 24) as snippet from words join documents d on d.id = words.rowid
    where words match ? and ${FILTER} order by d.at desc, d.id desc limit ? offset ?`);
  const all = db.prepare(`select d.*, substr(w.body, 1, 200) as snippet from documents d join words w on w.rowid = d.id
    where ${FILTER} order by d.at desc, d.id desc limit ? offset ?`);
  const { remove, ...pruning } = prunes(db);
  return {
    add(documents, reached) {
      db.transaction(() => {
        for (const { kind, scope, ref, at, text, hasFailed } of documents) {
          const before = row(known.get(kind, scope, ref))?.["id"];
          if (before !== undefined) remove([before]);
          const { lastInsertRowid: id } = insert.run(kind, scope, ref, at, hasFailed ? 1 : 0);
          insertWords.run(id, text);
        }
        if (reached !== undefined) progress.run(reached.scope, reached.seq);
      });
    },
    has: ({ kind, scope, ref }) => known.get(kind, scope, ref) !== undefined,
    isComplete: (scope) => isTrue(row(complete.get(scope))?.["complete"]),
    setComplete: (scope, isComplete) => void setComplete.run(scope, isComplete ? 1 : 0),
    setIncomplete: () => void setIncomplete.run(),
    newestEvent: (scope) => Number(row(newest.get(scope))?.["seq"] ?? 0),
    find({ match, kind = null, scope = null, failedOnly = false, since = 0, until = Number.MAX_SAFE_INTEGER, limit, offset }) {
      const filter = [kind, kind, scope, scope, failedOnly ? 1 : 0, since, until] as const;
      const found = match === undefined ? all.all(...filter, limit, offset) : matching.all(match, ...filter, limit, offset);
      return rows(found).flatMap(hitOf);
    },
    ...pruning,
    drop({ kind, scope }, refs) {
      remove(refs.flatMap((ref) => row(known.get(kind, scope, ref))?.["id"] ?? []));
    },
    close() {
      if (isOpen) db.close();
      isOpen = false;
    },
  };
}

/** A file that cannot be used, or has another shape, is replaced. */
function openFile(path: string): Database {
  try {
    return openShaped(path);
  } catch {
    for (const end of ["", "-wal", "-shm"]) rmSync(`${path}${end}`, { force: true });
    return openShaped(path);
  }
}

function openShaped(path: string): Database {
  const db = openDatabase(path, { timeoutMs: 1000 });
  try {
    db.pragma("journal_mode = wal");
    db.pragma("synchronous = off");
    const shape = Number(db.pragma("user_version"));
    if (shape !== 0 && shape !== SHAPE) throw new Error(`the search index has shape ${shape}`);
    db.pragma("secure_delete = on");
    db.exec(SCHEMA);
    db.pragma(`user_version = ${SHAPE}`);
    return db;
  } catch (error) {
    db.close();
    throw error;
  }
}

function prunes(
  db: Database,
): Pick<SearchIndex, "prune" | "scopes" | "forget" | "oldest" | "dropEvents" | "purge"> & { readonly remove: (ids: readonly unknown[]) => void } {
  const drop = db.prepare("delete from documents where id = ?");
  const dropWords = db.prepare("delete from words where rowid = ?");
  const old = db.prepare(`select id from documents where at < ? or id <= (select max(id) from documents) - ${MOST_DOCUMENTS} order by at limit ${STEP}`);
  const scopesOf = db.prepare("select distinct scope from documents");
  const ofScope = db.prepare(`select id from documents where scope = ? limit ${STEP}`);
  const oldest = db.prepare("select ref from documents where scope = ? and kind = ? order by at, id limit ?");
  // The id of an event ends with its number.
  const numbered = db.prepare(`select id from documents where scope = ? and kind = 'event'
    and cast(substr(ref, instr(ref, '-') + 1) as integer) between ? and ? limit ${STEP}`);
  const secure = (value: 0 | 1) => db.prepare(`insert into words (words, rank) values ('secure-delete', ${value})`);
  const [setSecure, setUsual] = [secure(1), secure(0)];
  const forget = db.prepare("delete from progress where scope = ?");
  const dropAll = (ids: readonly unknown[]): void => {
    for (const id of ids) {
      drop.run(Number(id));
      dropWords.run(Number(id));
    }
  };
  const remove = (ids: readonly unknown[]): void => db.transaction(() => dropAll(ids));
  const idsOf = (found: unknown[]): readonly unknown[] => rows(found).map(({ id }) => id);
  return {
    remove,
    prune(before) {
      const ids = idsOf(old.all(before));
      remove(ids);
      return ids.length;
    },
    oldest: ({ kind, scope }, limit) => rows(oldest.all(scope, kind, limit)).map(({ ref }) => String(ref)),
    dropEvents(scope, fromSeq, toSeq) {
      const ids = idsOf(numbered.all(scope, fromSeq, toSeq));
      // Their words leave the file at once, which is slower.
      db.transaction(() => {
        setSecure.run();
        dropAll(ids);
        setUsual.run();
      });
      return ids.length;
    },
    purge: () => void db.pragma("wal_checkpoint(truncate)"),
    scopes: () => rows(scopesOf.all()).map(({ scope }) => String(scope)),
    forget(scope) {
      forget.run(scope);
      const ids = idsOf(ofScope.all(scope));
      remove(ids);
      return ids.length;
    },
  };
}

function hitOf({ kind, scope, ref, at, failed, snippet }: Readonly<Record<string, unknown>>): readonly SearchHit[] {
  if ((kind !== "event" && kind !== "run") || !isDeployedId(scope)) return [];
  return [{ kind, scope, ref: String(ref), at: Number(at), hasFailed: isTrue(failed), snippet: String(snippet) }];
}
