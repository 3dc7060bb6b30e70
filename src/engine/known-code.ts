import type { ComponentDefinition } from "../domain/component.ts";
import type { DeployedComponent } from "../domain/deployed-component.ts";
import { withDynamicProps } from "../domain/prop.ts";
import type { Origin, SavedComponent } from "../domain/saved-component.ts";

/** What is worth remembering of the code of a source that is cold. */
export interface Provenance {
  readonly declared: ComponentDefinition;
  readonly origin: Origin;
  /** Paths of modules that are loaded before it. */
  readonly imports: readonly string[];
}

interface Known {
  readonly source: DeployedComponent;
  readonly provenance: Provenance;
  /** With the props that its values have added. */
  readonly definition: ComponentDefinition;
}

/** Remembers what a source's code declares, so that the code itself need not stay in memory. */
export class KnownCode {
  #known: Known | undefined;

  /** `read`: reads the code of the source as it is now. */
  of(source: DeployedComponent, read: () => SavedComponent): Known {
    if (this.#known?.source === source) return this.#known;
    const provenance = this.#known?.source.componentId === source.componentId ? this.#known.provenance : provenanceOf(read());
    const { declared } = provenance;
    this.#known = { source, provenance, definition: { ...declared, props: withDynamicProps(declared.props, source.dynamicProps) } };
    return this.#known;
  }
}

function provenanceOf({ definition, origin, code }: SavedComponent): Provenance {
  return { declared: definition, origin, imports: (code.imports ?? []).map(({ path }) => path) };
}
