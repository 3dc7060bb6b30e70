import { join } from "node:path";
import type { ComponentNetwork, SandboxUse } from "../../ports/runner.ts";
import { programFile } from "../../system/program-files.ts";
import type { Enclosure } from "./enclosure.ts";
import { copyEntry } from "./own-entry.ts";
import { openEnclosure } from "./wall.ts";

export interface SandboxSettings {
  readonly sandboxUse: SandboxUse;
  readonly memoryMb: number;
  readonly componentNetwork: ComponentNetwork;
}

export interface Sandbox {
  readonly entry: string;
  readonly runFolder: string;
  readonly packagesFolder: string;
  readonly enclosure: Enclosure;
}

/** Separate from a server's sandbox. Its components see `packagesFolder`. */
export async function openSandbox(home: string, packagesFolder: string, { sandboxUse, memoryMb, componentNetwork }: SandboxSettings): Promise<Sandbox> {
  const places = { entry: await copyEntry(programFile("child.cjs"), home), runFolder: join(home, "run"), packagesFolder };
  return { ...places, enclosure: await openEnclosure(sandboxUse, { ...places, memoryMb, network: componentNetwork }) };
}
