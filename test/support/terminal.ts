import { type Direction, clearLine, cursorTo, moveCursor } from "node:readline";
import { PassThrough } from "node:stream";
import { stripVTControlCharacters } from "node:util";
import { onTestFinished } from "vitest";
import type { CliContext } from "../../src/cli/context.ts";
import { eventually } from "./runtime.ts";

const KEYS = { enter: "\r", space: " ", down: "\x1b[B", interrupt: "\x03" } as const;

export class Terminal {
  readonly cli: CliContext;
  readonly #stdin = Object.assign(new PassThrough(), { isTTY: true, setRawMode: () => this.#stdin });
  /** Output since the last key, without colours and cursor moves. */
  #screen = "";

  constructor(home: string, columns = 200) {
    // A real terminal ignores `end`.
    const output: PassThrough = Object.assign(new PassThrough(), {
      isTTY: true,
      columns,
      rows: 50,
      end: () => output,
      // Spinners call these.
      cursorTo: (x: number) => cursorTo(output, x),
      moveCursor: (x: number, y: number) => moveCursor(output, x, y),
      clearLine: (direction: Direction) => clearLine(output, direction),
    });
    output.setEncoding("utf8").on("data", (text: string) => (this.#screen += stripVTControlCharacters(text)));
    onTestFinished(() => void output.destroy());
    const [stdin, stdout] = [this.#stdin, output] as unknown as [NodeJS.ReadStream, NodeJS.WriteStream];
    this.cli = {
      stdin,
      stdout,
      stderr: stdout,
      environment: { PD_HOME: home, NO_COLOR: "1", BROWSER: "none", PD_REDIRECT_PORT: "0" },
      isJson: false,
      flags: { home },
      profile: undefined,
    };
  }

  async sees(text: string): Promise<string> {
    return eventually(async () => this.#screen.includes(text) && this.#screen).catch(() => {
      throw new Error(`${JSON.stringify(text)} was not shown, but: ${this.#screen}`);
    });
  }

  async answers(question: string, answer = ""): Promise<void> {
    await this.sees(question);
    this.types(answer);
    this.presses("enter");
  }

  /** Ctrl D. */
  ends(): void {
    this.#stdin.end();
  }

  types(text: string): void {
    this.#screen = "";
    this.#stdin.write(text);
  }

  presses(...keys: (keyof typeof KEYS)[]): void {
    this.#screen = "";
    for (const key of keys) this.#stdin.write(KEYS[key]);
  }
}
