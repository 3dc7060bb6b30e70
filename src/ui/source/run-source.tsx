import { relativeTime } from "../../domain/text/relative-time.ts";
import { useClient } from "../app-context.ts";
import { useGo } from "../browser/address.ts";
import { RunNow } from "../parts/dialogs/run-now.tsx";
import type { Source } from "../types.ts";
import { useLoaded } from "../use-loaded.ts";

const EARLIER = 20;

/** With an empty event, or the event of an earlier run. */
export function RunSource({ source: { id, name }, onClose }: { source: Source; onClose: () => void }) {
  const client = useClient();
  const go = useGo();
  const { value: runs = [] } = useLoaded(`runs of ${id}`, () => client.invocations.list(id, { limit: EARLIER }));
  const now = Date.now();
  const withEvent = runs.filter(({ trigger }) => trigger.kind !== "hook");
  return (
    <RunNow
      name={name}
      offered={Object.fromEntries(
        withEvent.map(({ id: run, trigger_summary: summary, arrived = "", started_at_ms: at }) => [
          run,
          `${summary} ${relativeTime(at, now)} ${arrived.slice(0, 60)}`,
        ]),
      )}
      eventOf={async (run) => (await client.invocations.get(run)).event}
      run={async (event) => {
        const run = await client.sources.run(id, event === undefined ? {} : { event });
        onClose();
        go(`/sources/${id}/runs?run=${run.id}`);
      }}
      onClose={onClose}
    />
  );
}
