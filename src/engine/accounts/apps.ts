import type { ComponentStore } from "../../ports/stores/component-store.ts";
import { fieldsRead, fieldsReadOf } from "../../domain/account/account.ts";
import { PdError } from "../../domain/errors.ts";
import { type AppField, type CatalogApp, catalogApp, appCatalog } from "../../domain/account/app-catalog.ts";
import { appOfKey, isAppSlug } from "../../domain/component/registry.ts";
import type { ComponentCode, SavedComponent } from "../../domain/component/saved-component.ts";
import { isSecretField } from "../../domain/account/secrets.ts";
import { type CodeInput, type CodePorts, resolveCode } from "../code/build-component.ts";
import type { Registries } from "../code/registries.ts";

export interface App extends CatalogApp {
  readonly slug: string;
  readonly auth: "oauth" | "keys" | undefined;
}

export interface ComponentCounts {
  readonly sources: number;
  readonly actions: number;
}

type AppPorts = CodePorts & { readonly store: Pick<ComponentStore, "listComponents"> };

export class Apps {
  readonly #ports: AppPorts;
  readonly #registries: Registries;

  constructor(ports: AppPorts, registries: Registries) {
    this.#ports = ports;
    this.#registries = registries;
  }

  /** Known apps, and those of components that are here. */
  async list(): Promise<readonly App[]> {
    const known = await appCatalog();
    const slugs = new Set([...known.keys(), ...(await this.#used()), ...(await this.countComponents()).keys()]);
    return [...slugs].toSorted((a, b) => (a < b ? -1 : 1)).map((slug) => appOf(slug, known.get(slug) ?? { name: slug, topics: "", fields: [] }));
  }

  /** Derives an unknown app from code that uses it, or from published code. */
  async find(slug: string, user?: ComponentCode): Promise<App | undefined> {
    if (!isAppSlug(slug)) return undefined;
    const known = await catalogApp(slug);
    if (known !== undefined) return appOf(slug, known);
    const own = user === undefined ? [] : fieldsReadOf(slug, [user.text, ...Object.values(user.files)]);
    const fields = new Set([...own, ...(await this.#publishedFields(slug))]);
    return fields.size === 0 && !(await this.#used()).includes(slug) ? undefined : learnedApp(slug, [...fields], own);
  }

  async ofComponent(slug: string, code: CodeInput | { readonly kind: "saved"; readonly component: SavedComponent }): Promise<App | undefined> {
    return this.find(slug, code.kind === "saved" ? code.component.code : (await resolveCode(this.#ports, code)).code);
  }

  /** Of the apps whose components are here. Others may be published. */
  async countComponents(): Promise<ReadonlyMap<string, ComponentCounts>> {
    const counts = new Map<string, ComponentCounts>();
    for (const { key, type } of await this.#registries.index()) {
      const { sources, actions } = counts.get(appOfKey(key)) ?? { sources: 0, actions: 0 };
      counts.set(appOfKey(key), type === "source" ? { sources: sources + 1, actions } : { sources, actions: actions + 1 });
    }
    return counts;
  }

  async #used(): Promise<readonly string[]> {
    return (await this.#ports.store.listComponents()).flatMap(({ definition }) => definition.props.flatMap((prop) => (prop.kind === "app" ? [prop.app] : [])));
  }

  /** Also empty when such code cannot be read now. */
  async #publishedFields(app: string): Promise<readonly string[]> {
    const found = await this.#registries.search(app).catch(nobodyCanTell);
    const entry = found?.find(({ key }) => appOfKey(key) === app);
    const published = entry === undefined ? undefined : await this.#registries.find(entry.key, entry.registry).catch(nobodyCanTell);
    const texts = Object.entries(published?.code.files ?? {}).filter(([path]) => /\.app\.\w+$/.test(path));
    return [...new Set(texts.flatMap(([, text]) => fieldsRead(text)))];
  }
}

function appOf(slug: string, known: CatalogApp): App {
  return { ...known, slug, auth: known.oauth !== undefined ? "oauth" : known.fields.length > 0 ? "keys" : undefined };
}

/** Fields named `oauth_…` come from OAuth. */
function learnedApp(slug: string, names: readonly string[], own: readonly string[]): App {
  const byOAuth = names.includes("oauth_access_token");
  // Several fields may be alternatives, of which code needs one.
  const required = own.length === 1 ? own[0] : names.length === 1 ? names[0] : undefined;
  const fields = names
    .filter((name) => !name.startsWith("oauth_"))
    .map((name): AppField => ({ name, secret: isSecretField(name), ...(name === required ? {} : { optional: true }) }));
  return { ...appOf(slug, { name: slug, topics: "", fields }), ...(byOAuth ? { auth: "oauth" } : {}) };
}

/** Field names are only a help. */
function nobodyCanTell(error: unknown): undefined {
  if (error instanceof PdError && (error.code === "PD_REGISTRY_UNREACHABLE" || error.code === "PD_BUILD_FAILED")) return undefined;
  throw error;
}
