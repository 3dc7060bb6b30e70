import type { CallAddress } from "../api/calls.ts";
import { PdError } from "../domain/errors.ts";
import { isRecord } from "../domain/json.ts";
import { CHECK_ADDRESS } from "./connection.ts";

/** Ids of this program and of the hosted platform: `dc_…`, `inv_…`, `1606511826306-1`, slugs, and `dc_*` in subscriptions. */
const SAFE_ID = /^(?:[0-9A-Za-z][\w-]{0,499}|(?:dc|p)_\*)?$/;
/** Members of records that hold an id or a slug. */
const ID_MEMBER = /^(?:id|[a-z_]+_id|slug|name_slug)$/;
/** Answers whose members are a user's own: values of state, of a data store, of an action's run, and the word that named what was deleted. */
const OF_USERS = /^(?:DELETE |(?:GET|PUT|POST) \/v1\/(?:sources\/\{id\}\/(?:state|events)|data_stores|actions|components\/(?:configure|props)))/;

/**
 * Checks the ids of the records that a server has answered with, before any becomes a part of a path, an address or a
 * command. Throws PD_SERVER_UNREACHABLE for what cannot be an id.
 */
export function checkIds(address: CallAddress | "event" | "observation", answer: unknown): void {
  if (OF_USERS.test(address)) return;
  const data = isRecord(answer) && "page_info" in answer ? answer["data"] : answer;
  for (const record of Array.isArray(data) ? data : [data]) if (isRecord(record)) checkRecord(address, record);
}

function checkRecord(address: string, record: Readonly<Record<string, unknown>>): void {
  for (const [name, value] of Object.entries(record)) {
    if (!ID_MEMBER.test(name) || typeof value !== "string" || SAFE_ID.test(value)) continue;
    throw new PdError("PD_SERVER_UNREACHABLE", `Cannot use the answer to ${address}: its ${name} ${JSON.stringify(value.slice(0, 100))} is not an id`, {
      fix: CHECK_ADDRESS,
    });
  }
}
