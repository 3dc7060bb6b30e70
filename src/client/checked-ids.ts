import type { CallAddress } from "../api/calls.ts";
import { PdError } from "../domain/errors.ts";
import { isRecord } from "../domain/json.ts";
import { CHECK_ADDRESS } from "./connection.ts";

/** Includes ids of the hosted platform (`dc_…`, `1606511826306-1`), slugs, and `dc_*` in subscriptions. */
const SAFE_ID = /^(?:[0-9A-Za-z][\w-]{0,499}|(?:dc|p)_\*)?$/;
const ID_MEMBER = /^(?:id|[a-z_]+_id|slug|name_slug)$/;
/** Not checked, because users choose their members: state, data stores, action results, and names given to DELETE. */
const OF_USERS = /^(?:DELETE |(?:GET|PUT|POST) \/v1\/(?:sources\/\{id\}\/(?:state|events)|data_stores|actions|components\/(?:configure|props)))/;

/** Security: callers use ids in paths, URLs and commands. Throws PD_SERVER_UNREACHABLE for an invalid id. */
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
