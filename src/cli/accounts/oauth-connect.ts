import { setTimeout as sleep } from "node:timers/promises";
import type { AccountRecord, OAuthInput, OAuthStepRecord } from "../../api/accounts.ts";
import type { Client } from "../../client/client.ts";
import { PdError } from "../../domain/errors.ts";
import type { CliContext } from "../context.ts";
import { type Arrival, type Callback, listenForCallback, pastedCallback } from "./oauth-callback.ts";
import { openInBrowser, webAddress } from "../open-browser.ts";
import { printNote } from "../reporter.ts";

const DONE_PAGE = "<!doctype html><title>Headwater</title><p>Thank you. This window can be closed.</p>";
const REFUSED_PAGE = "<!doctype html><title>Headwater</title><p>Not connected. The terminal shows why.</p>";
interface Connecting {
  readonly request: OAuthInput;
  /** Port on this machine, or address on another. */
  readonly redirect: number | string;
  readonly signal?: AbortSignal | undefined;
}

const WITHOUT_CALLBACK = ["device_code", "client_credentials"];

/** Throws PD_OAUTH_FAILED. */
export async function connectByOAuth(cli: CliContext, client: Client, { request, redirect, signal }: Connecting): Promise<AccountRecord> {
  const hasCallback = !WITHOUT_CALLBACK.includes(request.flow ?? "");
  await using callback = !hasCallback ? undefined : typeof redirect === "number" ? await listenForCallback(redirect) : pastedCallback(cli, redirect);
  let step = await client.accounts.startOAuth(callback === undefined ? request : { ...request, redirect_uri: callback.url });
  const flowId = step.flow_id ?? "";
  const url = step.url === undefined ? "" : webAddress(step.url);
  if (step.status === "visit" && callback !== undefined) step = await visit(cli, client, { flowId, url, callback, signal });
  if (step.status === "enter-code") {
    printNote(cli, `Open ${url} and enter ${step.user_code ?? ""}`);
    step = await untilGranted(client, flowId, { step, signal });
  }
  if (step.account === undefined)
    throw new PdError("PD_OAUTH_FAILED", `Cannot connect the account: the server asks for ${step.status}, which is not supported here`);
  return step.account;
}

interface Visit {
  readonly flowId: string;
  readonly url: string;
  readonly callback: Callback;
  readonly signal: AbortSignal | undefined;
}

async function visit(cli: CliContext, client: Client, { flowId, url, callback, signal }: Visit): Promise<OAuthStepRecord> {
  printNote(cli, `Open this address within ten minutes, and allow the access:\n${url}`);
  openInBrowser(cli, url, { isShown: true });
  return finish(client, flowId, await callback.arrived(new URL(url).searchParams.get("state"), signal));
}

async function finish(client: Client, flowId: string, arrival: Arrival): Promise<OAuthStepRecord> {
  try {
    const step = await client.accounts.resumeOAuth(flowId, { callback_url: arrival.url });
    await arrival.show(DONE_PAGE);
    return step;
  } catch (error) {
    await arrival.show(REFUSED_PAGE);
    throw error;
  }
}

async function untilGranted(
  client: Client,
  flowId: string,
  { step: first, signal }: { step: OAuthStepRecord; signal: AbortSignal | undefined },
): Promise<OAuthStepRecord> {
  const endsAt = Date.now() + (first.expires_in_ms ?? 0);
  let pause = first.interval_ms;
  while (Date.now() < endsAt) {
    await sleep(pause, undefined, { signal });
    const step = await client.accounts.resumeOAuth(flowId);
    if (step.status !== "pending") return step;
    pause = step.interval_ms;
  }
  throw new PdError("PD_OAUTH_FAILED", "Cannot connect the account: the code was not entered in time", { fix: "Connect again" });
}
