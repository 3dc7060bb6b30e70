import { PdError } from "../../domain/errors.ts";
import { didYouMean } from "../../domain/text/did-you-mean.ts";
import { everyPage } from "../../client/client.ts";
import type { Project, WebhookEntry } from "./project-schema.ts";
import { type ProjectContext, NOTHING, type Step } from "./step.ts";

/** Deletes no data store, whose values have no other copy. */
export async function planStores({ client }: ProjectContext, names: readonly string[]): Promise<readonly Step[]> {
  if (names.length === 0) return [];
  const known = new Set((await client.dataStores.list()).map(({ name }) => name));
  return names.map((name): Step => {
    const kind = "data store";
    if (known.has(name)) return { kind, name, action: "unchanged", changes: [], perform: NOTHING };
    return { kind, name, action: "create", changes: [], perform: () => client.dataStores.create({ name }) };
  });
}

/** Throws PD_AMBIGUOUS. */
export function planWebhook({ client, webhooks }: ProjectContext, name: string, { url: given, description, active = true }: WebhookEntry): Step {
  const url = URL.canParse(given) ? new URL(given).href : given;
  const named = webhooks.filter((webhook) => webhook.name === name);
  // An unnamed webhook with this url gets the name.
  const found = named.length > 0 ? named : webhooks.filter((webhook) => webhook.name === null && webhook.url === url).slice(0, 1);
  if (found.length > 1)
    throw new PdError("PD_AMBIGUOUS", `Cannot apply webhook ${name}: ${found.length} webhooks have this name: ${found.map(({ id }) => id).join(", ")}`, {
      fix: "Delete the others: pd webhooks delete <id>",
    });
  const [before] = found;
  const kind = "webhook";
  const wanted = { url, name, ...(description === undefined ? {} : { description }) };
  if (before === undefined) {
    const create = async (): Promise<unknown> => {
      const made = await client.webhooks.create(wanted);
      return active ? made : client.webhooks.update(made.id, { active });
    };
    return { kind, name, action: "create", changes: [`  ${shownUrl(url)}`], perform: create };
  }
  const changes = [
    ...(before.name === name ? [] : [`~ name: ${before.id} → ${name}`]),
    ...(before.url === url ? [] : [`~ url: ${shownUrl(before.url)} → ${shownUrl(url)}`]),
    ...(description === undefined || before.description === description ? [] : ["~ description"]),
    ...(before.active === active ? [] : [`~ active: ${before.active} → ${active}`]),
  ];
  if (changes.length === 0) return { kind, name, action: "unchanged", changes, perform: NOTHING };
  return { kind, name, action: "update", changes, perform: () => client.webhooks.update(before.id, { ...wanted, active }) };
}

/** Paths and queries may be secret. */
function shownUrl(url: string): string {
  return URL.canParse(url) ? `${new URL(url).origin}/…` : "…";
}

interface Delivery {
  readonly emitter: string;
  readonly to: string;
  readonly event: string;
}

export async function planDeliveries(context: ProjectContext, project: Project): Promise<readonly Step[]> {
  const saying = Object.entries({ ...project.sources, ...project.workflows }).filter(([, { deliver_to: to }]) => to !== undefined);
  if (saying.length === 0) return [];
  const names = namesOf(context, project);
  const wanted = saying.flatMap(([emitter, { deliver_to: all = [] }]) =>
    all.map((one): Delivery => (typeof one === "string" ? { emitter, to: one, event: "" } : { emitter, to: one.to, event: one.event })),
  );
  for (const { emitter, to } of wanted) {
    if (names.has(to)) continue;
    throw new PdError(
      "PD_BAD_INPUT",
      `Cannot deliver what ${emitter} emits to ${JSON.stringify(to)}: no webhook, source or workflow has this name${didYouMean(to, names)}`,
    );
  }
  const nameOf = new Map([...context.sources, ...context.workflows].map(({ id, name_slug: slug }) => [id, slug]));
  for (const { id, name } of context.webhooks) if (name !== null) nameOf.set(id, name);
  const emitters = new Set(saying.map(([emitter]) => emitter));
  const there = (await context.client.subscriptions.list()).map(({ emitter_id: from, listener_id: to, event_name: event }) => ({
    ids: { emitter_id: from, listener_id: to, event_name: event },
    delivery: { emitter: nameOf.get(from) ?? from, to: nameOf.get(to) ?? to, event },
  }));
  const known = new Set(there.map(({ delivery }) => textOf(delivery)));
  const added = wanted.map((delivery): Step => {
    const name = textOf(delivery);
    if (known.has(name)) return { kind: "delivery", name, action: "unchanged", changes: [], perform: NOTHING };
    return { kind: "delivery", name, action: "create", changes: [], perform: () => subscribe(context, delivery) };
  });
  const kept = new Set(wanted.map(textOf));
  // Subscriptions to alerts and logs end only explicitly.
  const gone = there.filter(({ delivery }) => emitters.has(delivery.emitter) && !delivery.event.startsWith("$") && !kept.has(textOf(delivery)));
  const ended = gone.map(({ ids, delivery }): Step => {
    const perform = (): Promise<unknown> => context.client.subscriptions.delete(ids);
    return { kind: "delivery", name: textOf(delivery), action: "delete", changes: [], perform };
  });
  return [...added, ...ended];
}

function namesOf({ sources, workflows, webhooks }: ProjectContext, project: Project): ReadonlySet<string> {
  return new Set([
    ...Object.keys({ ...project.sources, ...project.workflows, ...project.webhooks }),
    ...[...sources, ...workflows].map(({ name_slug: slug }) => slug),
    ...webhooks.flatMap(({ name }) => (name === null ? [] : [name])),
  ]);
}

function textOf({ emitter, to, event }: Delivery): string {
  return `${emitter}${event === "" ? "" : ` (${event})`} → ${to}`;
}

/** An earlier step may have created an end. */
async function subscribe({ client }: ProjectContext, { emitter, to, event }: Delivery): Promise<unknown> {
  const webhook = (await everyPage(client.webhooks.list)).find(({ name }) => name === to);
  const idOf = async (slug: string): Promise<string> => {
    const source = await client.sources.get(slug).catch(() => undefined);
    return source?.id ?? (await client.workflows.get(slug)).id;
  };
  return client.subscriptions.create({ emitter_id: await idOf(emitter), listener_id: webhook?.id ?? (await idOf(to)), event_name: event });
}
