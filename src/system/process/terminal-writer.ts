import { write } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { codeOf } from "../../domain/errors.ts";

/** Queued texts while the terminal is stopped, as after Ctrl-S. */
const MOST_WAITING = 1000;
const FULL_MS = 50;

/** Node's stream blocks the process while the terminal is full. This does not, and reports how many texts it dropped. */
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
      const left = this.#left > 0 ? `… ${this.#left} lines were dropped\n` : "";
      const bytes = Buffer.from(this.#waiting.join("") + left);
      [this.#waiting, this.#left] = [[], 0];
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

/** Bytes written: 0 for a full terminal, undefined when it is gone. */
function writeSome(fd: number, bytes: Buffer): Promise<number | undefined> {
  return new Promise((resolve) => {
    write(fd, bytes, (error, taken) => resolve(error === null ? taken : codeOf(error) === "EAGAIN" ? 0 : undefined));
  });
}
