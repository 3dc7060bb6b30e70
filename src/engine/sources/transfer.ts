import type { DedupeCache } from "../../domain/event/dedupe.ts";
import type { SourceSettings } from "../../domain/source-settings/settings.ts";
import type { JsonObject } from "../../domain/text/json.ts";
import type { PackageLock } from "../../domain/component/package-spec.ts";
import { accountIdOf } from "../../domain/props/app-prop.ts";
import { takesValue } from "../../domain/props/declared-props.ts";
import { holdsSecret } from "../../domain/props/secret-props.ts";
import type { ComponentCode } from "../../domain/component/saved-component.ts";
import type { StoredBaggage } from "../../ports/stores/component-store.ts";
import type { Store } from "../../ports/stores/store.ts";
import type { LiveSource } from "../runs/source/live-source.ts";

export interface ExportedSource {
  readonly slug: string;
  readonly name: string;
  readonly active: boolean;
  readonly version: string;
  readonly code: ComponentCode;
  readonly lock: PackageLock;
  readonly props: JsonObject;
  readonly secretProps: readonly string[];
  /** Secret props whose values are not exported. */
  readonly withheldProps: readonly string[];
  readonly propNames: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly withheldEnv: readonly string[];
  readonly settings: SourceSettings;
  readonly state?: Readonly<Record<string, string>>;
  readonly cache?: DedupeCache;
  readonly events: StoredBaggage["events"];
}

export interface ExportWishes {
  readonly secrets: boolean;
  readonly state: boolean;
  /** Number of newest events. */
  readonly events: number;
}

export async function exportSource(store: Store, live: LiveSource, { secrets, state, events }: ExportWishes): Promise<ExportedSource> {
  const { source, definition } = live;
  const component = await live.readComponent();
  const secretProps = definition.props.filter((prop) => holdsSecret(prop, source.configured[prop.name])).map(({ name }) => name);
  // Accounts exist only on this server.
  const staysHere = (name: string): boolean => accountIdOf(source.configured[name]) !== undefined;
  const withheldProps = secretProps.filter((name) => source.configured[name] !== undefined && (!secrets || staysHere(name)));
  return {
    slug: source.slug,
    name: source.name,
    active: source.active,
    version: definition.version,
    code: component.code,
    lock: component.lock,
    props: Object.fromEntries(Object.entries(source.configured).filter(([name]) => !withheldProps.includes(name))),
    secretProps,
    withheldProps,
    propNames: definition.props.filter((prop) => takesValue(prop)).map(({ name }) => name),
    env: secrets ? source.env : {},
    withheldEnv: secrets ? [] : Object.keys(source.env),
    settings: source.settings,
    ...(state ? { state: await store.readState(source.id), cache: await store.readCache(source.id) } : {}),
    events: events === 0 ? [] : (await store.listEvents(source.id, { limit: events })).toReversed(),
  };
}
