import type { SourceRecord } from "../api/sources.ts";
import type { WorkflowRecord } from "../api/workflows.ts";
import type { Client } from "../client/client.ts";
import { PdError } from "../domain/errors.ts";

/** What a command is about. */
export type Deployed = { readonly kind: "source"; readonly record: SourceRecord } | { readonly kind: "workflow"; readonly record: WorkflowRecord };

/** A source or a workflow, by id, slug or name. Throws PD_SOURCE_NOT_FOUND, or PD_WORKFLOW_NOT_FOUND for an id of one. */
export async function findDeployed(client: Client, name: string): Promise<Deployed> {
  if (name.startsWith("p_")) return { kind: "workflow", record: await client.workflows.get(name) };
  try {
    return { kind: "source", record: await client.sources.get(name) };
  } catch (error) {
    if (!(error instanceof PdError) || error.code !== "PD_SOURCE_NOT_FOUND") throw error;
    const record = await client.workflows.get(name).catch(() => undefined);
    if (record === undefined) throw error;
    return { kind: "workflow", record };
  }
}
