import { PdError } from "../../domain/errors.ts";

/** Between two attempts to send what no server has taken. */
export const RETRY_MS = 1000;

/** There is no server, or it is about to end: the next one is sent the same. */
export function isServerGone(error: unknown): error is PdError {
  return error instanceof PdError && (error.code === "PD_SERVER_UNREACHABLE" || error.code === "PD_STOPPING");
}
