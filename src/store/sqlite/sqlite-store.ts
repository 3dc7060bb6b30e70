import type { Store } from "../../ports/store.ts";
import { componentReads } from "./components.ts";
import { eventReads } from "./events.ts";
import { openForReading } from "./open.ts";
import { pendingReads } from "./pending.ts";
import { runReads, travelling } from "./runs.ts";
import { timerReads } from "./timers.ts";
import { WriterClient, type WriterSettings } from "./writer-client.ts";

/** Opens a Store on one SQLite file: reads on this thread, writes on a thread of their own. */
export async function openSqliteStore(settings: WriterSettings): Promise<Store> {
  const writer = await WriterClient.start(settings);
  const db = openForReading(settings.path);
  return {
    ...componentReads(db),
    ...runReads(db),
    ...pendingReads(db),
    ...eventReads(db),
    ...timerReads(db),
    saveComponent: (component) => writer.write("saveComponent", component),
    beginDeploy: (source, component) => writer.write("beginDeploy", source, component),
    finishDeploy: (id, timers) => writer.write("finishDeploy", id, timers),
    beginChange: (id) => writer.write("beginChange", id),
    endChange: (id) => writer.write("endChange", id),
    swap: (source, component, timers) => writer.write("swap", source, component, timers),
    deleteSource: (id) => writer.write("deleteSource", id),
    open: (id) => writer.write("open", id),
    commit: (run) => writer.write("commit", travelling(run)),
    append: (addendum) => writer.write("append", travelling(addendum)),
    storePending: (request) => writer.write("storePending", request),
    writeState: (id, changes) => writer.write("writeState", id, changes),
    deleteEvents: (sourceId, range) => writer.write("deleteEvents", sourceId, range),
    advance: (timer, instants) => writer.write("advance", timer, instants),
    settleInstant: (instant) => writer.write("settleInstant", instant),
    prune: (sourceId, retention, now) => writer.write("prune", sourceId, retention, now),
    shrink: () => writer.write("shrink"),
    async close() {
      db.close();
      await writer.close();
    },
  };
}
