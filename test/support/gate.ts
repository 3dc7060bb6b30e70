import { once } from "node:events";
import { createServer } from "node:http";
import { onTestFinished } from "vitest";

/** An address that tells when it was asked, and does not answer before the test has ended. */
export class Gate {
  readonly url: string;
  readonly reached: Promise<void>;

  static async open(): Promise<Gate> {
    const server = createServer().listen(0, "127.0.0.1");
    await once(server, "listening");
    onTestFinished(() => {
      server.closeAllConnections();
      server.close();
    });
    const address = server.address();
    const port = typeof address === "object" ? address?.port : undefined;
    return new Gate(
      `http://127.0.0.1:${port}`,
      once(server, "request").then(() => {}),
    );
  }

  private constructor(url: string, reached: Promise<void>) {
    this.url = url;
    this.reached = reached;
  }
}
