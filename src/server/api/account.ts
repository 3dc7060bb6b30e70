import { z } from "zod";
import { PdError } from "../../domain/errors.ts";
import type { JsonObject } from "../../domain/json.ts";
import type { App } from "../../engine/apps.ts";
import type { Engine } from "../../engine/engine.ts";
import { type Route, pageOf, pageParams, route } from "./route.ts";
import * as schemas from "./schemas.ts";

/** Throws PD_NOT_FOUND for any workspace but the one that this server is. */
export function workspaceChecker(engine: Engine): (id: string) => void {
  return (id) => {
    const { workspaceId } = engine.store.identity();
    if (id !== workspaceId)
      throw new PdError("PD_NOT_FOUND", `Cannot find workspace ${JSON.stringify(id)}: this server is ${workspaceId}`, { fix: "GET /v1/users/me shows it" });
  };
}

/** Users, workspaces and apps (platform.md §1.7): one user, one workspace, no quota. */
export function accountRoutes(engine: Engine, checkWorkspace: (id: string) => void): readonly Route[] {
  const tag = "Account";
  const workspace = (): JsonObject => {
    const { workspaceId } = engine.store.identity();
    return { id: workspaceId, orgname: "local", name: "local", email: "", daily_credits_quota: 0, daily_credits_used: 0 };
  };
  return [
    route({
      method: "get",
      path: "/v1/users/me",
      tag,
      summary: "Who owns this server",
      answer: schemas.one(schemas.user),
      run: () => ({ data: { id: engine.store.identity().userId, username: "local", email: "", orgs: [workspace()] } }),
    }),
    route({
      method: "get",
      path: "/v1/workspaces/{org_id}",
      tag,
      summary: "The workspace that this server is",
      answer: schemas.one(schemas.workspace),
      run({ part }) {
        checkWorkspace(part("org_id"));
        return { data: workspace() };
      },
    }),
    route({
      method: "get",
      path: "/v1/workspaces/{org_id}/projects",
      tag,
      summary: "Projects: there are none here",
      answer: schemas.many(schemas.project),
      run({ part }) {
        checkWorkspace(part("org_id"));
        return { data: [] };
      },
    }),
    route({
      method: "get",
      path: "/v1/apps",
      tag,
      summary: "Apps that are known, and those that saved components use",
      params: pageParams.extend({ q: z.string().optional() }),
      answer: schemas.paged(schemas.app),
      run: ({ params }) => pageOf(engine.apps.list().filter(fits(params.q)).map(appRecord), params),
    }),
    route({
      method: "get",
      path: "/v1/apps/{id}",
      tag,
      summary: "An app, by id or slug; one that is not known is looked up in its published code",
      answer: schemas.one(schemas.app),
      async run({ part }) {
        const app = await engine.apps.find(part("id").replace(/^app_/, ""));
        if (app === undefined) throw new PdError("PD_NOT_FOUND", `Cannot find app "${part("id")}": it is not known, and nothing is published of it`);
        return { data: appRecord(app) };
      },
    }),
  ];
}

function fits(query: string | undefined): (app: App) => boolean {
  const word = query?.toLowerCase() ?? "";
  return ({ slug, name }) => slug.includes(word) || name.toLowerCase().includes(word);
}

function appRecord({ slug, name, auth, fields, oauth }: App): JsonObject {
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
    oauth: oauth === undefined ? null : { flows, scopes: [...oauth.scopes], token_url: oauth.tokenUrl },
    categories: [],
  };
}
