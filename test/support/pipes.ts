import { execFileSync } from "node:child_process";
import { constants } from "node:fs";
import { open } from "node:fs/promises";
import { join } from "node:path";

/** Resolving blocks on each pipe until a writer opens it. */
export const IMPORTS_UNDER_PIPES = 'import "./first/one.mjs"; import "./second/one.mjs";';

export interface Pipes {
  readonly first: string;
  readonly second: string;
}

export function makePipes(folder: string): Pipes {
  const [first, second] = [join(folder, "first"), join(folder, "second")];
  execFileSync("mkfifo", [first, second]);
  return { first, second };
}

/** Releases a waiting reader. */
export async function isWaitedFor(pipe: string): Promise<boolean> {
  const opened = await open(pipe, constants.O_WRONLY | constants.O_NONBLOCK).catch(() => undefined);
  await opened?.close();
  return opened !== undefined;
}
