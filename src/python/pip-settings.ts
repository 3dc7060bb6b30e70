import { existsSync, readFileSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { parse } from "ini";
import { isRecord } from "../domain/json.ts";

export interface PipSettings {
  readonly env: Readonly<Record<string, string>>;
  readonly readable: readonly string[];
}

const VARIABLES = /^(?:PIP_\w+|LANG|LC_\w+|(?:https?|no|all)_proxy|SSL_CERT_(?:FILE|DIR)|REQUESTS_CA_BUNDLE)$/i;

/** Inside the wall pip has another home folder. */
export function pipSettings(environment: Readonly<Record<string, string | undefined>>, home = homedir()): PipSettings {
  const env = Object.fromEntries(Object.entries(environment).flatMap(([name, value]) => (value !== undefined && VARIABLES.test(name) ? [[name, value]] : [])));
  const ofUser = [
    environment["PIP_CONFIG_FILE"],
    join(environment["XDG_CONFIG_HOME"] ?? join(home, ".config"), "pip", "pip.conf"),
    join(home, ".pip", "pip.conf"),
  ];
  const file = ofUser.find((path) => path !== undefined && existsSync(path));
  const files = ["/etc/pip.conf", ...(file === undefined ? [] : [file])].filter((path) => existsSync(path));
  const named = [...Object.values(env), ...files.flatMap(valuesIn)].flatMap(pathsIn);
  // These two are meant for the user's own installs and would break this one.
  const own = { PIP_REQUIRE_VIRTUALENV: "0", PIP_USER: "0" };
  return {
    env: { ...env, ...own, ...(file === undefined ? {} : { PIP_CONFIG_FILE: file }) },
    readable: [...files, ...named.filter((path) => existsSync(path))],
  };
}

function valuesIn(file: string): readonly string[] {
  const sections: unknown[] = Object.values(parse(readFileSync(file, "utf8")));
  return sections.flatMap((section) => (isRecord(section) ? Object.values(section).map(String) : []));
}

function pathsIn(value: string): readonly string[] {
  return value
    .split(/\s+/)
    .flatMap((word) => (word.startsWith("/") ? [word] : word.startsWith("file:///") ? [decodeURIComponent(new URL(word).pathname)] : []));
}
