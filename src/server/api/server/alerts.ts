import { api } from "../../../api/api.ts";
import type { AlertRecord } from "../../../api/alerts.ts";
import type { Alert } from "../../../domain/alert/alert.ts";
import { mailServerIn } from "../../../domain/account/mail.ts";
import type { Engine } from "../../../engine/engine.ts";
import { type Route, route } from "../route.ts";

const { alerts: calls } = api;

export function alertRoutes(engine: Engine): readonly Route[] {
  const { alerts } = engine;
  const scopeOf = (word: string | undefined) => (word === undefined ? undefined : engine.deployed.find(word, "look for alerts of").id);
  return [
    route(calls.list, async ({ params, caller }) => {
      await alerts.load();
      const scope = scopeOf(params.source_id);
      const found = alerts.list.filter((alert) => scope === undefined || alert.scope === scope);
      return { data: await recordsOf(engine, found, caller().isReadOnly) };
    }),
    route(calls.create, async ({ params: { source_id: word, via, daily } }) => {
      const scope = scopeOf(word);
      const made = await alerts.create({ via, isDaily: daily, ...(scope === undefined ? {} : { scope }) });
      const [record] = await recordsOf(engine, [made], false);
      return { data: record ?? recordOf(made, made.via, undefined) };
    }),
    route(calls.delete, async ({ part }) => {
      await alerts.delete(part("id"));
      return { data: { id: part("id"), deleted: true } };
    }),
    route(calls.test, async ({ part }) => {
      const problem = await alerts.test(part("id"));
      return { data: { sent: problem === undefined, problem } };
    }),
  ];
}

/** Readers do not see the address, which is part of an account. */
async function recordsOf(engine: Engine, found: readonly Alert[], isReader: boolean): Promise<AlertRecord[]> {
  const [webhooks, accounts] = [await engine.webhooks.list(), await engine.accounts.list(undefined)];
  const mail = isReader ? "the address of the SMTP settings" : (mailServerIn(accounts)?.to ?? "(no SMTP server is configured)");
  return found.map((alert) => {
    const webhook = webhooks.find(({ id }) => id === alert.via);
    return recordOf(
      alert,
      alert.via === "mail" ? mail : (webhook?.name ?? webhook?.url ?? alert.via),
      alert.scope === undefined ? undefined : engine.deployed.nameOf(alert.scope),
    );
  });
}

function recordOf({ id, scope, via, isDaily, createdAt }: Alert, to: string, name: string | undefined): AlertRecord {
  return { id, source_id: scope ?? null, source_name: name, via, to, daily: isDaily, created_at_ms: createdAt };
}
