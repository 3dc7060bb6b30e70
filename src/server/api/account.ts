import { PdError } from "../../domain/errors.ts";
import type { JsonObject } from "../../domain/json.ts";
import type { Engine } from "../../engine/engine.ts";
import { type Route, route } from "./route.ts";
import * as schemas from "./schemas.ts";

/** Throws PD_NOT_FOUND for any workspace but the one that this server is. */
export function workspaceChecker(engine: Engine): (id: string) => void {
  return (id) => {
    const { workspaceId } = engine.owner;
    if (id !== workspaceId)
      throw new PdError("PD_NOT_FOUND", `Cannot find workspace ${JSON.stringify(id)}: this server is ${workspaceId}`, { fix: "GET /v1/users/me shows it" });
  };
}

/** Users, workspaces and apps (platform.md §1.7): one user, one workspace, no quota. */
export function accountRoutes(engine: Engine, checkWorkspace: (id: string) => void): readonly Route[] {
  const tag = "Account";
  const workspace = (): JsonObject => {
    const { workspaceId } = engine.owner;
    return { id: workspaceId, orgname: "local", name: "local", email: "", daily_credits_quota: 0, daily_credits_used: 0 };
  };
  return [
    route({
      method: "get",
      path: "/v1/users/me",
      tag,
      summary: "Who owns this server",
      answer: schemas.one(schemas.user),
      run: () => ({ data: { id: engine.owner.userId, username: "local", email: "", orgs: [workspace()] } }),
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
  ];
}
