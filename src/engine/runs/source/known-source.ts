import type { ComponentDefinition } from "../../../domain/component/component.ts";
import type { DeployedComponent, Provenance, SourceOutline, StoredSource } from "../../../domain/source/deployed-component.ts";
import { withDynamicProps } from "../../../domain/props/declared-props.ts";
import { type Reach, reachWithoutAccounts } from "../../accounts/credentials.ts";

/** A source that is being deployed and is not in the store yet. */
export interface Draft extends Pick<StoredSource, "outline" | "source"> {
  readonly provenance?: undefined;
}

export class KnownSource {
  readonly #stored: StoredSource | Draft;
  #definition: ComponentDefinition | undefined;
  #reach: Reach | undefined;

  constructor(stored: StoredSource | Draft) {
    this.#stored = stored;
  }

  get outline(): SourceOutline {
    return this.#stored.outline;
  }

  get source(): DeployedComponent {
    return this.#stored.source;
  }

  get provenance(): Provenance {
    if (this.#stored.provenance === undefined) throw new Error(`${this.outline.id} was asked for its code before it was loaded`);
    return this.#stored.provenance;
  }

  /** Includes the dynamic props. */
  get definition(): ComponentDefinition {
    if (this.#definition !== undefined) return this.#definition;
    const { declared } = this.provenance;
    this.#definition = { ...declared, props: withDynamicProps(declared.props, this.source.dynamicProps) };
    return this.#definition;
  }

  /** Undefined when the values name an account. */
  get reachWithoutAccounts(): Reach | undefined {
    this.#reach ??= reachWithoutAccounts(this.definition.props, this.source.configured);
    return this.#reach;
  }
}
