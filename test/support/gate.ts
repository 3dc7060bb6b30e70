import type { ServerResponse } from "node:http";
import { startHttpServer } from "./http-server.ts";

/** An address that code under test stops at: it tells when it was reached, and answers when the test says so. */
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

  /** Lets through who waits, and who comes. */
  release(): void {
    this.#isOpen = true;
    for (const response of this.#waiting) response.end();
  }

  #arrive(response: ServerResponse): void {
    if (this.#isOpen) response.end();
    else this.#waiting.push(response);
  }
}
