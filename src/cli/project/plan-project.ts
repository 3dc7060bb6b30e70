import type { Client } from "../../client/client.ts";
import { planDeliveries, planStores, planWebhook } from "./plan-rest.ts";
import { planSource } from "./plan-source.ts";
import { planWorkflow } from "./plan-workflow.ts";
import type { ReadProject } from "./read-project.ts";
import { type ProjectContext, NOTHING, type Step, readContext } from "./step.ts";

/** Orders the steps by their dependencies. */
export async function planProject(
  client: Client,
  { folder, project, written, lineOf }: ReadProject,
  { prunes }: { prunes: boolean },
): Promise<readonly Step[]> {
  const context = await readContext(client, folder);
  const steps: Step[] = [...(await planStores(context, project.data_stores ?? []))];
  for (const [name, entry] of Object.entries(project.webhooks ?? {})) steps.push(planWebhook(context, name, entry));
  for (const [slug, entry] of Object.entries(project.sources ?? {}))
    steps.push(await planSource(context, { slug, entry, written: written.sources?.[slug] ?? entry, lineOf }));
  const created = Object.keys(project.sources ?? {});
  for (const [slug, entry] of Object.entries(project.workflows ?? {}))
    steps.push(await planWorkflow({ ...context, created }, slug, { entry, written: written.workflows?.[slug] ?? entry }));
  steps.push(...(await planDeliveries(context, project)));
  return [...steps, ...planExtra(context, { project, prunes })];
}

function planExtra(
  { client, sources, workflows, webhooks }: ProjectContext,
  { project, prunes }: { project: ReadProject["project"]; prunes: boolean },
): readonly Step[] {
  const action = prunes ? "delete" : "extra";
  const changes: readonly string[] = [];
  return [
    ...workflows
      .filter(({ name_slug: slug }) => project.workflows?.[slug] === undefined)
      .map(({ id, name_slug: name }): Step => ({ kind: "workflow", name, action, changes, perform: prunes ? () => client.workflows.delete(id) : NOTHING })),
    ...sources
      .filter(({ name_slug: slug }) => project.sources?.[slug] === undefined)
      .map(({ id, name_slug: name }): Step => ({ kind: "source", name, action, changes, perform: prunes ? () => client.sources.delete(id, {}) : NOTHING })),
    ...webhooks
      .filter(({ name, url }) =>
        name === null ? !Object.values(project.webhooks ?? {}).some((entry) => entry.url === url) : project.webhooks?.[name] === undefined,
      )
      .map(({ id, name }): Step => ({ kind: "webhook", name: name ?? id, action, changes, perform: prunes ? () => client.webhooks.delete(id) : NOTHING })),
  ];
}
