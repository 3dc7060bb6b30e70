import { once } from "node:events";
import { type IncomingMessage, type Server, type ServerResponse, createServer } from "node:http";
import { createServer as createTlsServer } from "node:https";
import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { readFileSync } from "node:fs";
import type { Duplex } from "node:stream";
import { onTestFinished } from "vitest";
import { temporaryFolder } from "./home.ts";

export interface UpstreamCall {
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingMessage["headers"];
  readonly body: Record<string, any>;
}

export interface UpstreamAnswer {
  readonly status?: number;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

async function selfSigned(): Promise<{ key: Buffer; cert: Buffer }> {
  const folder = await temporaryFolder();
  const [key, cert] = [join(folder, "key.pem"), join(folder, "cert.pem")];
  const words = ["req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "1", "-subj", "/CN=127.0.0.1", "-keyout", key, "-out", cert];
  execFileSync("openssl", words, { stdio: "ignore" });
  return { key: readFileSync(key), cert: readFileSync(cert) };
}

export class Upstream {
  readonly calls: UpstreamCall[] = [];
  readonly #server: Server;

  static async overTls(answer: (call: UpstreamCall) => UpstreamAnswer): Promise<Upstream> {
    const server = createTlsServer(await selfSigned());
    const upstream = new Upstream(server);
    server.on("request", (request: IncomingMessage, response: ServerResponse) => void upstream.#serve(request, response, answer));
    return upstream.#listen();
  }

  /** A proxy for every HTTPS connection, for components with a fixed host name. */
  static async asProxy(answer: (call: UpstreamCall) => UpstreamAnswer): Promise<Upstream> {
    const target = createTlsServer(await selfSigned());
    const server = createServer();
    const upstream = new Upstream(server);
    target.on("request", (request: IncomingMessage, response: ServerResponse) => void upstream.#serve(request, response, answer));
    server.on("connect", (_request: IncomingMessage, socket: Duplex) => {
      socket.write("HTTP/1.1 200 Connection established\r\n\r\n");
      target.emit("connection", socket);
    });
    return upstream.#listen();
  }

  async #listen(): Promise<Upstream> {
    this.#server.listen(0, "127.0.0.1");
    await once(this.#server, "listening");
    onTestFinished(() => {
      this.#server.closeAllConnections();
      this.#server.close();
    });
    return this;
  }

  private constructor(server: Server) {
    this.#server = server;
  }

  /** Redirects a component to this upstream. */
  get lead(): { env: Record<string, string>; component_imports: { code: string; path: string }[] } {
    return { env: { UPSTREAM_PORT: this.host.split(":")[1] ?? "" }, component_imports: [{ code: LEAD_TO_UPSTREAM, path: "lead.cjs" }] };
  }

  get host(): string {
    const address = this.#server.address();
    return `127.0.0.1:${typeof address === "object" ? address?.port : ""}`;
  }

  async #serve(request: IncomingMessage, response: ServerResponse, answer: (call: UpstreamCall) => UpstreamAnswer): Promise<void> {
    let text = "";
    for await (const chunk of request.setEncoding("utf8")) text += chunk;
    const call = { method: request.method ?? "", url: request.url ?? "", headers: request.headers, body: bodyOf(request.headers["content-type"] ?? "", text) };
    this.calls.push(call);
    const { status = 200, body = {}, headers = {} } = answer(call);
    response.writeHead(status, { "content-type": "application/json", ...headers });
    response.end(status === 204 ? "" : typeof body === "string" ? body : JSON.stringify(body));
  }
}

function bodyOf(type: string, text: string): Record<string, unknown> {
  if (text === "") return {};
  return type.startsWith("application/x-www-form-urlencoded") ? Object.fromEntries(new URLSearchParams(text)) : JSON.parse(text);
}

/** Redirects all TLS connections. Must be loaded before the component. */
export const LEAD_TO_UPSTREAM = `const tls = require("node:tls");
const connect = tls.connect;
tls.connect = function (...given) {
  const options = given.find((value) => typeof value === "object" && value !== null);
  const host = options?.host ?? options?.hostname;
  if (options !== undefined && !options.socket && host !== "127.0.0.1") {
    Object.assign(options, { host: "127.0.0.1", hostname: "127.0.0.1", port: Number(process.env.UPSTREAM_PORT), rejectUnauthorized: false });
    delete options.path;
  }
  return connect.apply(this, given);
};
module.exports = {};
`;
