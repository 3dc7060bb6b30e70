import { z } from "zod";
import { PdError } from "../../domain/errors.ts";
import type { JsonObject } from "../../domain/json.ts";
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
  const apps = (): JsonObject[] => appRecords(engine);
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
      summary: "Apps that saved components use",
      params: pageParams.extend({ q: z.string().optional() }),
      answer: schemas.paged(schemas.app),
      run: ({ params }) =>
        pageOf(
          apps().filter(({ name_slug }) => String(name_slug).includes(params.q ?? "")),
          params,
        ),
    }),
    route({
      method: "get",
      path: "/v1/apps/{id}",
      tag,
      summary: "An app, by id or slug",
      answer: schemas.one(schemas.app),
      run({ part }) {
        const found = apps().find(({ id, name_slug }) => part("id") === id || part("id") === name_slug);
        if (found === undefined) throw new PdError("PD_NOT_FOUND", `Cannot find app "${part("id")}": no saved component uses it`);
        return { data: found };
      },
    }),
  ];
}

function appRecords(engine: Engine): JsonObject[] {
  const slugs = new Set(engine.store.listComponents().flatMap(({ definition }) => definition.props.flatMap((prop) => (prop.kind === "app" ? [prop.app] : []))));
  return [...slugs].toSorted((a, b) => (a < b ? -1 : 1)).map((slug) => ({ id: `app_${slug}`, name_slug: slug, name: slug, auth_type: null, categories: [] }));
}
