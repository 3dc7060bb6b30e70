import type { OAuthServer } from "../../ports/oauth-server.ts";

const load = async (): Promise<OAuthServer> => (await import("./oauth-client.ts")).oauthServer;

export const lateOAuthServer: OAuthServer = {
  authorize: async (request) => (await load()).authorize(request),
  authorizeDevice: async (client, request, signal) => (await load()).authorizeDevice(client, request, signal),
  clientCredentials: async (client, scope, signal) => (await load()).clientCredentials(client, scope, signal),
  refresh: async (client, refreshToken, signal) => (await load()).refresh(client, refreshToken, signal),
};
