import type { CatchUp } from "../domain/timer/schedule.ts";
import type { Retention } from "./stores/store.ts";

export interface EngineSettings {
  /** Time limit for a call of `run` or a hook. */
  readonly deadlineMs: number;
  readonly memoryMb: number;
  readonly idleMs: number;
  /** A request whose run takes longer is stored and answered early. */
  readonly acceptMs: number;
  /** Time limit for a component's own response. */
  readonly responseMs: number;
  /** Concurrent calls of one source. Others wait. */
  readonly maxConcurrency: number;
  readonly maxWaiting: number;
  /** Concurrent processes of sources. Others wait. */
  readonly maxProcesses: number;
  readonly deliveryConcurrency: number;
  readonly catchUp: CatchUp;
  /** Callers may have modules loaded before the component. */
  readonly allowsImports: boolean;
  /** The wall also encloses programs that a component starts. */
  readonly enclosesPrograms: boolean;
  /** Native code sees the real `/tmp` of its process. */
  readonly allowsAddons: boolean;
  readonly retention: Retention;
  /** Public, without a trailing slash. */
  endpointUrl(key: string): string;
  /** Address of the page for people, without a trailing slash. */
  pageUrl(): string;
}
