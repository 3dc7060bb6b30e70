import { type Server, createServer } from "node:http";
import { callUntilDone, listOf, recordOf } from "./api.ts";
import { DEDUPED, LARGE, LISTENER, PLAIN, SLOW, TICKER, counter, flow, hooked } from "./components.ts";
import type { History } from "./history.ts";
import type { Random } from "./random.ts";
import type { Tortured } from "./server.ts";

export interface TorturedSource {
  readonly id: string;
  readonly slug: string;
  readonly record: string;
  readonly path: string;
}

export interface World {
  readonly sources: Readonly<Record<string, TorturedSource>>;
  readonly flow: TorturedSource;
  /** Name → id of the webhook. */
  readonly webhooks: Readonly<Record<string, string>>;
  readonly receivers: readonly Server[];
}

const CODE: Readonly<Record<string, string>> = {
  counter: counter(0),
  plain: PLAIN,
  slow: SLOW,
  deduped: DEDUPED,
  large: LARGE,
  ticker: TICKER,
  listener: LISTENER,
  hooked: hooked(0),
};

export async function makeWorld(server: Tortured, history: History, random: Random): Promise<World> {
  const sources: Record<string, TorturedSource> = {};
  for (const [name, code] of Object.entries(CODE)) sources[name] = await deploy(server, name, code);
  const ids = Object.fromEntries(Object.entries(sources).map(([name, { id }]) => [name, id]));
  await callUntilDone(server, "POST /v1/subscriptions", { emitter_id: ids["counter"], listener_id: ids["listener"] });
  const [webhooks, receivers]: [Record<string, string>, Server[]] = [{}, []];
  for (const kind of ["good", "bad"] as const) {
    const taken: History["received"][string] = [];
    history.received[kind] = taken;
    const { receiver, url } = await startReceiver({ kind, taken, random: random.fork() });
    receivers.push(receiver);
    const made = recordOf((await callUntilDone(server, "POST /v1/webhooks", { url }))["data"]);
    webhooks[kind] = String(made["id"]);
    for (const emitter of ["counter", "plain"])
      await callUntilDone(server, "POST /v1/subscriptions", { emitter_id: ids[emitter], listener_id: webhooks[kind] });
    await callUntilDone(server, "POST /v1/subscriptions", { emitter_id: ids["large"], listener_id: webhooks[kind], event_name: "told" });
  }
  return { sources, flow: await deployFlow(server), webhooks, receivers };
}

async function deploy(server: Tortured, name: string, code: string): Promise<TorturedSource> {
  const record = recordOf((await callUntilDone(server, "POST /v1/sources", { name, component_code: code }))["data"]);
  return tortured(record, { kind: "sources", endpoint: record["endpoint_url"] });
}

async function deployFlow(server: Tortured): Promise<TorturedSource> {
  const record = recordOf((await callUntilDone(server, "POST /v1/workflows", { files: flow(0) }))["data"]);
  return tortured(record, { kind: "workflows", endpoint: listOf(record["triggers"])[0]?.["endpoint_url"] });
}

function tortured(record: Record<string, unknown>, { kind, endpoint }: { kind: "sources" | "workflows"; endpoint: unknown }): TorturedSource {
  const id = String(record["id"]);
  const path = typeof endpoint === "string" ? new URL(endpoint).pathname : "";
  return { id, slug: String(record["name_slug"]), record: `/v1/${kind}/${id}`, path };
}

interface Receiving {
  readonly kind: "good" | "bad";
  readonly taken: { id: string; payload: string }[];
  readonly random: Random;
}

function startReceiver({ kind, taken, random }: Receiving): Promise<{ receiver: Server; url: string }> {
  const receiver = createServer((request, response) => {
    let payload = "";
    request.setEncoding("utf8").on("data", (chunk: string) => (payload += chunk));
    request.once("end", () => {
      const fate = kind === "good" ? 1 : random.next();
      if (fate < 0.1) return response.writeHead(500).end();
      if (fate < 0.15) return request.socket.destroy();
      if (fate < 0.18) return setTimeout(() => response.end(), 16_000).unref();
      taken.push({ id: String(request.headers["webhook-id"]), payload });
      return fate < 0.2 ? request.socket.destroy() : response.end();
    });
  });
  return new Promise((resolve) =>
    receiver.listen(0, "127.0.0.1", () => {
      const address = receiver.address();
      resolve({ receiver, url: `http://127.0.0.1:${typeof address === "object" && address !== null ? address.port : 0}/` });
    }),
  );
}
