import type { WorkspaceRecord } from "../../../api/server.ts";
import { api } from "../../../api/api.ts";
import { PdError } from "../../../domain/errors.ts";
import type { Engine } from "../../../engine/engine.ts";
import { type Route, route } from "../route.ts";

/** Throws PD_NOT_FOUND. */
export function checkWorkspace({ owner: { workspaceId } }: Pick<Engine, "owner">, id: string): void {
  if (id !== workspaceId)
    throw new PdError("PD_NOT_FOUND", `Cannot find workspace ${JSON.stringify(id)}: this server is ${workspaceId}`, { fix: "GET /v1/users/me shows it" });
}

export function accountRoutes({ owner }: Pick<Engine, "owner">): readonly Route[] {
  const workspace: WorkspaceRecord = {
    id: owner.workspaceId,
    orgname: "local",
    name: "local",
    email: "",
    daily_credits_quota: 0,
    daily_credits_used: 0,
  };
  return [
    route(api.server.owner, () => ({ data: { id: owner.userId, username: "local", email: "", orgs: [workspace] } })),
    route(api.server.workspace, () => ({ data: workspace })),
    route(api.server.projects, () => ({ data: [] })),
  ];
}
