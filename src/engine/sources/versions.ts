import { PdError } from "../../domain/errors.ts";
import type { SavedComponent } from "../../domain/component/saved-component.ts";
import type { SourceVersion } from "../../domain/source/source-version.ts";
import type { ComponentStore } from "../../ports/stores/component-store.ts";
import type { LiveSource } from "../runs/source/live-source.ts";

export interface VersionWithCode {
  readonly version: SourceVersion;
  readonly component: SavedComponent;
}

export class Versions {
  readonly #store: Pick<ComponentStore, "listVersions" | "getComponent">;

  constructor({ store }: { readonly store: Pick<ComponentStore, "listVersions" | "getComponent"> }) {
    this.#store = store;
  }

  list({ source }: LiveSource): Promise<readonly SourceVersion[]> {
    return this.#store.listVersions(source.id);
  }

  /** Throws PD_NOT_FOUND. */
  async find(live: LiveSource, number: number): Promise<VersionWithCode> {
    const kept = await this.list(live);
    const version = kept.find((known) => known.number === number);
    const component = version === undefined ? undefined : await this.#store.getComponent(version.componentId);
    if (version !== undefined && component !== undefined) return { version, component };
    throw new PdError(
      "PD_NOT_FOUND",
      `Cannot find version ${number} of ${live.source.slug}: the versions are ${kept.map((known) => known.number).join(", ")}`,
      {
        fix: `pd versions ${live.source.slug} lists them`,
      },
    );
  }

  /** Defaults to the version before the current one. Throws PD_NOT_FOUND, and PD_BAD_INPUT for the running version. */
  async target(live: LiveSource, number: number | undefined): Promise<VersionWithCode> {
    const { slug, version: current, componentId } = live.source;
    const wanted = number ?? (await this.list(live)).find((known) => known.number < current && known.componentId !== componentId)?.number;
    if (wanted === undefined)
      throw new PdError("PD_NOT_FOUND", `Cannot roll ${slug} back: no earlier version with other code is stored`, { fix: `pd versions ${slug}` });
    if (wanted === current) throw new PdError("PD_BAD_INPUT", `Cannot roll ${slug} back to version ${wanted}: it is already running`);
    return this.find(live, wanted);
  }
}
