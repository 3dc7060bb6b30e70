import { OAuth2Server } from "oauth2-mock-server";
import { onTestFinished } from "vitest";

export async function mockProvider(): Promise<OAuth2Server> {
  const provider = new OAuth2Server();
  await provider.issuer.keys.generate("RS256");
  await provider.start(0, "127.0.0.1");
  onTestFinished(() => provider.stop());
  return provider;
}
