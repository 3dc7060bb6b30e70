import type { CatchUp } from "../domain/schedule.ts";
import type { Retention } from "./store.ts";

/** What whoever runs the server has settled. */
export interface EngineSettings {
  /** How long one call of `run` or a hook may take. */
  readonly deadlineMs: number;
  /** JavaScript memory of a component's process. */
  readonly memoryMb: number;
  /** A process that had nothing to do for so long ends. */
  readonly idleMs: number;
  /** A request whose run takes longer is stored and answered before it ends. */
  readonly acceptMs: number;
  /** A component that answers by itself has so long to do it. */
  readonly responseMs: number;
  /** Calls of one source that run at the same time; more wait. */
  readonly maxConcurrency: number;
  /** Calls of one source that may wait. */
  readonly maxWaiting: number;
  /** Processes of sources at the same time; who wants another one waits. */
  readonly maxProcesses: number;
  /** Attempts to deliver that go on for one listener at the same time. */
  readonly deliveryConcurrency: number;
  readonly catchUp: CatchUp;
  /** Callers may have modules loaded before the component. */
  readonly allowsImports: boolean;
  /** The wall stands: programs that a component starts are enclosed as well. */
  readonly enclosesPrograms: boolean;
  /** Components may load native code, which reads `/tmp` of its process. */
  readonly allowsAddons: boolean;
  readonly retention: Retention;
  /** The address under which a source's endpoint is reached from outside, without a trailing slash. */
  endpointUrl(key: string): string;
}
