import { write } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { codeOf } from "../domain/errors.ts";

/** Texts that wait for a terminal which takes nothing, as after Ctrl-S. */
const MOST_WAITING = 1000;
/** Before a terminal that is full is asked again. */
const FULL_MS = 50;

/**
 * Writes to a terminal from another thread: Node's own stream holds the whole program until the terminal takes what it
 * is given. What is too much to keep is counted, and that is told.
 */
export class TerminalWriter {
  readonly #fd: number;
  #waiting: string[] = [];
  #left = 0;
  #isWriting = false;

  constructor(fd: number) {
    this.#fd = fd;
  }

  write(text: string): void {
    if (this.#waiting.length >= MOST_WAITING) this.#left++;
    else this.#waiting.push(text);
    if (!this.#isWriting) void this.#writeAll();
  }

  async #writeAll(): Promise<void> {
    this.#isWriting = true;
    while (this.#waiting.length > 0) {
      const left = this.#left > 0 ? `… ${this.#left} more lines were not shown\n` : "";
      const bytes = Buffer.from(this.#waiting.join("") + left);
      [this.#waiting, this.#left] = [[], 0];
      // A terminal that is gone takes nothing any more.
      if (!(await this.#take(bytes))) break;
    }
    this.#isWriting = false;
  }

  async #take(bytes: Buffer): Promise<boolean> {
    for (let from = 0; from < bytes.length;) {
      const taken = await writeSome(this.#fd, bytes.subarray(from));
      if (taken === undefined) return false;
      if (taken === 0) await sleep(FULL_MS);
      from += taken;
    }
    return true;
  }
}

/** How many bytes were taken; `undefined`: none ever will be. */
function writeSome(fd: number, bytes: Buffer): Promise<number | undefined> {
  return new Promise((resolve) => {
    write(fd, bytes, (error, taken) => resolve(error === null ? taken : codeOf(error) === "EAGAIN" ? 0 : undefined));
  });
}
