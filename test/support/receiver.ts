import type { IncomingMessage, ServerResponse } from "node:http";
import { startHttpServer } from "./http-server.ts";

export interface Received {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

type Answer = (response: ServerResponse, request: IncomingMessage, count: number) => void;

export class Receiver {
  readonly url: string;
  readonly received: Received[];

  static async start(answer: Answer = (response) => response.end("thanks")): Promise<Receiver> {
    const received: Received[] = [];
    const url = await startHttpServer((request, response) => {
      let body = "";
      request.setEncoding("utf8").on("data", (chunk: string) => (body += chunk));
      request.once("end", () => {
        const headers = Object.fromEntries(Object.entries(request.headers).map(([name, value]) => [name, String(value)]));
        received.push({ headers, body });
        answer(response, request, received.length);
      });
    });
    return new Receiver(`${url}/hook`, received);
  }

  private constructor(url: string, received: Received[]) {
    this.url = url;
    this.received = received;
  }

  get bodies(): unknown[] {
    return this.received.map(({ body }) => JSON.parse(body));
  }
}
