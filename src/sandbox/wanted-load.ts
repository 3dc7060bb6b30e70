import { PdError } from "../domain/errors.ts";
import type { UnitProcess } from "./process-unit.ts";

/** The process that is on its way; one that comes when nobody wants it any more is ended. Throws as `throwIfUnwanted` does. */
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

/** Ends the process in which something is loaded when nobody wants that any more. */
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

/** Throws the reason of a signal that has aborted, where that is a PdError, else PD_INTERRUPTED with it. */
export function throwIfUnwanted(signal: AbortSignal | undefined): void {
  if (signal?.aborted === true) throw loadCutOff(signal);
}

function loadCutOff({ reason }: AbortSignal): PdError {
  return reason instanceof PdError ? reason : new PdError("PD_INTERRUPTED", `Cannot load the component: ${String(reason)}`);
}
