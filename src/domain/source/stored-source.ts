import type { ComponentDefinition } from "../component/component.ts";
import type { Origin, SavedComponent } from "../component/saved-component.ts";
import { withDynamicProps } from "../props/declared-props.ts";
import { type DeployedComponent, type SourceOutline, outlineOf } from "./deployed-component.ts";

/** Facts about code that do not require loading it. */
export interface Provenance {
  readonly declared: ComponentDefinition;
  readonly origin: Origin;
  /** Paths of modules that are loaded before the component. */
  readonly imports: readonly string[];
}

export function provenanceOf({ definition, origin, code }: Pick<SavedComponent, "definition" | "origin" | "code">): Provenance {
  return { declared: definition, origin, imports: (code.imports ?? []).map(({ path }) => path) };
}

interface Reads {
  readonly source: () => DeployedComponent;
  readonly provenance: () => Provenance;
}

/** A source as the store has it. All but its outline is read on first access, because most sources of a server are idle. */
export class StoredSource {
  readonly outline: SourceOutline;
  /** Dropped once both are read, with what they hold. */
  #reads: Reads | undefined;
  #source: DeployedComponent | undefined;
  #provenance: Provenance | undefined;
  #definition: ComponentDefinition | undefined;

  /** What `reads` throw, the getters throw. */
  constructor(outline: SourceOutline, reads: Reads) {
    this.outline = outline;
    this.#reads = reads;
  }

  static of(source: DeployedComponent, component: Pick<SavedComponent, "definition" | "origin" | "code">): StoredSource {
    const provenance = provenanceOf(component);
    return new StoredSource(outlineOf(source), { source: () => source, provenance: () => provenance });
  }

  /** A source that is being deployed. Its code is not known yet. */
  static draft(source: DeployedComponent): StoredSource {
    const provenance = (): never => {
      throw new Error(`${source.id} was asked for its code before it was loaded`);
    };
    return new StoredSource(outlineOf(source), { source: () => source, provenance });
  }

  get source(): DeployedComponent {
    if (this.#source === undefined) {
      this.#source = this.#unread().source();
      this.#dropRead();
    }
    return this.#source;
  }

  get provenance(): Provenance {
    if (this.#provenance === undefined) {
      this.#provenance = this.#unread().provenance();
      this.#dropRead();
    }
    return this.#provenance;
  }

  /** Includes the dynamic props. */
  get definition(): ComponentDefinition {
    if (this.#definition !== undefined) return this.#definition;
    const { declared } = this.provenance;
    this.#definition = { ...declared, props: withDynamicProps(declared.props, this.source.dynamicProps) };
    return this.#definition;
  }

  #unread(): Reads {
    if (this.#reads === undefined) throw new Error(`${this.outline.id} was read twice`);
    return this.#reads;
  }

  #dropRead(): void {
    if (this.#source !== undefined && this.#provenance !== undefined) this.#reads = undefined;
  }
}
