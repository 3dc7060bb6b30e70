import { readFileSync } from "node:fs";
import type { ClientConfig } from "pg";
import { parseIntoClientConfig } from "pg-connection-string";
import { PdError, messageOf } from "../../../domain/errors.ts";

/** PG* variables supply what the URL omits. Throws PD_BAD_INPUT without quoting the URL, which may have a password. */
export function clientConfigOf(url: string, passwordFile: string): ClientConfig {
  const isUsable = /^postgres(ql)?:\/\//.test(url);
  if (!isUsable)
    throw new PdError("PD_BAD_INPUT", "Cannot use --database-url: it must begin with postgres:// or postgresql://", {
      fix: "Give postgres://user@host:5432/database, or postgres:// with the PG* variables",
    });
  // As an object: the driver would prefer what is in the URL to everything beside it.
  return { ...parseIntoClientConfig(url), ...(passwordFile === "" ? {} : { password: passwordIn(passwordFile) }) };
}

function passwordIn(path: string): string {
  try {
    return readFileSync(path, "utf8").replace(/\r?\n$/, "");
  } catch (error) {
    throw new PdError("PD_BAD_INPUT", `Cannot read the database's password from ${path}: ${messageOf(error)}`, { cause: error });
  }
}
