import type { Account } from "../domain/account.ts";
import { PdError } from "../domain/errors.ts";
import type { JsonObject } from "../domain/json.ts";
import {
  type GrantedTokens,
  type OAuthClient,
  type OAuthFlow,
  type OAuthGrant,
  type OAuthProvider,
  type TokenAnswer,
  grantAfter,
  oauthCredentials,
  providerOf,
} from "../domain/oauth.ts";
import type { Authorization, DeviceAuthorization } from "../ports/oauth-server.ts";
import type { Accounts } from "./accounts.ts";
import type { EnginePorts } from "./ports.ts";

export interface OAuthRequest {
  readonly app: string;
  readonly name?: string;
  /** The account that gets new tokens; absent: a new one. */
  readonly account?: Account;
  readonly flow: OAuthFlow;
  readonly clientId: string;
  readonly clientSecret?: string;
  readonly scopes?: readonly string[];
  /** Where the provider sends the person back to. */
  readonly redirectUri?: string;
  /** For apps whose provider is not known, or stands elsewhere. */
  readonly addresses: Partial<Pick<OAuthProvider, "authorizeUrl" | "tokenUrl" | "deviceUrl">>;
  /** Other fields of the account, which addresses may name. */
  readonly fields: JsonObject;
}

/** What a person has to do, or the account when nothing is left to do. */
export type OAuthStep =
  | { readonly kind: "visit"; readonly flowId: string; readonly url: string }
  | {
      readonly kind: "enter-code";
      readonly flowId: string;
      readonly userCode: string;
      readonly url: string;
      readonly intervalMs: number;
      readonly expiresInMs: number;
    }
  /** Not yet: ask again after this time. */
  | { readonly kind: "pending"; readonly intervalMs: number }
  | { readonly kind: "connected"; readonly account: Account };

interface OpenFlow {
  readonly request: OAuthRequest;
  readonly client: OAuthClient;
  readonly scope: string;
  readonly step:
    | { readonly kind: "code"; readonly authorization: Authorization }
    | { readonly kind: "device"; readonly device: DeviceAuthorization; intervalMs: number };
  readonly endsAt: number;
}

const FLOW_MS = 10 * 60_000;
const SLOWER_MS = 5000;

/** Connects accounts by OAuth 2 with the user's own client. Flows that nobody finishes are forgotten. */
export class OAuthFlows {
  readonly #ports: Pick<EnginePorts, "clock" | "oauth" | "credentials">;
  readonly #accounts: Accounts;
  readonly #open = new Map<string, OpenFlow>();

  constructor(ports: Pick<EnginePorts, "clock" | "oauth" | "credentials">, accounts: Accounts) {
    this.#ports = ports;
    this.#accounts = accounts;
  }

  /** Throws PD_BAD_INPUT for what cannot be begun, PD_OAUTH_FAILED for what the provider refuses. */
  async start(request: OAuthRequest): Promise<OAuthStep> {
    if (request.account === undefined) this.#accounts.check(request.app, request.name);
    const provider = settled(request);
    const { oauth, clock, credentials } = this.#ports;
    const askedAt = clock.now();
    const { signal } = credentials;
    const client = clientOf(request, provider);
    const scope = (request.scopes ?? provider.scopes).join(provider.scopeSeparator ?? " ");
    const begun = { request, client, scope };
    if (request.flow === "client_credentials") return this.#finish(begun, { askedAt, answer: await oauth.clientCredentials(client, scope, signal) });
    if (request.flow === "device_code") {
      const device = await oauth.authorizeDevice(client, { deviceUrl: wanted(provider.deviceUrl, request.app, "device_url"), scope }, signal);
      const { userCode, verificationUrl: url, intervalMs, expiresInMs } = device;
      return {
        kind: "enter-code",
        flowId: this.#keep({ ...begun, step: { kind: "device", device, intervalMs } }, expiresInMs),
        userCode,
        url,
        intervalMs,
        expiresInMs,
      };
    }
    const authorization = await oauth.authorize({
      client,
      authorizeUrl: wanted(provider.authorizeUrl, request.app, "authorize_url"),
      redirectUri: wanted(request.redirectUri, request.app, "redirect_uri"),
      parameters: { ...provider.authorizeParameters, ...(scope === "" ? {} : { [provider.scopeParameter ?? "scope"]: scope }) },
    });
    return { kind: "visit", flowId: this.#keep({ ...begun, step: { kind: "code", authorization } }, FLOW_MS), url: authorization.url };
  }

  /** `callback`: where the provider has sent the person; a device flow needs none. Throws PD_NOT_FOUND, PD_OAUTH_FAILED. */
  async resume(flowId: string, callback: string | undefined): Promise<OAuthStep> {
    const flow = this.#open.get(flowId);
    if (flow === undefined || this.#ports.clock.now() > flow.endsAt) {
      this.#open.delete(flowId);
      throw new PdError("PD_NOT_FOUND", `Cannot go on with ${JSON.stringify(flowId)}: this connection has ended, or was never begun`, {
        fix: "pd accounts connect <app>",
      });
    }
    const { clock, credentials } = this.#ports;
    const { signal } = credentials;
    const askedAt = clock.now();
    if (flow.step.kind === "code") {
      const url = wanted(callback, flow.request.app, "callback_url");
      this.#open.delete(flowId);
      return this.#finish(flow, { askedAt, answer: await flow.step.authorization.finish(url, signal) });
    }
    const answer = await flow.step.device.poll(signal);
    if (answer.kind === "refused" && answer.code === "slow_down") flow.step.intervalMs += SLOWER_MS;
    const isWaiting = answer.kind === "unreachable" || (answer.kind === "refused" && ["authorization_pending", "slow_down"].includes(answer.code));
    if (isWaiting) return { kind: "pending", intervalMs: flow.step.intervalMs };
    this.#open.delete(flowId);
    return this.#finish(flow, { askedAt, answer });
  }

  #keep(flow: Omit<OpenFlow, "endsAt">, lastsMs: number): string {
    const { clock } = this.#ports;
    for (const [id, { endsAt }] of this.#open) if (clock.now() > endsAt) this.#open.delete(id);
    const flowId = `flow_${clock.randomText(24)}`;
    this.#open.set(flowId, { ...flow, endsAt: clock.now() + lastsMs });
    return flowId;
  }

  async #finish(
    { request, client, scope }: Pick<OpenFlow, "request" | "client" | "scope">,
    { askedAt, answer }: { askedAt: number; answer: TokenAnswer },
  ): Promise<OAuthStep> {
    const { app, flow, fields, name, account } = request;
    if (answer.kind !== "granted") throw new PdError("PD_OAUTH_FAILED", `Cannot connect ${app}: ${answer.reason}`);
    const oauth = grantAfter({ flow, client, scope, grantedAt: askedAt }, answer.tokens, askedAt);
    const credentials = oauthCredentials({ ...fields, ...extras(answer.tokens) }, oauth, answer.tokens);
    return {
      kind: "connected",
      account: await this.#accounts.keep({
        app,
        credentials,
        oauth,
        ...(name === undefined ? {} : { name }),
        ...(account === undefined ? {} : { before: account }),
      }),
    };
  }
}

function clientOf({ clientId, clientSecret }: OAuthRequest, { authorizeUrl, tokenUrl, deviceUrl, hasBasicAuth, ...rest }: OAuthProvider): OAuthClient {
  const { tokenMember, lifetimeMs } = rest;
  return {
    id: clientId,
    tokenUrl,
    ...(authorizeUrl === "" ? {} : { authorizeUrl }),
    ...(deviceUrl === undefined ? {} : { deviceUrl }),
    ...(clientSecret === undefined ? {} : { secret: clientSecret }),
    ...(hasBasicAuth === true ? { hasBasicAuth } : {}),
    ...(tokenMember === undefined ? {} : { tokenMember }),
    ...(lifetimeMs === undefined ? {} : { lifetimeMs }),
  };
}

/** Addresses that some providers tell with their tokens, and components read. */
function extras({ rest }: GrantedTokens): JsonObject {
  const instance = rest["instance_url"];
  return typeof instance === "string" ? { instance_url: instance } : {};
}

/** Known and given addresses, with the account's fields in their places. Throws PD_BAD_INPUT. */
function settled({ app, addresses, fields }: OAuthRequest): OAuthProvider {
  const known = providerOf(app);
  const tokenUrl = addresses.tokenUrl ?? known?.tokenUrl;
  if (tokenUrl === undefined)
    throw new PdError("PD_BAD_INPUT", `Cannot connect ${app} by OAuth: its provider is not known`, { fix: "Give --authorize-url and --token-url" });
  const filled = (url: string): string =>
    checkedUrl(url.replaceAll(/\{(\w+)\}/g, (_whole, field: string) => encodeURIComponent(wanted(textOf(fields[field]), app, field))));
  const [authorizeUrl, deviceUrl] = [addresses.authorizeUrl ?? known?.authorizeUrl, addresses.deviceUrl ?? known?.deviceUrl];
  return {
    scopes: [],
    ...known,
    authorizeUrl: authorizeUrl === undefined ? "" : filled(authorizeUrl),
    tokenUrl: filled(tokenUrl),
    ...(deviceUrl === undefined ? {} : { deviceUrl: filled(deviceUrl) }),
  };
}

function textOf(value: unknown): string | undefined {
  return typeof value === "string" ? value : undefined;
}

function wanted(value: string | undefined, app: string, field: string): string {
  if (value !== undefined && value !== "") return value;
  throw new PdError("PD_BAD_INPUT", `Cannot connect ${app} by OAuth: ${field} is missing`);
}

/** Tokens travel encrypted, but on this machine. */
function checkedUrl(url: string): string {
  const parsed = URL.canParse(url) ? new URL(url) : undefined;
  const isLocal = parsed?.protocol === "http:" && ["localhost", "127.0.0.1", "[::1]"].includes(parsed.hostname);
  if (parsed?.protocol === "https:" || isLocal) return url;
  throw new PdError("PD_BAD_INPUT", `Cannot get tokens at ${JSON.stringify(url)}: it wants an https address`);
}

/** What an account needs to be connected once more. */
export function requestAgain({ app, name, oauth, credentials, ...account }: Account & { readonly oauth: OAuthGrant }): Omit<OAuthRequest, "redirectUri"> {
  const { client, flow, scope } = oauth;
  const fields = Object.fromEntries(Object.entries(credentials).filter(([field]) => !field.startsWith("oauth_")));
  const separator = providerOf(app)?.scopeSeparator ?? " ";
  return {
    app,
    account: { app, name, oauth, credentials, ...account },
    flow,
    clientId: client.id,
    ...(client.secret === undefined ? {} : { clientSecret: client.secret }),
    scopes: scope === "" ? [] : scope.split(separator),
    addresses: {
      tokenUrl: client.tokenUrl,
      ...(client.authorizeUrl === undefined ? {} : { authorizeUrl: client.authorizeUrl }),
      ...(client.deviceUrl === undefined ? {} : { deviceUrl: client.deviceUrl }),
    },
    fields,
  };
}
