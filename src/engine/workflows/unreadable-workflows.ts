import type { DeployedComponent, StoredSource } from "../../domain/deployed-component.ts";
import { PdError } from "../../domain/errors.ts";

/** A workflow whose row this program did not write so. */
export interface UnreadableWorkflow {
  readonly id: string;
  readonly slug: string;
  readonly problem: string;
}

/** Nothing of these runs, what they listen to waits for them, and whoever asks for one is told. */
export class UnreadableWorkflows {
  readonly all: UnreadableWorkflow[] = [];

  /** `undefined`: it cannot be read, and is noted. */
  read(stored: StoredSource): DeployedComponent | undefined {
    try {
      return stored.source;
    } catch (error) {
      if (!(error instanceof PdError) || error.code !== "PD_DATABASE_DAMAGED") throw error;
      const { id, slug } = stored.outline;
      this.all.push({ id, slug, problem: error.message });
      return undefined;
    }
  }

  has(id: string): boolean {
    return this.all.some((one) => one.id === id);
  }

  /** Throws PD_DATABASE_DAMAGED when it is one of these. */
  refuse(idOrSlug: string): void {
    const found = this.all.find(({ id, slug }) => id === idOrSlug || slug === idOrSlug);
    if (found !== undefined) throw new PdError("PD_DATABASE_DAMAGED", found.problem);
  }
}
