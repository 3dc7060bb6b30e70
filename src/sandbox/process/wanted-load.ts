import { PdError } from "../../domain/errors.ts";
import type { UnitProcess } from "./process-unit.ts";

/** Kills a process that arrives after the abort. Throws like `throwIfUnwanted`. */
export async function processIfWanted<Process extends UnitProcess>(coming: Promise<Process>, signal: AbortSignal | undefined): Promise<Process> {
  if (signal === undefined) return coming;
  const come = new AbortController();
  const unwanted = new Promise<never>((_resolve, reject) => {
    const refuse = (): void => reject(loadCutOff(signal));
    signal.addEventListener("abort", refuse, { signal: come.signal });
    if (signal.aborted) refuse();
  });
  try {
    return await Promise.race([coming, unwanted]);
  } finally {
    come.abort();
    if (signal.aborted)
      coming.then(
        (late) => late.kill(),
        () => {},
      );
  }
}

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

/** Throws an aborted signal's reason when that is a PdError, otherwise PD_INTERRUPTED. */
export function throwIfUnwanted(signal: AbortSignal | undefined): void {
  if (signal?.aborted === true) throw loadCutOff(signal);
}

function loadCutOff({ reason }: AbortSignal): PdError {
  return reason instanceof PdError ? reason : new PdError("PD_INTERRUPTED", `Cannot load the component: ${String(reason)}`);
}
