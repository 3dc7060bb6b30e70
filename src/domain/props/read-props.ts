import { isRecord } from "../text/json.ts";
import { type PropDeclaration, kindOfType } from "./kinds.ts";

export interface ReadProps {
  readonly props: readonly PropDeclaration[];
  readonly problems: readonly string[];
  readonly warnings: readonly string[];
}

/** `raw` is the process's report, with propDefinitions resolved. */
export function readProps(raw: unknown): ReadProps {
  const problems: string[] = [];
  const warnings: string[] = [];
  const props: PropDeclaration[] = [];
  if (raw !== undefined && !isRecord(raw)) problems.push(`props: expected an object, got ${JSON.stringify(raw)}`);
  for (const [name, value] of Object.entries(isRecord(raw) ? raw : {})) {
    const declared = typeof value === "string" ? { type: value } : value;
    if (declared === undefined || declared === null) continue;
    if (!isRecord(declared)) problems.push(`prop ${name}: expected an object or a type, got ${JSON.stringify(declared)}`);
    else if (typeof declared["problem"] === "string") problems.push(`prop ${name}: ${declared["problem"]}`);
    else props.push(kindOfType(typeof declared["type"] === "string" ? declared["type"] : "").read(name, { raw: declared, warnings, problems }));
  }
  return { props, problems, warnings };
}
