import type { DeployedComponent } from "../../domain/source/deployed-component.ts";
import type { StoredSource } from "../../domain/source/stored-source.ts";
import { PdError } from "../../domain/errors.ts";
import { type WorkflowId, isWorkflowId } from "../../domain/ids.ts";

export interface UnreadableWorkflow {
  readonly id: WorkflowId;
  readonly name: string;
  readonly slug: string;
  readonly version: number;
  readonly createdAt: number;
  readonly problem: string;
}

/** Their messages stay due. */
export class UnreadableWorkflows {
  #all: readonly UnreadableWorkflow[] = [];

  get all(): readonly UnreadableWorkflow[] {
    return this.#all;
  }

  /** Undefined, and remembered, when the workflow cannot be read. */
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

  /** Throws PD_DATABASE_DAMAGED for an id, slug or name. */
  refuse(word: string): void {
    const found = this.find(word) ?? this.#all.find(({ name }) => name === word);
    if (found !== undefined) throw new PdError("PD_DATABASE_DAMAGED", found.problem);
  }
}
