import type { Colours } from "./colours.ts";
import { stripVTControlCharacters } from "node:util";
import { type Outcome, describeOutcome, isFailed } from "../domain/run/invocation.ts";
import { clockTime, runSummary } from "./reporter.ts";
import { cut } from "./terminal-text.ts";

/** More lines could not be read. */
const MOST_A_SECOND = 20;
const MOST_OF_ERROR = 200;

interface SeenRun {
  readonly id: string;
  /** Epoch ms. */
  readonly at: number;
  readonly durationMs: number;
  readonly outcome: Outcome;
  readonly eventCount: number;
  readonly dropped: Readonly<Record<string, number>>;
}

interface RunLinesSettings {
  readonly print: (line: string) => void;
  readonly colours: Colours;
}

/** One line per run. Counts the rest when there are too many. */
export class RunLines {
  readonly #settings: RunLinesSettings;
  #second = 0;
  #shown = 0;
  #left = 0;

  constructor(settings: RunLinesSettings) {
    this.#settings = settings;
  }

  /** `nameOf` is called only for printed runs. */
  add(run: SeenRun, nameOf: () => string): void {
    this.#turnTo(Math.floor(run.at / 1000));
    if (this.#shown >= MOST_A_SECOND) {
      this.#left++;
      return;
    }
    this.#shown++;
    this.#settings.print(this.#lineOf(nameOf(), run));
  }

  #turnTo(second: number): void {
    if (second === this.#second) return;
    const { print, colours } = this.#settings;
    if (this.#left > 0) print(colours.dim(`${" ".repeat(INDENT)}… and ${this.#left} more runs`));
    [this.#second, this.#shown, this.#left] = [second, 0, 0];
  }

  #lineOf(name: string, { id, at, outcome, eventCount, dropped, durationMs }: SeenRun): string {
    const { colours } = this.#settings;
    const facts = runSummary({ event_count: eventCount, dropped, duration_ms: durationMs });
    const sign = isFailed(outcome) ? colours.red("✖") : colours.green("✔");
    const failure = isFailed(outcome)
      ? `${cut(stripVTControlCharacters(describeOutcome(outcome).slice(0, 2 * MOST_OF_ERROR)).split("\n", 1)[0] ?? "", MOST_OF_ERROR)}  `
      : "";
    return `${colours.dim(clockTime(at))} ${sign} ${name}  ${failure}${facts}${colours.dim(`  ${id}`)}`;
  }
}

const INDENT = 13;
