interface SpinnerContext {
  readonly stderr: NodeJS.WriteStream;
  readonly isJson: boolean;
}

/** Shown after this long. */
const PATIENCE_MS = 300;

/** Spinners and questions that have the terminal: there is room for one. */
let holders = 0;

/** Shows that something goes on, when it takes long and a person looks on. */
export async function withSpinner<Value>(cli: SpinnerContext, label: string, work: Promise<Value>): Promise<Value> {
  // A terminal that does not know its width would be cleared for ever.
  const isSeen = cli.stderr.isTTY === true && cli.stderr.columns > 0 && !cli.isJson;
  if (!isSeen || holders > 0) return work;
  let stop = (): void => {};
  let isOver = false;
  const timer = setTimeout(() => {
    void import("ora").then(({ default: ora }) => {
      if (isOver) return;
      // It must not take the keyboard: ^C would not be heard.
      const spinner = ora({ text: label, stream: cli.stderr, discardStdin: false }).start();
      stop = () => spinner.stop();
    });
  }, PATIENCE_MS);
  return holdingTerminal(() => work).finally(() => {
    isOver = true;
    clearTimeout(timer);
    stop();
  });
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
