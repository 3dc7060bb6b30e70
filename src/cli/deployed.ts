import type { SourceRecord } from "../api/sources.ts";
import type { WorkflowRecord } from "../api/workflows.ts";
import type { Client } from "../client/client.ts";
import { PdError } from "../domain/errors.ts";

export type Deployed = { readonly kind: "source"; readonly record: SourceRecord } | { readonly kind: "workflow"; readonly record: WorkflowRecord };

/** Tries ids and slugs before names. Throws PD_SOURCE_NOT_FOUND, PD_WORKFLOW_NOT_FOUND for a workflow's id, and PD_AMBIGUOUS. */
export async function findDeployed(client: Client, word: string): Promise<Deployed> {
  if (word.startsWith("p_")) return { kind: "workflow", record: await client.workflows.get(word) };
  const source = await found(client.sources.get(word));
  if (source.record !== undefined && isExactly(source.record, word)) return { kind: "source", record: source.record };
  const workflow = await found(client.workflows.get(word));
  if (workflow.record !== undefined && isExactly(workflow.record, word)) return { kind: "workflow", record: workflow.record };
  const problem = [source.error, workflow.error].find((error) => error?.code === "PD_AMBIGUOUS");
  if (problem !== undefined) throw problem;
  if (source.record !== undefined && workflow.record !== undefined) throw ofBothKinds(word, [source.record, workflow.record]);
  if (source.record !== undefined) return { kind: "source", record: source.record };
  if (workflow.record !== undefined) return { kind: "workflow", record: workflow.record };
  // Prefers an error with a suggestion.
  const near = [source.error, workflow.error].find((error) => error?.message.includes("did you mean") === true);
  throw (
    near ?? new PdError("PD_SOURCE_NOT_FOUND", `Cannot find a source or workflow ${JSON.stringify(word)}`, { fix: "pd list sources, or pd list workflows" })
  );
}

/** Accepts no name, because nothing undoes the action. Throws PD_SOURCE_NOT_FOUND. */
export async function findExactly(client: Client, word: string): Promise<Deployed> {
  const deployed = await findDeployed(client, word);
  const { id, name_slug: slug, name } = deployed.record;
  if (isExactly(deployed.record, word)) return deployed;
  throw new PdError("PD_SOURCE_NOT_FOUND", `Cannot delete ${JSON.stringify(word)}: expected an id or slug, got the name of ${slug} (${id})`, {
    fix: `pd delete ${slug}, if you mean that one`,
    details: { name },
  });
}

interface Named {
  readonly id: string;
  readonly name_slug: string;
}

function isExactly({ id, name_slug: slug }: Named, word: string): boolean {
  return id === word || slug === word;
}

/** Returns errors: the word may name the other kind. */
async function found<Found>(asked: Promise<Found>): Promise<{ record?: Found; error?: PdError }> {
  try {
    return { record: await asked };
  } catch (error) {
    if (error instanceof PdError && ["PD_SOURCE_NOT_FOUND", "PD_WORKFLOW_NOT_FOUND", "PD_AMBIGUOUS"].includes(error.code)) return { error };
    throw error;
  }
}

function ofBothKinds(word: string, both: readonly Named[]): PdError {
  return new PdError(
    "PD_AMBIGUOUS",
    `A source and a workflow have the name ${JSON.stringify(word)}: ${both.map(({ id, name_slug: slug }) => `${slug} (${id})`).join(", ")}`,
  );
}

export function noHooks(name: string): PdError {
  return new PdError("PD_BAD_INPUT", `Cannot force ${name}: it is a workflow, and has no deactivate hook that could throw`, { fix: "Leave --force out" });
}
