import { describe, onTestFinished } from "vitest";
import { runnerContract } from "../contract/runner.ts";
import { InProcessRunner } from "../../src/testing/in-process-runner.ts";

describe("the runner in the process of a test", () => {
  runnerContract(async () => {
    const runner = new InProcessRunner();
    onTestFinished(() => runner[Symbol.asyncDispose]());
    return runner;
  });
});
