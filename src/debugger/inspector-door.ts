import { type IncomingMessage, type Server, type ServerResponse, createServer } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import type { Duplex } from "node:stream";
import { type WebSocket, WebSocketServer } from "ws";
import { PdError, codeOf, messageOf } from "../domain/errors.ts";
import type { DebugSession } from "./debug-session.ts";
import { type PeerRules, canTellPeers, refusalOfPeer } from "./loopback-peer.ts";

const HOST = "127.0.0.1";
/** A message may contain a whole script. */
const MOST_BYTES = 2 ** 27;

export interface DoorSettings {
  /** 0: any free port. */
  readonly port: number;
  readonly title: string;
  readonly key: string;
  readonly peers: PeerRules;
}

/** On this machine only, as Node does: a list of targets over HTTP, and a web socket. */
export class InspectorDoor {
  readonly url: string;
  readonly port: number;
  readonly #server: Server;
  readonly #sockets = new WebSocketServer({ noServer: true, maxPayload: MOST_BYTES });
  readonly #session: DebugSession;
  readonly #settings: DoorSettings;
  /** With sockets that are being upgraded, which the HTTP server no longer tracks. */
  readonly #connections = new Set<Socket>();

  /** Throws PD_PORT_TAKEN or PD_BAD_INPUT. */
  static open(session: DebugSession, settings: DoorSettings): Promise<InspectorDoor> {
    const server = createServer();
    return new Promise((resolve, reject) => {
      // Later errors concern connections that were not accepted. The server continues.
      server.on("error", (error) => reject(listenError(error, settings.port)));
      server.listen(settings.port, HOST, () => resolve(new InspectorDoor(server, session, settings)));
    });
  }

  private constructor(server: Server, session: DebugSession, settings: DoorSettings) {
    this.#server = server;
    this.#session = session;
    this.#settings = settings;
    this.port = portOf(server.address(), settings.port);
    this.url = `ws://${HOST}:${this.port}/${settings.key}`;
    server.on("connection", (socket) => {
      this.#connections.add(socket);
      socket.once("close", () => this.#connections.delete(socket));
    });
    server.on("request", (request, response) => void this.#list(request, response));
    server.on("upgrade", (request, socket, head) => void this.#upgrade(request, socket, head));
  }

  async close(): Promise<void> {
    const closed = new Promise<void>((resolve) => this.#server.close(() => resolve()));
    for (const socket of this.#connections) socket.destroy();
    this.#session.disconnect();
    await closed;
  }

  async #list(request: IncomingMessage, response: ServerResponse): Promise<void> {
    // The list contains the secret, so it is refused when the client's user is unknown.
    const refusal = canTellPeers ? await this.#refusal(request) : "Use the address that pd dev prints. This system cannot identify the client";
    if (refusal !== undefined) return void response.writeHead(403, { "content-type": "text/plain" }).end(`${refusal}\n`);
    if (request.method !== "GET" && request.method !== "HEAD")
      return void response.writeHead(405, { "content-type": "text/plain", allow: "GET, HEAD" }).end("Read the list of debug targets with GET\n");
    const answer = this.#answerTo(request.url ?? "");
    if (answer === undefined) return void response.writeHead(404, { "content-type": "text/plain" }).end("Available: /json/list and /json/version\n");
    response.writeHead(200, { "content-type": "application/json; charset=UTF-8" }).end(JSON.stringify(answer, null, 2));
  }

  #answerTo(path: string): unknown {
    switch (path.replace(/\/$/, "")) {
      case "/json/version":
        return { Browser: `node.js/${process.version}`, "Protocol-Version": "1.3" };
      case "/json":
      case "/json/list":
        return [
          {
            description: "Headwater component",
            devtoolsFrontendUrl: `devtools://devtools/bundled/js_app.html?v8only=true&ws=${this.url.slice("ws://".length)}`,
            id: this.#settings.key,
            title: this.#settings.title,
            type: "node",
            url: this.#session.url,
            webSocketDebuggerUrl: this.url,
          },
        ];
      default:
        return undefined;
    }
  }

  async #upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): Promise<void> {
    // Node no longer handles errors of this socket.
    socket.on("error", () => socket.destroy());
    const refusal = (await this.#refusal(request)) ?? (request.url === `/${this.#settings.key}` ? undefined : "No debug target has this address");
    const isBusy = this.#session.isConnected;
    if (socket.destroyed) return;
    if (refusal !== undefined || isBusy) {
      const [status, text] = refusal === undefined ? ["409 Conflict", "Another debugger is connected"] : ["403 Forbidden", refusal];
      socket.end(`HTTP/1.1 ${status}\r\ncontent-type: text/plain\r\nconnection: close\r\n\r\n${text}\n`);
      return;
    }
    this.#sockets.handleUpgrade(request, socket, head, (front) => this.#serve(front));
  }

  #serve(front: WebSocket): void {
    if (this.#session.isConnected) return front.close(1013, "another debugger is connected");
    this.#session.connect({ send: (message) => front.send(JSON.stringify(message)) });
    front.on("message", (data) => void this.#session.receive(textOf(data)));
    front.once("close", () => this.#session.disconnect());
    front.on("error", () => front.terminate());
  }

  /** Why the client may not debug. Rejects web pages, also through DNS rebinding, and the machine's other users. */
  async #refusal({ headers, socket }: IncomingMessage): Promise<string | undefined> {
    if (!/^(localhost|127\.0\.0\.1|\[::1\])(:\d+)?$/i.test(headers.host ?? ""))
      return `This debugger does not accept the host ${JSON.stringify(headers.host ?? "")}`;
    // Pages, extensions, sandboxed frames ("null") and files send an Origin, programs none, developer tools devtools://.
    if (headers.origin !== undefined && !/^devtools:\/\//i.test(headers.origin)) return `A page of the origin ${JSON.stringify(headers.origin)} may not debug`;
    // A page's scripts and images are requested without Origin, but with Sec-Fetch-Site.
    if ((headers["sec-fetch-site"] ?? "none") !== "none" && headers.origin === undefined) return "A web page may not debug";
    return refusalOfPeer(socket, this.#settings.peers);
  }
}

function textOf(data: Buffer | ArrayBuffer | Buffer[]): string {
  if (Array.isArray(data)) return Buffer.concat(data).toString();
  return Buffer.isBuffer(data) ? data.toString() : Buffer.from(data).toString();
}

function portOf(address: AddressInfo | string | null, otherwise: number): number {
  return typeof address === "object" && address !== null ? address.port : otherwise;
}

function listenError(error: Error, port: number): PdError {
  if (codeOf(error) === "EADDRINUSE")
    return new PdError("PD_PORT_TAKEN", `Cannot listen on ${HOST}:${port} for a debugger: the port is taken`, {
      cause: error,
      fix: "--inspect=0 uses any free port",
    });
  return new PdError("PD_BAD_INPUT", `Cannot listen on ${HOST}:${port} for a debugger: ${messageOf(error)}`, { cause: error });
}
