import { once } from "node:events";
import { type ServerResponse, createServer } from "node:http";
import { onTestFinished } from "vitest";

/** An address that code under test stops at: it tells when it was reached, and answers when the test says so. */
export class Gate {
  readonly url: string;
  readonly reached: Promise<void>;
  readonly #waiting: ServerResponse[] = [];
  #isOpen = false;

  static async open(): Promise<Gate> {
    const server = createServer((_request, response) => gate.#arrive(response)).listen(0, "127.0.0.1");
    await once(server, "listening");
    onTestFinished(() => {
      server.closeAllConnections();
      server.close();
    });
    const address = server.address();
    const port = typeof address === "object" ? address?.port : undefined;
    const gate = new Gate(
      `http://127.0.0.1:${port}`,
      once(server, "request").then(() => {}),
    );
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
