import { PdError } from "../domain/errors.ts";
import type { UnitProcess } from "./process-unit.ts";

/** Ends the process in which something is loaded when the signal says that nobody wants it any more. */
export async function whileWanted<Loaded>(child: UnitProcess, signal: AbortSignal | undefined, load: () => Promise<Loaded>): Promise<Loaded> {
  const cutOff = (): void => child.kill();
  signal?.addEventListener("abort", cutOff);
  if (signal?.aborted === true) cutOff();
  try {
    return await load();
  } finally {
    signal?.removeEventListener("abort", cutOff);
  }
}

/** Of what was not loaded by then. */
export function loadCutOff({ reason }: AbortSignal): PdError {
  return new PdError("PD_INTERRUPTED", `Cannot load the component: ${String(reason)}`);
}
