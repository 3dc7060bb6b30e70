import type { IncomingMessage } from "node:http";

/** Bytes of all bodies that are being received: whoever sends slowly holds memory meanwhile. */
const MOST_BYTES = 256 * 2 ** 20;

/** Reads the bodies of requests, as long as all together are no more than the server can hold. */
export class RequestBodies {
  #held = 0;

  /** `undefined`: the body is larger than the limit; "gone": whoever sent it has hung up before its end. */
  read(request: IncomingMessage, limit: number): Promise<Buffer | undefined | "too-many" | "gone"> {
    return new Promise((resolve) => {
      const chunks: Buffer[] = [];
      let size = 0;
      const settle = (outcome: Buffer | undefined | "too-many" | "gone"): void => {
        this.#held -= chunks.reduce((sum, chunk) => sum + chunk.length, 0);
        chunks.length = 0;
        resolve(outcome);
      };
      request.on("data", (chunk: Buffer) => {
        size += chunk.length;
        if (size > limit) return settle(undefined);
        if (this.#held + chunk.length > MOST_BYTES) return settle("too-many");
        this.#held += chunk.length;
        chunks.push(chunk);
      });
      request.once("end", () => settle(chunks.length === 1 && chunks[0] !== undefined ? chunks[0] : Buffer.concat(chunks)));
      request.once("close", () => settle("gone"));
      // A request has no other errors.
      request.once("error", () => settle("gone"));
    });
  }
}
