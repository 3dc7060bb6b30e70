import type { IncomingMessage } from "node:http";

/** Limit for all bodies in flight, because slow clients hold memory. */
const MOST_BYTES = 256 * 2 ** 20;

export class RequestBodies {
  #held = 0;

  /** Undefined above the limit. "too-many": all bodies together are too large. "gone": the client disconnected. */
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
      request.once("error", () => settle("gone"));
    });
  }
}
