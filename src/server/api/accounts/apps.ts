import { api } from "../../../api/api.ts";
import type { AppRecord } from "../../../api/apps.ts";
import { PdError } from "../../../domain/errors.ts";
import type { App } from "../../../engine/accounts/apps.ts";
import type { Engine } from "../../../engine/engine.ts";
import { requiredCode } from "../sources/component-code.ts";
import { type Route, pageOf, route } from "../route.ts";

const { apps, components } = api;

export function appRoutes(engine: Engine): readonly Route[] {
  return [
    route(apps.list, async ({ params }) =>
      pageOf((await engine.apps.list()).filter(fits(params.q)), params, { idOf: ({ slug }) => `app_${slug}`, records: (shown) => shown.map(appRecord) }),
    ),
    route(apps.get, async ({ part }) => {
      const id = part("id");
      const app = (await engine.apps.find(id)) ?? (id.startsWith("app_") ? await engine.apps.find(id.slice("app_".length)) : undefined);
      if (app === undefined) throw notFound(id);
      return { data: appRecord(app) };
    }),
    route(components.app, async ({ params }) => {
      const app = await engine.apps.ofComponent(params.app, await requiredCode(engine, params, "look up an app"));
      if (app === undefined) throw notFound(params.app);
      return { data: appRecord(app) };
    }),
  ];
}

function notFound(app: string): PdError {
  return new PdError("PD_NOT_FOUND", `Cannot find app "${app}": it is unknown and has no published components`);
}

function fits(query: string | undefined): (app: App) => boolean {
  const word = query?.toLowerCase() ?? "";
  return ({ slug, name }) => slug.includes(word) || name.toLowerCase().includes(word);
}

function appRecord({ slug, name, auth, fields, oauth }: App): AppRecord {
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
    categories: [],
  };
}
