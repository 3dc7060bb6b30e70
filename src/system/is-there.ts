import { stat } from "node:fs/promises";

/** Whether something lies there, at the end of links as well. */
export function isThere(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false,
  );
}
