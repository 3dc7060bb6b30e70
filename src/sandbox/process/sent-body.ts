import { PassThrough } from "node:stream";
import type { BodyStream } from "../../domain/run/invocation.ts";

/** Each part waits until the previous one was read. */
export class SentBody implements BodyStream {
  readonly #parts = new PassThrough();
  #bytes = 0;

  constructor() {
    // The iterator reports errors, if there is a reader.
    this.#parts.on("error", () => {});
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** True when there is room for the next part, false when the reader is gone. */
  add(part: Uint8Array): Promise<boolean> {
    this.#bytes += part.length;
    // A component that does not wait would fill the server's memory.
    if (this.#parts.writableLength > 0) this.breakOff("a part was sent before the previous one was read");
    if (this.#parts.destroyed) return Promise.resolve(false);
    return new Promise((resolve) => {
      // Destroying the stream does not call back a pending write.
      const closed = (): void => resolve(false);
      this.#parts.once("close", closed).write(part, (error) => {
        this.#parts.off("close", closed);
        resolve(error === null || error === undefined);
      });
    });
  }

  async end(): Promise<void> {
    this.#parts.end();
    if (!this.#parts.closed) await new Promise((resolve) => this.#parts.once("close", resolve));
  }

  /** The reader gets an error. Has no effect after the end. */
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
