import type { RequestListener, ServerResponse } from "node:http";
import { gzipSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import type { TokenAnswer } from "../../src/domain/account/oauth.ts";
import { oauthServer } from "../../src/system/http/oauth-client.ts";
import { startHttpServer } from "../support/http-server.ts";

async function askedOf(answer: RequestListener): Promise<TokenAnswer> {
  const tokenUrl = await startHttpServer(answer);
  return oauthServer.clientCredentials({ id: "id", secret: "secret", tokenUrl }, "", new AbortController().signal);
}

async function endless(response: ServerResponse): Promise<void> {
  response.writeHead(200, { "content-type": "application/json" }).write('{"access_token":"');
  while (!response.destroyed) {
    response.write("x".repeat(65_536));
    await new Promise((resolve) => setImmediate(resolve));
  }
}

const TOO_LONG = { kind: "unreachable", reason: "the answer has more than 65536 bytes" };

describe("an answer of a provider", () => {
  it("that does not end is read up to a bound, and the connection is closed", async () => {
    let closed: Promise<void> | undefined;
    expect(await askedOf((_request, response) => void (closed = endless(response)))).toEqual(TOO_LONG);
    await closed;
  });

  it("that unpacks to more than was sent is read up to the same bound", async () => {
    const packed = gzipSync(Buffer.alloc(50 * 2 ** 20, " "));
    const answer = await askedOf((_request, response) =>
      response.writeHead(200, { "content-type": "application/json", "content-encoding": "gzip" }).end(packed),
    );
    expect(answer).toEqual(TOO_LONG);
  });
});
