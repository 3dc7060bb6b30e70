interface SpinnerContext {
  readonly stderr: NodeJS.WriteStream;
  readonly isJson: boolean;
}

/** Shows that something goes on, when it takes longer than 300 ms and a person looks on. */
export async function withSpinner<Value>(cli: SpinnerContext, label: string, work: Promise<Value>): Promise<Value> {
  if (cli.stderr.isTTY !== true || cli.isJson) return work;
  let stop = (): void => {};
  let isOver = false;
  const timer = setTimeout(() => {
    void import("ora").then(({ default: ora }) => {
      if (isOver) return;
      const spinner = ora({ text: label, stream: cli.stderr }).start();
      stop = () => spinner.stop();
    });
  }, 300);
  try {
    return await work;
  } finally {
    isOver = true;
    clearTimeout(timer);
    stop();
  }
}
