import type { JsonObject } from "../domain/text/json.ts";
import type { Bundle } from "../domain/component/saved-component.ts";

/** Messages are in the inspector's protocol. */
export interface InspectedProcess {
  send(message: JsonObject): void;
  listen(onMessage: (message: JsonObject) => void): void;
  readonly ended: Promise<unknown>;
}

export interface DebugLink {
  /** Names the code, the same for every version. */
  readonly url: string;
  /** Announces a process that is about to load the text from `textOf`. Resolves when it may. */
  join(process: InspectedProcess, bundle: Bundle): Promise<void>;
  /** Resolves when the debugger is attached to the newest living process. */
  settled(): Promise<void>;
  /** Includes the source map and `url`. */
  textOf(bundle: Bundle): string;
}
