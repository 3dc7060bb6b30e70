import { PdError } from "../../domain/errors.ts";

/** Between two attempts to send a save. */
export const RETRY_MS = 1000;

/** No server answers, or it is stopping. The save must be sent to the next one. */
export function isServerGone(error: unknown): error is PdError {
  return error instanceof PdError && (error.code === "PD_SERVER_UNREACHABLE" || error.code === "PD_STOPPING");
}
