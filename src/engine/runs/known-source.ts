import type { ComponentDefinition } from "../../domain/component.ts";
import type { DeployedComponent, Provenance } from "../../domain/deployed-component.ts";
import { withDynamicProps } from "../../domain/props/declared-props.ts";
import { type Reach, reachWithoutAccounts } from "../accounts/credentials.ts";

/** What is known of a source from one change of it to the next, and what follows from that. */
export class KnownSource {
  readonly source: DeployedComponent;
  /** `undefined` while it is being deployed and the store does not know it yet. */
  readonly #provenance: Provenance | undefined;
  #definition: ComponentDefinition | undefined;
  #reach: Reach | undefined;

  constructor(source: DeployedComponent, provenance: Provenance | undefined) {
    this.source = source;
    this.#provenance = provenance;
  }

  /** Where its code came from, and what is loaded before it. */
  get provenance(): Provenance {
    if (this.#provenance === undefined) throw new Error(`${this.source.id} was asked for its code before it was loaded`);
    return this.#provenance;
  }

  /** With the props that its values have added. */
  get definition(): ComponentDefinition {
    if (this.#definition !== undefined) return this.#definition;
    const { declared } = this.provenance;
    this.#definition = { ...declared, props: withDynamicProps(declared.props, this.source.dynamicProps) };
    return this.#definition;
  }

  /** What calls reach, where the values name no account: it is as they are. */
  get reachWithoutAccounts(): Reach | undefined {
    this.#reach ??= reachWithoutAccounts(this.definition.props, this.source.configured);
    return this.#reach;
  }
}
