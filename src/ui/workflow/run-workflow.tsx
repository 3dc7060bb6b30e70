import { useClient } from "../app-context.ts";
import { useGo } from "../browser/address.ts";
import { RunNow } from "../parts/dialogs/run-now.tsx";
import type { Workflow } from "../types.ts";
import { useLoaded } from "../use-loaded.ts";
import { runChoices } from "./run-choices.ts";

const EARLIER = 20;
const SAMPLE = "sample";
const SAMPLE_EVENT = { method: "POST", path: "/", query: {}, headers: { "content-type": "application/json" }, body: { hello: "world" } };

/** With an empty event, a sample, or the event of an earlier run. */
export function RunWorkflow({ workflow: { id, name }, onClose }: { workflow: Workflow; onClose: () => void }) {
  const client = useClient();
  const go = useGo();
  const { value: runs = [] } = useLoaded(`runs of ${id}`, () => client.workflows.runs(id, { limit: EARLIER }));
  return (
    <RunNow
      name={name}
      offered={{ [SAMPLE]: "A sample request", ...runChoices(runs) }}
      eventOf={async (chosen) => (chosen === SAMPLE ? SAMPLE_EVENT : (await client.workflows.run(chosen)).trigger.event)}
      run={async (event) => {
        const run = await client.workflows.start(id, event === undefined ? {} : { event });
        onClose();
        go(`/workflows/${id}/runs?run=${run.id}`);
      }}
      onClose={onClose}
    />
  );
}
