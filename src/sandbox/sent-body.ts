import { PassThrough } from "node:stream";
import type { BodyStream } from "../domain/invocation.ts";

/** A body that a component sends in parts: its next part waits until this one was read. */
export class SentBody implements BodyStream {
  readonly #parts = new PassThrough();
  #bytes = 0;

  constructor() {
    // Whoever reads it is told by the iterator. Nobody may read it.
    this.#parts.on("error", () => {});
  }

  /** Bytes that were added. */
  get bytes(): number {
    return this.#bytes;
  }

  /** Resolves when there is room for the next part; to false when nobody reads it any more. */
  add(part: Uint8Array): Promise<boolean> {
    this.#bytes += part.length;
    // Whoever does not wait for the answer would fill the memory of the server.
    if (this.#parts.writableLength > 0) this.breakOff("its next part did not wait for the one before");
    if (this.#parts.destroyed) return Promise.resolve(false);
    return new Promise((resolve) => {
      // A write that waits is not told when the stream is destroyed.
      const closed = (): void => resolve(false);
      this.#parts.once("close", closed).write(part, (error) => {
        this.#parts.off("close", closed);
        resolve(error === null || error === undefined);
      });
    });
  }

  /** Resolves when all was read, or nobody reads it any more. */
  async end(): Promise<void> {
    this.#parts.end();
    if (!this.#parts.closed) await new Promise((resolve) => this.#parts.once("close", resolve));
  }

  /** Whoever reads it is told that the rest is missing. Does nothing after the end. */
  breakOff(reason: string): void {
    if (!this.#parts.writableEnded) this.#parts.destroy(new Error(reason));
  }

  giveUp(): void {
    this.#parts.destroy();
  }

  [Symbol.asyncIterator](): AsyncIterator<Uint8Array> {
    return this.#parts[Symbol.asyncIterator]();
  }
}
