import type { DeployedComponent } from "../domain/source/deployed-component.ts";
import { type DeployedId, isDeployedId } from "../domain/ids.ts";
import { theNamed } from "../domain/source/named.ts";
import type { HostedSources } from "./sources/hosted-sources.ts";
import type { Workflows } from "./workflows/workflows.ts";

/** Sources and workflows together, for what both have: events, runs, deliveries. */
export class Deployed {
  readonly #sources: HostedSources;
  readonly #workflows: Workflows;

  constructor(sources: HostedSources, workflows: Workflows) {
    this.#sources = sources;
    this.#workflows = workflows;
  }

  /** Finds by id, slug or name, or by id and slug alone if `isExact`. Throws PD_SOURCE_NOT_FOUND and PD_AMBIGUOUS. */
  find(word: string, attempted: string, isExact = false): Pick<DeployedComponent, "id" | "slug"> {
    const source = this.#sources.byIdOrSlug(word);
    if (source !== undefined) return source.outline;
    const { live } = theNamed([...this.#workflows.named(), ...this.#sources.named()], word, { attempted, isExact });
    return "outline" in live ? live.outline : live.source;
  }

  /** Without the triggers of workflows. */
  named(): readonly { readonly id: DeployedId; readonly name: string }[] {
    const sources = [...this.#sources.all()].map(({ outline }) => outline).filter(({ workflowId }) => workflowId === undefined);
    return [...sources, ...this.#workflows.list().map(({ source }) => source)].map(({ id, name }) => ({ id, name }));
  }

  nameOf(id: string): string | undefined {
    return (isDeployedId(id) ? this.#sources.byId(id)?.outline.name : undefined) ?? this.#workflows.named().find((one) => one.id === id)?.name;
  }

  /** False for what is deleted, and for the triggers of workflows. */
  isOnItsOwn(id: string): boolean {
    const source = isDeployedId(id) ? this.#sources.byId(id) : undefined;
    return source === undefined ? this.has(id) : source.outline.workflowId === undefined;
  }

  has(id: string): boolean {
    return (isDeployedId(id) && this.#sources.byId(id) !== undefined) || this.#workflows.concurrencyOf(id) !== undefined;
  }
}
