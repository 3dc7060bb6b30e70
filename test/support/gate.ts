import type { ServerResponse } from "node:http";
import { startHttpServer } from "./http-server.ts";

/** Holds requests until `release`. */
export class Gate {
  readonly url: string;
  readonly reached: Promise<void>;
  readonly #waiting: ServerResponse[] = [];
  #isOpen = false;

  static async open(): Promise<Gate> {
    let reach = (): void => {};
    const reached = new Promise<void>((resolve) => (reach = resolve));
    const url = await startHttpServer((_request, response) => {
      reach();
      gate.#arrive(response);
    });
    const gate = new Gate(url, reached);
    return gate;
  }

  private constructor(url: string, reached: Promise<void>) {
    this.url = url;
    this.reached = reached;
  }

  release(): void {
    this.#isOpen = true;
    for (const response of this.#waiting) response.end();
  }

  #arrive(response: ServerResponse): void {
    if (this.#isOpen) response.end();
    else this.#waiting.push(response);
  }
}
