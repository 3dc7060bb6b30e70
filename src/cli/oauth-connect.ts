import { once } from "node:events";
import { createServer } from "node:http";
import { finished } from "node:stream/promises";
import { setTimeout as sleep } from "node:timers/promises";
import { PdError } from "../domain/errors.ts";
import { type JsonObject, isJsonObject } from "../domain/json.ts";
import { type ApiClient, dataOf } from "./api-client.ts";
import type { CliContext } from "./context.ts";
import { openInBrowser } from "./open-browser.ts";
import { printNote, text } from "./reporter.ts";

/** What a person is told in the browser once it has sent them back. */
const DONE_PAGE = "<!doctype html><title>Headwater</title><p>Thank you. This window can be closed.</p>";
const REFUSED_PAGE = "<!doctype html><title>Headwater</title><p>Not connected: the terminal says why.</p>";
const PATIENCE_MS = 10 * 60_000;
/** Providers want the exact address registered, so it is the same each time. */
export const REDIRECT_PORT = 4143;

export function redirectUri(port: number): string {
  return `http://127.0.0.1:${port}/callback`;
}

interface Connecting {
  /** Parameters of the API. */
  readonly request: JsonObject;
  readonly port: number;
  readonly signal?: AbortSignal | undefined;
}

/** Takes a person through an OAuth flow. Returns the account's record. */
export async function connectByOAuth(cli: CliContext, client: ApiClient, { request, port, signal }: Connecting): Promise<JsonObject> {
  await using callback = await listenForCallback(port);
  let step = dataOf(await client.post("/v1/accounts/oauth", { ...request, redirect_uri: callback.url }));
  const path = `/v1/accounts/oauth/${text(step, "flow_id")}`;
  if (step["status"] === "visit") {
    printNote(cli, `Open this address, and allow the access:\n${text(step, "url")}`);
    openInBrowser(cli, text(step, "url"));
    const state = new URL(text(step, "url")).searchParams.get("state");
    step = await finish(client, path, await callback.arrived(state, signal));
  }
  if (step["status"] === "enter-code") {
    printNote(cli, `Open ${text(step, "url")} and enter ${text(step, "user_code")}`);
    step = await untilGranted(client, path, { step, signal });
  }
  return isJsonObject(step["account"]) ? step["account"] : {};
}

/** The person learns in the browser what came of it. */
async function finish(client: ApiClient, path: string, arrival: Arrival): Promise<JsonObject> {
  try {
    const step = dataOf(await client.post(path, { callback_url: arrival.url }));
    await arrival.show(DONE_PAGE);
    return step;
  } catch (error) {
    await arrival.show(REFUSED_PAGE);
    throw error;
  }
}

async function untilGranted(
  client: ApiClient,
  path: string,
  { step: first, signal }: { step: JsonObject; signal: AbortSignal | undefined },
): Promise<JsonObject> {
  const endsAt = Date.now() + Number(first["expires_in_ms"]);
  let pause = Number(first["interval_ms"]);
  while (Date.now() < endsAt) {
    await sleep(pause, undefined, { signal });
    const step = dataOf(await client.post(path, {}));
    if (step["status"] !== "pending") return step;
    pause = Number(step["interval_ms"]);
  }
  throw new PdError("PD_OAUTH_FAILED", "Cannot connect the account: nobody entered the code in time", { fix: "Try again" });
}

/** A person who was sent back by a provider, and waits for a page. */
interface Arrival {
  readonly url: string;
  /** Resolves when they have it, or have gone. */
  show(page: string): Promise<void>;
}

/** The address on this machine that a provider sends the person back to. Throws PD_PORT_TAKEN. */
async function listenForCallback(port: number) {
  let arrive = (_arrival: Arrival): void => {};
  let wanted: string | null = null;
  const arrived = new Promise<Arrival>((resolve) => (arrive = resolve));
  const server = createServer((request, response) => {
    const url = new URL(request.url ?? "/", "http://127.0.0.1");
    if (url.pathname !== "/callback") return response.writeHead(404).end();
    // Whatever else comes by here is not the answer of the provider.
    if (wanted === null || url.searchParams.get("state") !== wanted) return response.writeHead(400).end();
    arrive({
      url: url.href,
      show(page) {
        response.writeHead(200, { "content-type": "text/html; charset=utf-8" }).end(page);
        return finished(response).catch(() => {});
      },
    });
  }).listen(port, "127.0.0.1");
  await once(server, "listening").catch((error: unknown) => {
    throw new PdError("PD_PORT_TAKEN", `Cannot wait for the provider on port ${port}: it is taken`, { cause: error, fix: "Give another with --redirect-port" });
  });
  const address = server.address();
  const url = redirectUri(typeof address === "object" && address !== null ? address.port : port);
  const late = (signal: AbortSignal | undefined): Promise<never> =>
    sleep(PATIENCE_MS, undefined, { ref: false, signal }).then(() => {
      throw new PdError("PD_OAUTH_FAILED", "Cannot connect the account: nobody came back from the provider in time", { fix: "Try again" });
    });
  return {
    url,
    /** Resolves when the provider has sent the person back, with this state. */
    arrived(state: string | null, signal: AbortSignal | undefined) {
      wanted = state;
      return Promise.race([arrived, late(signal)]);
    },
    async [Symbol.asyncDispose]() {
      server.close();
      server.closeAllConnections();
    },
  };
}
