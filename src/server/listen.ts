import { type IncomingMessage, type RequestListener, type Server, createServer } from "node:http";
import { type AddressInfo, Socket } from "node:net";
import type { Refusal } from "./refused-requests.ts";
import { PdError, codeOf, messageOf } from "../domain/errors.ts";

const CLOSE_IDLE_EVERY_MS = 20;
const HOST = "host";
const BAD_REQUEST = "400 Bad Request";

/** Answers to errors of Node's parser. Others get 400. */
const REFUSALS: Readonly<Record<string, string>> = {
  HPE_HEADER_OVERFLOW: "431 Request Header Fields Too Large",
  HPE_CHUNK_EXTENSIONS_OVERFLOW: "413 Payload Too Large",
  ERR_HTTP_REQUEST_TIMEOUT: "408 Request Timeout",
};

export interface ListenSettings {
  readonly host: string;
  readonly port: number;
  readonly purpose: string;
  /** Clients that ended their side still get their answer. A stream then notices later that its client is gone. */
  readonly allowsHalfOpen?: boolean;
  readonly headerBytes: number;
  readonly onRefused: (refusal: Refusal) => void;
}

export class Listener {
  readonly url: string;
  readonly port: number;
  readonly #server: Server;
  readonly #current: { handler: RequestListener };
  /** Connections without a request, which Node does not count as idle. */
  readonly #silent = new Set<Socket>();

  /** Throws PD_PORT_TAKEN or PD_BAD_INPUT. */
  static open(first: RequestListener, { host, port, purpose, headerBytes, onRefused, allowsHalfOpen = false }: ListenSettings): Promise<Listener> {
    const current = { handler: first };
    const server = createServer({ keepAliveTimeout: 65_000, maxHeaderSize: headerBytes, requireHostHeader: false }, (request, response) => {
      // With two hosts, a proxy in front may have checked the other one.
      const hosts = countOfHosts(request);
      if (hosts > 1 || (hosts === 0 && request.httpVersion === "1.1")) {
        onRefused({
          status: BAD_REQUEST,
          reason: hosts === 0 ? "it has no host header" : "it has two host headers",
          address: request.socket.remoteAddress ?? "",
        });
        return response.writeHead(400, { connection: "close" }).end();
      }
      return current.handler(request, response);
    });
    // Node hides headers beyond a count, but frames bodies by them. Their bytes are limited.
    server.maxHeadersCount = 0;
    Object.assign(server, { httpAllowHalfOpen: allowsHalfOpen });
    return new Promise((resolve, reject) => {
      // Later errors concern connections that were not accepted. The server continues.
      server.on("error", (error) => reject(listenError(error, { host, port, purpose })));
      server.listen(port, host, () => {
        const address = server.address();
        resolve(new Listener(server, { current, host, port: isAddressInfo(address) ? address.port : port, onRefused }));
      });
    });
  }

  private constructor(
    server: Server,
    { current, host, port, onRefused }: Pick<ListenSettings, "host" | "port" | "onRefused"> & { readonly current: { handler: RequestListener } },
  ) {
    this.#server = server;
    this.#current = current;
    this.port = port;
    this.url = `http://${host === "0.0.0.0" || host === "::" ? "127.0.0.1" : host.includes(":") ? `[${host}]` : host}:${port}`;
    server.on("connection", (socket) => {
      this.#silent.add(socket);
      socket.once("close", () => this.#silent.delete(socket));
    });
    server.on("request", ({ socket }) => this.#silent.delete(socket));
    server.on("clientError", (error, socket) => {
      if (!socket.writable || codeOf(error) === "ECONNRESET") return;
      const status = REFUSALS[codeOf(error) ?? ""] ?? BAD_REQUEST;
      onRefused({ status, reason: messageOf(error), address: socket instanceof Socket ? (socket.remoteAddress ?? "") : "" });
      socket.end(`HTTP/1.1 ${status}\r\nconnection: close\r\n\r\n`);
    });
  }

  /** Of later requests. */
  answerWith(handler: RequestListener): void {
    this.#current.handler = handler;
  }

  /** Resolves when open requests are answered, or after `graceMs`. */
  async close(graceMs: number): Promise<void> {
    const closed = new Promise<void>((resolve) => this.#server.close(() => resolve()));
    // A busy connection stays open after its answer.
    const closeIdle = setInterval(() => {
      this.#server.closeIdleConnections();
      // Data that has already arrived is read first.
      setImmediate(() => {
        for (const socket of this.#silent) if (socket.bytesRead === 0) socket.destroy();
      });
    }, CLOSE_IDLE_EVERY_MS);
    const cutOff = setTimeout(() => this.#server.closeAllConnections(), graceMs);
    await closed;
    clearInterval(closeIdle);
    clearTimeout(cutOff);
  }
}

function countOfHosts({ rawHeaders }: IncomingMessage): number {
  let count = 0;
  for (let place = 0; place < rawHeaders.length; place += 2) {
    const name = rawHeaders[place] ?? "";
    if (name.length === HOST.length && name.toLowerCase() === HOST) count++;
  }
  return count;
}

function isAddressInfo(address: AddressInfo | string | null): address is AddressInfo {
  return typeof address === "object" && address !== null;
}

function listenError(error: Error, { host, port, purpose }: Pick<ListenSettings, "host" | "port" | "purpose">): PdError {
  if (codeOf(error) === "EADDRINUSE")
    return new PdError("PD_PORT_TAKEN", `Cannot listen on ${host}:${port} for ${purpose}: the port is taken`, { cause: error });
  return new PdError("PD_BAD_INPUT", `Cannot listen on ${host}:${port} for ${purpose}: ${messageOf(error)}`, { cause: error });
}
