import { setTimeout as sleep } from "node:timers/promises";
import { call, recordOf } from "./api.ts";
import { counter, flow, hooked, passing } from "./components.ts";
import type { Change, History, Request } from "./history.ts";
import type { Random } from "./random.ts";
import type { Tortured } from "./server.ts";
import type { TorturedSource, World } from "./world.ts";

export interface Stage {
  readonly server: Tortured;
  readonly world: World;
  readonly history: History;
  readonly random: Random;
  readonly signal: AbortSignal;
}

const REQUEST_TIMEOUT_MS = 40_000;
let requestCount = 0;

export function now(): number {
  return performance.now();
}

function sourceOf({ sources, flow: workflow }: World, name: string): TorturedSource {
  const found = name === "flow" ? workflow : sources[name];
  if (found === undefined) throw new Error(`there is no source ${name}`);
  return found;
}

export async function requests(
  stage: Stage,
  { source, client, bodyOf, pauseMs = [0, 8] }: { source: string; client: number; bodyOf: (random: Random) => object; pauseMs?: readonly [number, number] },
): Promise<void> {
  const { server, world, history, signal } = stage;
  const random = stage.random.fork();
  const { path } = sourceOf(world, source);
  while (!signal.aborted) {
    const request: Request = { source, id: `${source}-${client}-${++requestCount}`, client, sentAt: now() };
    history.requests.push(request);
    try {
      const answer = await fetch(server.endpointUrl + path, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ ...bodyOf(random), request: request.id }),
        signal: AbortSignal.timeout(REQUEST_TIMEOUT_MS),
      });
      const body = recordOf(JSON.parse((await answer.text()) || "{}"));
      request.endedAt = now();
      request.status = answer.status;
      if (typeof body["code"] === "string") request.code = body["code"];
      if (typeof body["n"] === "number") request.n = body["n"];
      if (typeof body["version"] === "number") request.version = body["version"];
    } catch {
      // An unanswered request may have run. A dead server needs time to restart.
      await sleep(30);
    }
    await sleep(random.between(...pauseMs));
  }
}

async function change(
  stage: Stage,
  given: Pick<Change, "kind" | "source" | "value">,
  [what, body]: readonly [string, object?],
): Promise<Record<string, unknown>> {
  const noted: Change = { ...given, sentAt: now() };
  stage.history.changes.push(noted);
  const outcome = await call(stage.server, what, body);
  if (outcome.kind === "unknown") return {};
  noted.endedAt = now();
  noted.isDone = outcome.status < 300;
  if (!noted.isDone) noted.refusal = `${outcome.status} ${String(outcome.body["code"])}`;
  return recordOf(outcome.body["data"]);
}

export async function updates(stage: Stage): Promise<void> {
  const random = stage.random.fork();
  const { id } = sourceOf(stage.world, "counter");
  for (let version = 1; !stage.signal.aborted; version++) {
    await change(stage, { kind: "update", source: "counter", value: version }, [`PUT /v1/sources/${id}`, { component_code: counter(version) }]);
    await sleep(random.between(200, 1500));
  }
}

/** A run keeps the steps it started with. */
export async function flowUpdates(stage: Stage): Promise<void> {
  const random = stage.random.fork();
  const { record } = sourceOf(stage.world, "flow");
  for (let version = 1; !stage.signal.aborted; version++) {
    await change(stage, { kind: "update", source: "flow", value: version }, [`PUT ${record}`, { files: flow(version) }]);
    await sleep(random.between(300, 2500));
  }
}

export async function switches(stage: Stage): Promise<void> {
  const random = stage.random.fork();
  const { id } = sourceOf(stage.world, "hooked");
  for (let value = 1; !stage.signal.aborted; value++) {
    const kind = random.pick(["update", "activate", "deactivate"] as const) ?? "update";
    const body = kind === "update" ? { component_code: hooked(value) } : { active: kind === "activate" };
    await change(stage, { kind, source: "hooked", value }, [`PUT /v1/sources/${id}`, body]);
    await sleep(random.between(100, 900));
  }
}

export async function passers(stage: Stage): Promise<void> {
  const random = stage.random.fork();
  for (let value = 1; !stage.signal.aborted; value++) {
    const source = `passing-${value}`;
    const made = await change(stage, { kind: "create", source, value }, ["POST /v1/sources", { name: source, component_code: passing(value) }]);
    await sleep(random.between(50, 600));
    if (made["id"] !== undefined && random.chance(0.6)) await change(stage, { kind: "delete", source, value }, [`DELETE /v1/sources/${String(made["id"])}`]);
    await sleep(random.between(50, 600));
  }
}

export async function writers(stage: Stage): Promise<void> {
  const random = stage.random.fork();
  const { id } = sourceOf(stage.world, "plain");
  for (let value = 1; !stage.signal.aborted; value++) {
    await change(stage, { kind: "write", source: "plain", value }, [`PUT /v1/sources/${id}/state/outside`, { value }]);
    await sleep(random.between(50, 500));
  }
}

/** Cuts the connection repeatedly, and resumes after the last event. */
export async function reader(stage: Stage, source: string, isOver: AbortSignal): Promise<void> {
  const { server, world, history } = stage;
  const { id } = sourceOf(world, source);
  const seen: number[] = [];
  history.streams[source] = seen;
  // The stream starts with the first event.
  let last = "0-0";
  while (!isOver.aborted) {
    try {
      const cut = AbortSignal.any([isOver, AbortSignal.timeout(stage.random.between(1500, 6000))]);
      const answer = await fetch(`${server.apiUrl}/sse/dc/${id}/emits`, {
        headers: { authorization: `Bearer ${server.key}`, "last-event-id": last },
        signal: cut,
      });
      if (!answer.ok) await sleep(50);
      else last = await readStream(answer, seen, last);
    } catch {
      await sleep(30);
    }
  }
}

async function readStream(answer: Response, seen: number[], before: string): Promise<string> {
  const decoder = new TextDecoder();
  let [buffer, last] = ["", before];
  try {
    for await (const chunk of answer.body ?? []) {
      buffer += decoder.decode(chunk, { stream: true });
      const parts = buffer.split("\n\n");
      buffer = parts.pop() ?? "";
      for (const part of parts) {
        const id = /^id: ?(.*)$/m.exec(part)?.[1];
        if (id === undefined) continue;
        last = id;
        seen.push(Number(/-(\d+)$/.exec(id)?.[1]));
      }
    }
  } catch {
    // The connection was cut.
  }
  return last;
}
