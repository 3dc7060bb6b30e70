import { setTimeout as sleep } from "node:timers/promises";
import { callUntilDone, listOf, recordOf } from "./api.ts";
import type { Final, History, StoredEvent } from "./history.ts";
import type { Tortured } from "./server.ts";
import type { World } from "./world.ts";

const PAGE = 1000;
const QUIET_MS = 2500;
/** Without any progress. */
const STUCK_AFTER_MS = 150_000;
/** A server that never comes to rest is broken as well. */
const MOST_MS = 1_200_000;

export async function readFinal(server: Tortured, world: World): Promise<Final> {
  // A firing timer could make the answers below disagree.
  await callUntilDone(server, `PUT /v1/sources/${world.sources["ticker"]?.id}`, { active: false });
  const unfinished = await untilQuiet(server, world);
  const [events, state]: [Record<string, readonly StoredEvent[]>, Record<string, Record<string, unknown>>] = [{}, {}];
  for (const [name, { record }] of Object.entries(world.sources)) {
    events[name] = await eventsOf(server, record);
    state[name] = recordOf((await callUntilDone(server, `GET ${record}/state`))["data"]);
  }
  events["flow"] = await eventsOf(server, world.flow.record);
  const ticker = world.sources["ticker"]?.id ?? "";
  const instants = listOf((await callUntilDone(server, `GET /v1/sources/${ticker}/timer_instants?limit=${PAGE}`))["data"]);
  const deliveries: Record<string, Record<string, string>> = {};
  for (const [name, id] of Object.entries(world.webhooks)) deliveries[name] = await deliveriesOf(server, id);
  const flow = await callUntilDone(server, `GET ${world.flow.record}`);
  const failed = listOf((await callUntilDone(server, `GET ${world.flow.record}/runs?states=failed&limit=1000`))["data"]);
  return {
    events,
    state,
    flow: {
      timeout: Number(recordOf(flow["settings"])["timeout"]),
      triggers: listOf(flow["triggers"]).map(triggerName),
      failures: [...new Set(failed.map(({ failure }) => JSON.stringify(failure)))],
    },
    instants: {
      ticker: instants.map((instant) => ({
        planned: Number(instant["planned_at_ms"]),
        last: Number(instant["last_planned_at_ms"]),
        count: Number(instant["count"]),
        state: String(instant["state"]),
      })),
    },
    sources: await sourcesOf(server),
    deliveries,
    unfinished,
  };
}

/** Returns what is pending. Empty once the server is idle. */
async function untilQuiet(server: Tortured, world: World): Promise<readonly string[]> {
  let [before, since] = ["", Date.now()];
  for (const started = Date.now(); Date.now() - since < STUCK_AFTER_MS && Date.now() - started < MOST_MS; await sleep(300)) {
    const status = await busyness(server, world);
    if (status.text !== before) [before, since] = [status.text, Date.now()];
    if (Date.now() - since > QUIET_MS && status.pending === 0) return [];
  }
  return [`after ${Math.round((Date.now() - since) / 1000)} s without progress: ${before}`];
}

/** `pending` excludes the bad webhook, whose deliveries never finish. */
async function busyness(server: Tortured, world: World): Promise<{ text: string; pending: number }> {
  const counts: string[] = [];
  for (const [name, { record }] of Object.entries({ ...world.sources, flow: world.flow })) {
    const page = recordOf((await callUntilDone(server, `GET ${record}/event_summaries?limit=1`))["page_info"]);
    counts.push(`${name} ${String(page["total_count"])}`);
  }
  const good = recordOf((await callUntilDone(server, `GET /v1/webhooks/${world.webhooks["good"]}`))["data"]);
  const heard = listOf((await callUntilDone(server, `GET /v1/sources/${world.sources["listener"]?.id}/deliveries?limit=1000&state=pending`))["data"]);
  // Skips the growing pause between attempts.
  if (Number(recordOf(good["deliveries"])["pending"]) > 0) await callUntilDone(server, `POST /v1/webhooks/${world.webhooks["good"]}/deliveries/retry`, {});
  const runs = await openRuns(server, world);
  const sent = Number(recordOf(good["deliveries"])["pending"]);
  const waiting = `deliveries that wait: ${sent} and ${heard.length}, runs: ${runs.join(", ") || "none"}`;
  return { text: `${counts.join(", ")}, ${waiting}`, pending: sent + heard.length + runs.length };
}

function triggerName({ kind, active, next_at_ms: next }: Record<string, unknown>): string {
  return active !== true || (kind === "schedule" && next === undefined) ? `dead ${String(kind)}` : String(kind);
}

/** Each as `id state: the state of each step`. */
async function openRuns(server: Tortured, { flow }: World): Promise<readonly string[]> {
  const runs = listOf((await callUntilDone(server, `GET ${flow.record}/runs?states=running,waiting&limit=100`))["data"]);
  return Promise.all(
    runs.map(async ({ id, state }) => {
      const steps = listOf((await callUntilDone(server, `GET /v1/runs/${String(id)}/steps`))["data"]);
      return `${String(id)} ${String(state)}: ${steps.map((step) => `${String(step["namespace"])} ${String(step["state"])}`).join(" ")}`;
    }),
  );
}

async function eventsOf(server: Tortured, record: string): Promise<StoredEvent[]> {
  const events: StoredEvent[] = [];
  for (let after = ""; ;) {
    const page = await callUntilDone(server, `GET ${record}/event_summaries?expand=event&limit=${PAGE}${after}`);
    const found = listOf(page["data"]);
    events.push(...found.map((one) => ({ id: String(one["id"]), event: one["event"] })));
    if (found.length < PAGE) return events.toReversed();
    after = `&after=${String(found.at(-1)?.["id"])}`;
  }
}

async function deliveriesOf(server: Tortured, id: string): Promise<Record<string, string>> {
  const states: Record<string, string> = {};
  for (let before = ""; ;) {
    const found = listOf((await callUntilDone(server, `GET /v1/webhooks/${id}/deliveries?limit=${PAGE}${before}`))["data"]);
    for (const one of found) states[String(one["message_id"])] = String(one["state"]);
    if (found.length < PAGE) return states;
    before = `&before=${String(found.at(-1)?.["id"])}`;
  }
}

async function sourcesOf(server: Tortured): Promise<Final["sources"]> {
  const all: Record<string, unknown>[] = [];
  for (let after = ""; ;) {
    const page = await callUntilDone(server, `GET /v1/users/me/sources?limit=${PAGE}${after}`);
    const found = listOf(page["data"]);
    all.push(...found);
    if (found.length < PAGE) break;
    after = `&after=${String(recordOf(page["page_info"])["end_cursor"])}`;
  }
  return all.map((one) => ({ slug: String(one["name_slug"]), active: one["active"] === true, version: String(one["component_version"]) }));
}

export async function untilRead(history: History, final: Final): Promise<void> {
  for (let tries = 0; tries < 200; tries++) {
    const isBehind = Object.entries(history.streams).some(([source, seen]) => seen.length < (final.events[source]?.length ?? 0));
    if (!isBehind) return;
    await sleep(100);
  }
}
