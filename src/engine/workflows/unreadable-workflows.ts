import type { DeployedComponent, StoredSource } from "../../domain/deployed-component.ts";
import { PdError } from "../../domain/errors.ts";
import { type WorkflowId, isWorkflowId } from "../../domain/ids.ts";

/** A workflow whose row this program did not write so. */
export interface UnreadableWorkflow {
  readonly id: WorkflowId;
  readonly name: string;
  readonly slug: string;
  readonly version: number;
  readonly createdAt: number;
  readonly problem: string;
}

/** Nothing of these runs, what they listen to waits for them, and whoever asks for one is told. */
export class UnreadableWorkflows {
  #all: readonly UnreadableWorkflow[] = [];

  get all(): readonly UnreadableWorkflow[] {
    return this.#all;
  }

  /** `undefined`: it cannot be read, and is noted. */
  read(stored: StoredSource): DeployedComponent | undefined {
    try {
      return stored.source;
    } catch (error) {
      if (!(error instanceof PdError) || error.code !== "PD_DATABASE_DAMAGED") throw error;
      const { id, name, slug, version, createdAt } = stored.outline;
      if (isWorkflowId(id)) this.#all = [...this.#all, { id, name, slug, version, createdAt, problem: error.message }];
      return undefined;
    }
  }

  has(id: string): boolean {
    return this.#all.some((one) => one.id === id);
  }

  find(idOrSlug: string): UnreadableWorkflow | undefined {
    return this.#all.find(({ id, slug }) => id === idOrSlug || slug === idOrSlug);
  }

  remove(gone: UnreadableWorkflow): void {
    this.#all = this.#all.filter((one) => one !== gone);
  }

  /** Throws PD_DATABASE_DAMAGED when it is one of these, by id, slug or name. */
  refuse(word: string): void {
    const found = this.find(word) ?? this.#all.find(({ name }) => name === word);
    if (found !== undefined) throw new PdError("PD_DATABASE_DAMAGED", found.problem);
  }
}
