import { setTimeout as sleep } from "node:timers/promises";
import { PdError } from "../domain/errors.ts";
import { type JsonObject, isJsonObject } from "../domain/json.ts";
import { type ApiClient, dataOf } from "./api-client.ts";
import type { CliContext } from "./context.ts";
import { type Arrival, type Callback, listenForCallback, pastedCallback } from "./oauth-callback.ts";
import { openInBrowser } from "./open-browser.ts";
import { printNote, text } from "./reporter.ts";

/** What a person is told in the browser once it has sent them back. */
const DONE_PAGE = "<!doctype html><title>Headwater</title><p>Thank you. This window can be closed.</p>";
const REFUSED_PAGE = "<!doctype html><title>Headwater</title><p>Not connected: the terminal says why.</p>";
interface Connecting {
  /** Parameters of the API. */
  readonly request: JsonObject;
  /** Of the address that a person comes back to; or that address, when it is elsewhere. */
  readonly redirect: number | string;
  readonly signal?: AbortSignal | undefined;
}

/** Flows in which nobody is sent anywhere. */
const WITHOUT_CALLBACK = ["device_code", "client_credentials"];

/** Takes a person through an OAuth flow. Returns the account's record. */
export async function connectByOAuth(cli: CliContext, client: ApiClient, { request, redirect, signal }: Connecting): Promise<JsonObject> {
  const hasCallback = !WITHOUT_CALLBACK.includes(text(request, "flow"));
  await using callback = !hasCallback ? undefined : typeof redirect === "number" ? await listenForCallback(redirect) : pastedCallback(cli, redirect);
  let step = dataOf(await client.post("/v1/accounts/oauth", callback === undefined ? request : { ...request, redirect_uri: callback.url }));
  const path = `/v1/accounts/oauth/${text(step, "flow_id")}`;
  if (step["status"] === "visit" && callback !== undefined) step = await visit(cli, client, { path, url: text(step, "url"), callback, signal });
  if (step["status"] === "enter-code") {
    printNote(cli, `Open ${text(step, "url")} and enter ${text(step, "user_code")}`);
    step = await untilGranted(client, path, { step, signal });
  }
  return isJsonObject(step["account"]) ? step["account"] : {};
}

interface Visit {
  readonly path: string;
  /** Where the person goes. */
  readonly url: string;
  readonly callback: Callback;
  readonly signal: AbortSignal | undefined;
}

async function visit(cli: CliContext, client: ApiClient, { path, url, callback, signal }: Visit): Promise<JsonObject> {
  printNote(cli, `Open this address within ten minutes, and allow the access:\n${url}`);
  openInBrowser(cli, url);
  return finish(client, path, await callback.arrived(new URL(url).searchParams.get("state"), signal));
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
  throw new PdError("PD_OAUTH_FAILED", "Cannot connect the account: nobody has entered the code in time", { fix: "Try again" });
}
