import type { CodeParams } from "../../api/components.ts";
import type { SourceRecord } from "../../api/sources.ts";
import type { Client } from "../../client/client.ts";
import { PdError } from "../../domain/errors.ts";

/** Throws PD_CONFLICT for code of another component. Compares keys, or names when a key is missing. Accepts code that does not compile. */
export async function refuseOther(client: Client, source: SourceRecord, code: CodeParams): Promise<void> {
  const [deployed, given] = await Promise.all([client.components.get(source.component_id), client.components.describe(code).catch(() => undefined)]);
  if (given === undefined) return;
  const hasKeys = deployed.key !== undefined && given.key !== undefined;
  const [before, now] = hasKeys ? [deployed.key, given.key] : [deployed.name, given.name];
  if (before === now) return;
  throw new PdError(
    "PD_CONFLICT",
    `Cannot attach to ${source.name_slug} (${source.id}): it runs ${JSON.stringify(before)}, and the file is ${JSON.stringify(now)}`,
    {
      fix: "Give the id of a source of this component, leave out --dc to deploy another, or add --force to replace its code",
    },
  );
}
