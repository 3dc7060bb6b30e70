import { setTimeout as sleep } from "node:timers/promises";
import type { RunRecord } from "../../api/workflows.ts";
import type { Client } from "../../client/client.ts";

const FIRST_LOOK_MS = 20;
const LONGEST_PAUSE_MS = 1000;

/** Resolves when the run has ended or waits. */
export async function untilRest(client: Client, { id }: RunRecord, signal?: AbortSignal): Promise<RunRecord> {
  for (let pause = FIRST_LOOK_MS; ; pause = Math.min(pause * 1.5, LONGEST_PAUSE_MS)) {
    const run = await client.workflows.run(id);
    if (run.state !== "running" || signal?.aborted === true) return run;
    await sleep(pause);
  }
}
