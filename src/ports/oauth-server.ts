import type { OAuthClient, TokenAnswer } from "../domain/account/oauth.ts";

export interface AuthorizationRequest {
  readonly client: OAuthClient;
  readonly authorizeUrl: string;
  readonly redirectUri: string;
  /** In addition to those of the protocol. Includes scopes. */
  readonly parameters: Readonly<Record<string, string>>;
}

/** A login in progress. Only this object can finish it. */
export interface Authorization {
  readonly url: string;
  finish(callback: string, signal: AbortSignal): Promise<TokenAnswer>;
}

export interface DeviceAuthorization {
  readonly userCode: string;
  readonly verificationUrl: string;
  readonly intervalMs: number;
  readonly expiresInMs: number;
  /** `refused` with `authorization_pending` or `slow_down` means that the user is not done. */
  poll(signal: AbortSignal): Promise<TokenAnswer>;
}

/** Token endpoints (RFC 6749, 7636, 8628). An aborted request counts as unreachable. */
export interface OAuthServer {
  /** Authorization code with PKCE. */
  authorize(request: AuthorizationRequest): Promise<Authorization>;
  /** Throws PD_OAUTH_FAILED when the flow cannot start. */
  authorizeDevice(client: OAuthClient, request: { readonly deviceUrl: string; readonly scope: string }, signal: AbortSignal): Promise<DeviceAuthorization>;
  clientCredentials(client: OAuthClient, scope: string, signal: AbortSignal): Promise<TokenAnswer>;
  refresh(client: OAuthClient, refreshToken: string, signal: AbortSignal): Promise<TokenAnswer>;
}
