/** Reads metadata from the text, because an index of thousands cannot run them. Loading a component reads the authoritative values. */

export interface ComponentText {
  readonly key: string;
  readonly name: string;
  readonly description: string;
  readonly version: string;
  readonly type: "source" | "action";
}

export function readComponentText(text: string, path: string): ComponentText | "no key" | "no version" {
  const found = /(?:^|[{,])([ \t]*)(?:key|"key"):\s*(["'`])(\w+(?:-+\w+)+)\2/im.exec(text);
  if (found?.[3] === undefined) return "no key";
  const [, indent = "", , key] = found;
  const line = lineAt(text, found.index);
  const member = (name: string): string =>
    literalAt(text, `(?:^|[{,])${indent === "" ? "[ \\t]*" : indent}`, name) ?? literalAt(line, "[{,][ \\t]*", name) ?? "";
  const version = member("version");
  if (version === "") return "no version";
  const type = member("type") || (/(^|\/)actions?\//.test(path) ? "action" : "source");
  return { key, name: member("name") || key, description: member("description"), version, type: type === "action" ? "action" : "source" };
}

/** The key's line, which may hold the other members too. */
function lineAt(text: string, index: number): string {
  const start = text.charAt(index) === "\n" ? index + 1 : index;
  const [line = ""] = text.slice(text.lastIndexOf("\n", start - 1) + 1).split("\n", 1);
  return line;
}

/** Requires the key's indentation. Joins parts with `+`. `before` is a pattern. */
function literalAt(text: string, before: string, name: string): string | undefined {
  const start = new RegExp(`${before}(?:${name}|"${name}"):\\s*`, "m").exec(text);
  if (start === null) return undefined;
  const literal = /^(?:"((?:[^"\\\n]|\\.)*)"|'((?:[^'\\\n]|\\.)*)'|`((?:[^`\\]|\\.)*)`)\s*(\+?)\s*/;
  let rest = text.slice(start.index + start[0].length);
  let value = "";
  for (;;) {
    const part = literal.exec(rest);
    if (part === null) return value === "" ? undefined : value;
    value += (part[1] ?? part[2] ?? part[3] ?? "").replaceAll(/\\(.)/g, "$1");
    if (part[4] !== "+") return value;
    rest = rest.slice(part[0].length);
  }
}
