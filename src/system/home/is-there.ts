import { stat } from "node:fs/promises";

/** Follows symbolic links. */
export function isThere(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false,
  );
}
