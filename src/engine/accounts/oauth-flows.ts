import type { Clock } from "../../ports/clock.ts";
import type { Credentials } from "./credentials.ts";
import type { AccountContent } from "../../domain/account/account.ts";
import { PdError } from "../../domain/errors.ts";
import { catalogApp, withDefaults } from "../../domain/account/app-catalog.ts";
import { withStars } from "../../domain/account/secrets.ts";
import { type OAuthClient, type OAuthProvider, type TokenAnswer, grantAfter, oauthCredentials } from "../../domain/account/oauth.ts";
import type { Authorization, DeviceAuthorization, OAuthServer } from "../../ports/oauth-server.ts";
import type { Accounts } from "./accounts.ts";
import { type OAuthRequest, broughtFields, clientOf, settled, wanted } from "./oauth-request.ts";

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
  | { readonly kind: "pending"; readonly intervalMs: number }
  | { readonly kind: "connected"; readonly account: AccountContent };

interface OpenFlow {
  readonly request: OAuthRequest;
  readonly client: OAuthClient;
  readonly scope: string;
  readonly provider: OAuthProvider;
  readonly step:
    | { readonly kind: "code"; readonly authorization: Authorization }
    | { readonly kind: "device"; readonly device: DeviceAuthorization; intervalMs: number };
  readonly endsAt: number;
}

interface OAuthPorts {
  readonly clock: Clock;
  readonly oauth: OAuthServer;
  readonly credentials: Credentials;
}

const FLOW_MS = 10 * 60_000;
const SLOWER_MS = 5000;

/** Uses the user's own OAuth client. Unfinished flows expire. */
export class OAuthFlows {
  readonly #ports: OAuthPorts;
  readonly #accounts: Accounts;
  readonly #open = new Map<string, OpenFlow>();

  constructor(ports: OAuthPorts, accounts: Accounts) {
    this.#ports = ports;
    this.#accounts = accounts;
  }

  /** Throws PD_BAD_INPUT, PD_OAUTH_FAILED when the provider refuses. */
  async start(given: OAuthRequest): Promise<OAuthStep> {
    if (given.account === undefined) await this.#accounts.check(given.app, given.name);
    const known = await catalogApp(given.app);
    const request = { ...given, fields: withDefaults(known, given.fields) };
    const provider = settled(request, known?.oauth);
    const { oauth, clock, credentials } = this.#ports;
    const askedAt = clock.now();
    const { signal } = credentials;
    const client = clientOf(request, provider);
    const scope = (request.scopes ?? provider.scopes).join(provider.scopeSeparator ?? " ");
    const begun = { request, client, scope, provider };
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

  /**
   * `callback` is the URL to which the provider sent the user, except in device flows. Throws PD_NOT_FOUND,
   * PD_OAUTH_FAILED.
   */
  async resume(flowId: string, callback: string | undefined): Promise<OAuthStep> {
    const flow = this.#open.get(flowId);
    if (flow === undefined || this.#ports.clock.now() > flow.endsAt) {
      this.#open.delete(flowId);
      throw new PdError("PD_NOT_FOUND", `Cannot continue ${JSON.stringify(flowId)}: this connection has ended or was never started`, {
        fix: "pd accounts connect <app>",
      });
    }
    const { clock, credentials } = this.#ports;
    const { signal } = credentials;
    const askedAt = clock.now();
    if (flow.step.kind === "code") {
      const url = wanted(callback, flow.request.app, "callback_url");
      this.#open.delete(flowId);
      return this.#finish(flow, { askedAt, answer: await flow.step.authorization.finish(url, signal), callback });
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
    { request, client, scope, provider }: Omit<OpenFlow, "step" | "endsAt">,
    { askedAt, answer, callback }: { askedAt: number; answer: TokenAnswer; callback?: string | undefined },
  ): Promise<OAuthStep> {
    const { app, flow, fields, name, account } = request;
    if (answer.kind !== "granted") throw new PdError("PD_OAUTH_FAILED", `Cannot connect ${app}: ${withStars(answer.reason, [client.secret ?? ""])}`);
    const oauth = grantAfter({ flow, client, scope, grantedAt: askedAt }, answer.tokens, askedAt);
    const credentials = oauthCredentials({ ...fields, ...broughtFields(provider, answer.tokens, callback) }, oauth, answer.tokens);
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
