import { PdError } from "../../domain/errors.ts";
import { dataOf } from "../api-client.ts";
import { type CliContext, connect } from "../context.ts";
import { printNote, printRecord } from "../reporter.ts";

/** `pd secrets rotate`: a new key for everything that is kept sealed. */
export async function secrets(cli: CliContext, verb: string): Promise<number> {
  if (verb !== "rotate") throw new PdError("PD_BAD_INPUT", `Cannot ${JSON.stringify(verb)} secrets: there is rotate`, { fix: "pd secrets rotate" });
  const client = await connect(cli);
  return printRecord(cli, dataOf(await client.post("/v1/secrets/rotate", {})), () => printNote(cli, "All secrets are sealed with a new key"));
}
