/** Published as `headwater/testing`. */
export { type LoadOptions, load } from "./load.ts";
export { matchers } from "./matchers.ts";
export { type Handler, type HandlerAnswer, type Outside, type OutsideCall, recording } from "./outside.ts";
export { type Place, closeAll } from "./plugs.ts";
export type { RunInput, TestRequest } from "./run-input.ts";
export { type Emitted, type Line, RunFailed, type RunResult } from "./run-result.ts";
export { TestSource } from "./test-source.ts";
