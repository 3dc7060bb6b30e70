import type { OAuthClient, TokenAnswer } from "../domain/oauth.ts";

export interface AuthorizationRequest {
  readonly client: OAuthClient;
  readonly authorizeUrl: string;
  readonly redirectUri: string;
  /** Parameters beside those of the protocol, scopes among them. */
  readonly parameters: Readonly<Record<string, string>>;
}

/** A person is on the way to the provider; nobody else can finish it. */
export interface Authorization {
  readonly url: string;
  /** `callback`: the address that the provider has sent the person back to. */
  finish(callback: string, signal: AbortSignal): Promise<TokenAnswer>;
}

export interface DeviceAuthorization {
  readonly userCode: string;
  readonly verificationUrl: string;
  readonly intervalMs: number;
  readonly expiresInMs: number;
  /** `refused` with `authorization_pending` or `slow_down`: not yet. */
  poll(signal: AbortSignal): Promise<TokenAnswer>;
}

/** The token endpoints of third parties (RFC 6749, 7636, 8628). One that has not answered when a signal aborts is unreachable. */
export interface OAuthServer {
  /** Authorization code with PKCE. */
  authorize(request: AuthorizationRequest): Promise<Authorization>;
  /** Throws PD_OAUTH_FAILED when no device flow can begin. */
  authorizeDevice(client: OAuthClient, request: { readonly deviceUrl: string; readonly scope: string }, signal: AbortSignal): Promise<DeviceAuthorization>;
  clientCredentials(client: OAuthClient, scope: string, signal: AbortSignal): Promise<TokenAnswer>;
  refresh(client: OAuthClient, refreshToken: string, signal: AbortSignal): Promise<TokenAnswer>;
}
