import { useEffect, useState } from "preact/hooks";
import { useClient } from "../app-context.ts";
import { useQuery } from "../browser/address.ts";
import type { RunStep, WorkflowRun } from "../types.ts";
import { useLoaded } from "../use-loaded.ts";

const EARLIER = 20;
const LOOK_EVERY_MS = 3000;

export interface RunInView {
  /** Newest first, with the one in view. */
  readonly runs: readonly WorkflowRun[];
  /** Empty when there is no run yet. */
  readonly id: string;
  /** Undefined while it is loaded, or when it cannot be. */
  readonly run: WorkflowRun | undefined;
  readonly error: unknown;
  readonly records: readonly RunStep[];
  readonly choose: (id: string) => void;
}

/** The run whose data the builder shows: the newest, or the one in the address. It stays while newer runs come. */
export function useRunInView(workflowId: string): RunInView {
  const client = useClient();
  const [asked, choose] = useQuery("run");
  const [newest, setNewest] = useState("");
  const { value: listed = [] } = useLoaded(`runs ${workflowId}`, () => client.workflows.runs(workflowId, { limit: EARLIER }), LOOK_EVERY_MS);
  useEffect(() => {
    if (newest === "") setNewest(listed[0]?.id ?? "");
  }, [listed]);
  const id = asked === "" ? newest : asked;
  const load = async () => (id === "" ? undefined : { run: await client.workflows.run(id), records: await client.workflows.steps(id) });
  const { value, error } = useLoaded(`run ${id}`, load, LOOK_EVERY_MS);
  const isListed = value === undefined || listed.some((run) => run.id === id);
  return { runs: isListed ? listed : [...listed, value.run], id, run: value?.run, error, records: value?.records ?? [], choose };
}
