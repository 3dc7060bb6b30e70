import type { JsonObject } from "../domain/json.ts";
import type { Bundle } from "../domain/saved-component.ts";

/** A process whose inspector can be spoken with, in the inspector's protocol. */
export interface InspectedProcess {
  send(message: JsonObject): void;
  /** What it says from now on goes here. */
  listen(onMessage: (message: JsonObject) => void): void;
  /** Resolves when the process is gone. */
  readonly ended: Promise<unknown>;
}

/** Whoever debugs what a source runs on. */
export interface DebugLink {
  /** The name under which its code is shown, the same for every version of it. */
  readonly url: string;
  /** A process is about to load this bundle, which says `url` and its source map at its end. Resolves when it may. */
  join(process: InspectedProcess, bundle: Bundle): Promise<void>;
  /** Resolves when the debugger is with the newest process that lives: one that has just ended is left behind. */
  settled(): Promise<void>;
  /** The text to load in place of the bundle's own. */
  textOf(bundle: Bundle): string;
}
