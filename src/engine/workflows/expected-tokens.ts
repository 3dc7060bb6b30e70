import type { WorkflowRun } from "../../domain/workflow/run.ts";

interface Expected {
  readonly run: WorkflowRun;
  readonly settled: Promise<unknown>;
}

/**
 * Tokens of steps that run now. A third party may use one before the step that gave it away has ended: it is kept
 * waiting until that is stored.
 */
export class ExpectedTokens {
  readonly #expected = new Map<string, Expected>();

  async during<Value>(token: string, run: WorkflowRun, work: () => Promise<Value>): Promise<Value> {
    const settled = work();
    this.#expected.set(token, { run, settled });
    try {
      return await settled;
    } finally {
      this.#expected.delete(token);
    }
  }

  /** The run of the step that has the token and runs now. */
  runOf(token: string): WorkflowRun | undefined {
    return this.#expected.get(token)?.run;
  }

  /** Resolves when the step has ended that has the token. False: none runs that has it. */
  async untilSettled(token: string): Promise<boolean> {
    const expected = this.#expected.get(token);
    if (expected === undefined) return false;
    await expected.settled.catch(() => {});
    return true;
  }
}
