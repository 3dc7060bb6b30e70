import type { ComponentDefinition } from "../../domain/component.ts";
import type { DeployedComponent, Provenance, SourceOutline, StoredSource } from "../../domain/deployed-component.ts";
import { withDynamicProps } from "../../domain/props/declared-props.ts";
import { type Reach, reachWithoutAccounts } from "../accounts/credentials.ts";

/** A source that is being deployed: the store does not know it yet. */
export interface Draft extends Pick<StoredSource, "outline" | "source"> {
  readonly provenance?: undefined;
}

/** What is known of a source from one change of it to the next, and what follows from that. */
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

  /** Where its code came from, and what is loaded before it. */
  get provenance(): Provenance {
    if (this.#stored.provenance === undefined) throw new Error(`${this.outline.id} was asked for its code before it was loaded`);
    return this.#stored.provenance;
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
