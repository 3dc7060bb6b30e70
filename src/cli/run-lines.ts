import type { ChalkInstance } from "chalk";
import { type Outcome, describeOutcome, isFailed } from "../domain/invocation.ts";
import { clockTime, runSummary } from "./reporter.ts";
import { cut } from "./terminal-text.ts";

/** Nobody reads more. */
const MOST_A_SECOND = 20;
/** Of what a component has thrown. */
const MOST_OF_ERROR = 200;

/** A run that has ended. */
interface SeenRun {
  readonly id: string;
  /** ms */
  readonly at: number;
  readonly durationMs: number;
  readonly outcome: Outcome;
  readonly eventCount: number;
  readonly dropped: Readonly<Record<string, number>>;
}

interface RunLinesSettings {
  /** Resolves when the terminal has taken it: one that was stopped, as by Ctrl-S, takes nothing. */
  readonly write: (line: string) => Promise<void>;
  readonly colours: ChalkInstance;
}

/** What a server does, a line a run, for whoever looks at it; of very many a few, and how many more there were. It waits for nobody. */
export class RunLines {
  readonly #settings: RunLinesSettings;
  #second = 0;
  #shown = 0;
  #left = 0;
  #waiting: string[] = [];
  #isWriting = false;

  constructor(settings: RunLinesSettings) {
    this.#settings = settings;
  }

  /** `nameOf`: what a person calls the source; asked only of what is shown. */
  add(run: SeenRun, nameOf: () => string): void {
    this.#turnTo(Math.floor(run.at / 1000));
    if (this.#shown >= MOST_A_SECOND || this.#waiting.length >= MOST_A_SECOND) {
      this.#left++;
      return;
    }
    this.#shown++;
    this.#print(this.#lineOf(nameOf(), run));
  }

  #turnTo(second: number): void {
    if (second === this.#second) return;
    if (this.#waiting.length >= MOST_A_SECOND) return;
    if (this.#left > 0) this.#print(this.#settings.colours.dim(`${" ".repeat(INDENT)}… and ${this.#left} more runs`));
    [this.#second, this.#shown, this.#left] = [second, 0, 0];
  }

  #print(line: string): void {
    this.#waiting.push(line);
    if (!this.#isWriting) void this.#writeAll();
  }

  async #writeAll(): Promise<void> {
    this.#isWriting = true;
    while (this.#waiting.length > 0) {
      const lines = this.#waiting.join("\n");
      this.#waiting = [];
      await this.#settings.write(lines);
    }
    this.#isWriting = false;
  }

  #lineOf(name: string, { id, at, outcome, eventCount, dropped, durationMs }: SeenRun): string {
    const { colours } = this.#settings;
    const facts = runSummary({ event_count: eventCount, dropped, duration_ms: durationMs });
    const sign = isFailed(outcome) ? colours.red("✖") : colours.green("✔");
    const failure = isFailed(outcome) ? `${cut(describeOutcome(outcome).split("\n", 1)[0] ?? "", MOST_OF_ERROR)}  ` : "";
    return `${colours.dim(clockTime(at))} ${sign} ${name}  ${failure}${facts}${colours.dim(`  ${id}`)}`;
  }
}

/** Width of the time. */
const INDENT = 13;
