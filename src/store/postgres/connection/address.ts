import { readFileSync } from "node:fs";
import type { ClientConfig } from "pg";
import { parseIntoClientConfig } from "pg-connection-string";
import { PdError, messageOf } from "../../../domain/errors.ts";

/** PG* variables supply what the URL omits. Throws PD_BAD_INPUT without quoting the URL, which may have a password. */
export function clientConfigOf(url: string, passwordFile: string): ClientConfig {
  if (!/^postgres(ql)?:\/\//.test(url)) throw unusable("it must begin with postgres:// or postgresql://");
  // As an object: the driver would prefer what is in the URL to everything beside it.
  return { ...parsed(url), ...(passwordFile === "" ? {} : { password: passwordIn(passwordFile) }) };
}

/** Reads the certificates that the URL names. */
function parsed(url: string): ClientConfig {
  try {
    return parseIntoClientConfig(url);
  } catch (error) {
    throw unusable(messageOf(error).replaceAll(url, "the address"));
  }
}

function unusable(why: string): PdError {
  return new PdError("PD_BAD_INPUT", `Cannot use the address of the database: ${why}`, {
    fix: "Give postgres://user@host:5432/database, or postgres:///database with the PG* variables",
  });
}

function passwordIn(path: string): string {
  try {
    return readFileSync(path, "utf8").replace(/\r?\n$/, "");
  } catch (error) {
    throw new PdError("PD_BAD_INPUT", `Cannot read the database's password from ${path}: ${messageOf(error)}`, { cause: error });
  }
}
