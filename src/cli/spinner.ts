import type { Ora } from "ora";
import { cut, forTerminal } from "./terminal-text.ts";

interface SpinnerContext {
  readonly stderr: NodeJS.WriteStream;
  readonly isJson: boolean;
}

/** Undefined for an unknown step. */
type AskStep = () => Promise<string | undefined>;

const PATIENCE_MS = 300;
/** Between requests for the current step. */
const LOOK_MS = 250;
const BAR = 20;

/** The terminal fits one spinner or question. */
let holders = 0;

export function withSpinner<Value>(cli: SpinnerContext, label: string, work: Promise<Value>): Promise<Value> {
  return withSteps(cli, { label }, work);
}

/** `label`: shown without a step. */
export async function withSteps<Value>(cli: SpinnerContext, words: { label: string; askStep?: AskStep }, work: Promise<Value>): Promise<Value> {
  if (!isSeen(cli) || holders > 0) return work;
  const spinner = startSpinner(cli, words.label, words.askStep);
  return holdingTerminal(() => work).finally(spinner.stop);
}

export interface Bar {
  readonly isShown: boolean;
  readonly tick: (done: number, total: number, words: string) => void;
  readonly above: (print: () => void) => void;
}

const NO_BAR: Bar = { isShown: false, tick: () => {}, above: (print) => print() };

export async function withBar<Value>(cli: SpinnerContext, label: string, work: (bar: Bar) => Promise<Value>): Promise<Value> {
  if (!isSeen(cli) || holders > 0) return work(NO_BAR);
  const { say, above, stop } = startSpinner(cli, label);
  const tick: Bar["tick"] = (done, total, words) => say(`${label} ${barOf(done, total)} ${words}`);
  return holdingTerminal(() => work({ isShown: true, tick, above })).finally(stop);
}

export async function holdingTerminal<Value>(work: () => Promise<Value>): Promise<Value> {
  holders++;
  try {
    return await work();
  } finally {
    holders--;
  }
}

/** Without a known width, the terminal is cleared forever. */
function isSeen({ stderr, isJson }: SpinnerContext): boolean {
  return stderr.isTTY === true && stderr.columns > 0 && !isJson;
}

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
    // A server's text may contain terminal commands.
    text = cut(forTerminal(words), stderr.columns - 4);
    if (spinner !== undefined) spinner.text = text;
  };
  const start = async (): Promise<void> => {
    const { default: ora } = await import("ora");
    if (isOver) return;
    // Otherwise ^C would not arrive.
    spinner = ora({ text, stream: stderr, discardStdin: false, isEnabled: true }).start();
    if (askStep !== undefined) look(askStep);
  };
  const look = (ask: AskStep): void => {
    // The work must not fail without its step.
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
