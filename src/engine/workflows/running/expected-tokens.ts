import type { WorkflowRun } from "../../../domain/workflow/run.ts";

interface Expected {
  readonly run: WorkflowRun;
  readonly settled: Promise<unknown>;
}

/** A third party may use a token before its step has ended. Its request then waits until the step is stored. */
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

  runOf(token: string): WorkflowRun | undefined {
    return this.#expected.get(token)?.run;
  }

  /** False when no running step has the token. */
  async untilSettled(token: string): Promise<boolean> {
    const expected = this.#expected.get(token);
    if (expected === undefined) return false;
    await expected.settled.catch(() => {});
    return true;
  }
}
