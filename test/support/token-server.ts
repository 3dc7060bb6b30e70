import type { IncomingMessage, ServerResponse } from "node:http";
import { startHttpServer } from "./http-server.ts";

export interface TokenRequest {
  readonly path: string;
  readonly form: Readonly<Record<string, string>>;
  readonly authorization: string | undefined;
}

type Said = { readonly status?: number; readonly headers?: Readonly<Record<string, string>>; readonly body: unknown } | undefined;
type Answering = (request: TokenRequest, count: number) => Said | Promise<Said>;

/** `undefined` cuts the connection. */
export class TokenServer {
  readonly requests: TokenRequest[] = [];
  #url = "";

  static async start(answer: Answering): Promise<TokenServer> {
    const tokens = new TokenServer();
    tokens.#url = await startHttpServer((request, response) => void tokens.#serve(request, response, answer));
    return tokens;
  }

  get url(): string {
    return this.#url;
  }

  async #serve(request: IncomingMessage, response: ServerResponse, answer: Answering): Promise<void> {
    let text = "";
    for await (const chunk of request.setEncoding("utf8")) text += String(chunk);
    const asked = { path: request.url ?? "", form: Object.fromEntries(new URLSearchParams(text)), authorization: request.headers.authorization };
    this.requests.push(asked);
    const said = await answer(asked, this.requests.length);
    if (said === undefined) return void request.socket.destroy();
    const type = typeof said.body === "string" ? "application/x-www-form-urlencoded" : "application/json";
    response.writeHead(said.status ?? 200, { "content-type": type, ...said.headers });
    response.end(typeof said.body === "string" ? said.body : JSON.stringify(said.body));
  }
}
