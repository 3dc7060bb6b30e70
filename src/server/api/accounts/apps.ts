import { api } from "../../../api/api.ts";
import type { AppRecord } from "../../../api/apps.ts";
import { PdError } from "../../../domain/errors.ts";
import { appsAbout } from "../../../domain/component/app-search.ts";
import type { App, ComponentCounts } from "../../../engine/accounts/apps.ts";
import type { Engine } from "../../../engine/engine.ts";
import { requiredCode } from "../sources/component-code.ts";
import { type Route, pageOf, route } from "../route.ts";

const { apps, components } = api;

export function appRoutes(engine: Engine): readonly Route[] {
  return [
    route(apps.list, async ({ params }) => {
      const counts = await engine.apps.countComponents();
      const found = matching(await engine.apps.list(), params.q);
      return pageOf(found, params, { idOf: ({ slug }) => `app_${slug}`, records: (shown) => shown.map((app) => appRecord(app, counts)) });
    }),
    route(apps.get, async ({ part }) => {
      const id = part("id");
      const app = (await engine.apps.find(id)) ?? (id.startsWith("app_") ? await engine.apps.find(id.slice("app_".length)) : undefined);
      if (app === undefined) throw notFound(id);
      return { data: appRecord(app, await engine.apps.countComponents()) };
    }),
    route(components.app, async ({ params }) => {
      const app = await engine.apps.ofComponent(params.app, await requiredCode(engine, params, "look up an app"));
      if (app === undefined) throw notFound(params.app);
      return { data: appRecord(app, await engine.apps.countComponents()) };
    }),
  ];
}

function notFound(app: string): PdError {
  return new PdError("PD_NOT_FOUND", `Cannot find app "${app}": it is unknown and has no published components`);
}

/** Those that are named so first, then those whose components are about it. */
function matching(apps: readonly App[], query = ""): readonly App[] {
  const word = query.toLowerCase();
  const named = apps.filter(({ slug, name }) => slug.includes(word) || name.toLowerCase().includes(word));
  const about = appsAbout(query, apps).flatMap((slug) => apps.filter((app) => app.slug === slug));
  return [...new Set([...named, ...about])];
}

function appRecord({ slug, name, auth, fields, oauth }: App, counts: ReadonlyMap<string, ComponentCounts>): AppRecord {
  const customFields = fields.map((field) => ({
    name: field.name,
    label: field.name,
    description: field.hint ?? null,
    default: field.default ?? null,
    optional: field.optional === true,
    secret: field.secret === true,
  }));
  const flows = ["authorization_code", ...(oauth?.deviceUrl === undefined ? [] : ["device_code"])];
  return {
    id: `app_${slug}`,
    name_slug: slug,
    name,
    auth_type: auth ?? null,
    custom_fields_json: JSON.stringify(customFields),
    oauth: oauth === undefined ? null : { flows, scopes: [...oauth.scopes], token_url: oauth.tokenUrl, wants_https: oauth.wantsHttps === true },
    components: counts.get(slug) ?? null,
    categories: [],
  };
}
