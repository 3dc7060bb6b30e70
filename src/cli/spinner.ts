import type { Ora } from "ora";
import { cut, forTerminal } from "./terminal-text.ts";

interface SpinnerContext {
  readonly stderr: NodeJS.WriteStream;
  readonly isJson: boolean;
}

/** What is being done by now; `undefined`: nobody tells. */
type AskStep = () => Promise<string | undefined>;

/** Shown after this long. */
const PATIENCE_MS = 300;
/** Between two looks at what is being done. */
const LOOK_MS = 250;
/** Cells of a bar. */
const BAR = 20;

/** Spinners and questions that have the terminal: there is room for one. */
let holders = 0;

/** Shows that something goes on when it takes long and a person looks on. */
export function withSpinner<Value>(cli: SpinnerContext, label: string, work: Promise<Value>): Promise<Value> {
  return withSteps(cli, { label }, work);
}

/** The same, and what is being done; `label`: until somebody tells. */
export async function withSteps<Value>(cli: SpinnerContext, words: { label: string; askStep?: AskStep }, work: Promise<Value>): Promise<Value> {
  if (!isSeen(cli) || holders > 0) return work;
  const spinner = startSpinner(cli, words.label, words.askStep);
  return holdingTerminal(() => work).finally(spinner.stop);
}

export interface Bar {
  /** False: nobody looks on. */
  readonly isShown: boolean;
  /** How much is done, of how much; `words` say it, and what comes next. */
  readonly tick: (done: number, total: number, words: string) => void;
  /** Prints something above it. */
  readonly above: (print: () => void) => void;
}

const NO_BAR: Bar = { isShown: false, tick: () => {}, above: (print) => print() };

/** Shows a bar while one thing after the other is done, when it takes long and a person looks on. */
export async function withBar<Value>(cli: SpinnerContext, label: string, work: (bar: Bar) => Promise<Value>): Promise<Value> {
  if (!isSeen(cli) || holders > 0) return work(NO_BAR);
  const { say, above, stop } = startSpinner(cli, label);
  const tick: Bar["tick"] = (done, total, words) => say(`${label} ${barOf(done, total)} ${words}`);
  return holdingTerminal(() => work({ isShown: true, tick, above })).finally(stop);
}

/** No spinner is shown meanwhile. */
export async function holdingTerminal<Value>(work: () => Promise<Value>): Promise<Value> {
  holders++;
  try {
    return await work();
  } finally {
    holders--;
  }
}

/** A terminal that does not know its width would be cleared for ever. */
function isSeen({ stderr, isJson }: SpinnerContext): boolean {
  return stderr.isTTY === true && stderr.columns > 0 && !isJson;
}

/** `████████░░░░░░░░░░░░` */
export function barOf(done: number, total: number): string {
  const filled = total === 0 ? 0 : Math.min(BAR, Math.round((done / total) * BAR));
  return `${"█".repeat(filled)}${"░".repeat(BAR - filled)}`;
}

interface Spinner {
  readonly say: (text: string) => void;
  readonly above: Bar["above"];
  readonly stop: () => void;
}

function startSpinner({ stderr }: SpinnerContext, label: string, askStep?: AskStep): Spinner {
  let text = label;
  let spinner: Ora | undefined;
  let isOver = false;
  const say = (words: string): void => {
    // What a server tells is not to be trusted with the terminal.
    text = cut(forTerminal(words), stderr.columns - 4);
    if (spinner !== undefined) spinner.text = text;
  };
  const start = async (): Promise<void> => {
    const { default: ora } = await import("ora");
    if (isOver) return;
    // It must not take the keyboard: ^C would not be heard.
    spinner = ora({ text, stream: stderr, discardStdin: false, isEnabled: true }).start();
    if (askStep !== undefined) look(askStep);
  };
  const look = (ask: AskStep): void => {
    // What cannot be told is no fault of what is waited for.
    const asked = ask().catch(() => undefined);
    void asked.then((words) => {
      if (isOver) return;
      say(words ?? label);
      timer = setTimeout(() => look(ask), LOOK_MS);
    });
  };
  let timer = setTimeout(() => void start(), PATIENCE_MS);
  const stop = (): void => {
    isOver = true;
    clearTimeout(timer);
    spinner?.stop();
  };
  const above: Bar["above"] = (print) => {
    spinner?.clear();
    print();
    spinner?.render();
  };
  return { say, above, stop };
}
