import { PdError, messageOf } from "../../domain/errors.ts";
import { type CliContext, connectTo } from "../context.ts";
import { findProfile, isHostedProfile } from "../profiles.ts";
import { hostedFolder } from "../transfer/hosted-workflow.ts";
import { withBar } from "../spinner.ts";
import { idsOfArchive } from "./archive.ts";
import type { ExportedWorkflow } from "./exported-workflow.ts";
import { writeFolder } from "./write-folder.ts";

/** `given`: ids, or ZIPs that list ids. */
export async function fetchHosted(
  cli: CliContext,
  given: readonly string[],
  { from, into }: { readonly from: string; readonly into: string },
): Promise<readonly ExportedWorkflow[]> {
  const profile = await findProfile(from, cli.environment);
  if (!isHostedProfile(from))
    throw new PdError("PD_BAD_INPUT", `Cannot import from ${from}: it is a Headwater server`, { fix: `pd pull --all --from ${from}` });
  const ids = (await Promise.all(given.map(async (one) => (one.toLowerCase().endsWith(".zip") ? idsOfArchive(one) : [one])))).flat();
  const origin = await connectTo(cli, from);
  const query = profile?.orgId === undefined ? "" : `?org_id=${encodeURIComponent(profile.orgId)}`;
  return withBar(cli, "Fetching", async ({ tick }) => {
    const found: ExportedWorkflow[] = [];
    for (const [index, id] of ids.entries()) {
      tick(index, ids.length, `${index} of ${ids.length}, ${id}`);
      try {
        const told = await origin.connection.request({ method: "GET", path: `/v1/workflows/${encodeURIComponent(id)}${query}` });
        const hosted = hostedFolder(id, told);
        const { folder, notes } = await writeFolder(into, hosted);
        found.push({ place: folder.path, name: hosted.name, folder, notes: [...hosted.missing, ...notes] });
      } catch (error) {
        if (error instanceof PdError && (error.code === "PD_UNAUTHORIZED" || error.code === "PD_SERVER_UNREACHABLE")) throw error;
        found.push({ place: id, name: id, left: messageOf(error), notes: [] });
      }
    }
    return found;
  });
}
