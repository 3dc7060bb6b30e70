import type { JsonValue } from "../../../domain/text/json.ts";

const OPEN_LEVELS = 2;
export const MOST_MEMBERS = 100;
export const MOST_HITS = 1000;

export interface JsonNode {
  /** Position from the root: a reload does not change it. */
  readonly key: string;
  readonly name: string | number | undefined;
  readonly value: JsonValue;
  readonly level: number;
  readonly parent: JsonNode | undefined;
}

export type JsonRow =
  | { readonly kind: "node"; readonly node: JsonNode; readonly isOpen: boolean }
  | { readonly kind: "more"; readonly of: string; readonly level: number; readonly shown: number; readonly left: number };

export interface Shape {
  readonly toggled: ReadonlySet<string>;
  readonly shown: ReadonlyMap<string, number>;
  readonly found?: Found;
}

export interface Found {
  readonly hits: ReadonlySet<string>;
  readonly open: ReadonlySet<string>;
}

/** Iterative: values may be nested too deeply for recursion. */
export function rowsOf(value: JsonValue, { toggled, shown, found }: Shape): readonly JsonRow[] {
  const rows: JsonRow[] = [];
  const waiting: JsonRow[] = [{ kind: "node", node: rootOf(value), isOpen: false }];
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    if (next.kind === "more") {
      rows.push(next);
      continue;
    }
    const { node } = next;
    const count = countOf(node.value);
    const isOpenAtFirst = node.level < OPEN_LEVELS && count <= MOST_MEMBERS;
    const isOpen = count > 0 && (found?.open.has(node.key) === true || isOpenAtFirst !== toggled.has(node.key));
    rows.push({ kind: "node", node, isOpen });
    if (!isOpen) continue;
    const most = shown.get(node.key) ?? MOST_MEMBERS;
    const members = seenMembers(node, most, found);
    if (count > members.length) waiting.push({ kind: "more", of: node.key, level: node.level + 1, shown: most, left: count - members.length });
    for (const member of members.toReversed()) waiting.push({ kind: "node", node: member, isOpen: false });
  }
  return rows;
}

function seenMembers(node: JsonNode, most: number, found: Found | undefined): readonly JsonNode[] {
  if (found?.open.has(node.key) !== true) return membersOf(node, most);
  return membersOf(node, Number.MAX_SAFE_INTEGER).filter(({ key }, index) => index < most || found.hits.has(key) || found.open.has(key));
}

/** `query` must be in lower case. */
export function searchIn(value: JsonValue, query: string): Found {
  const open = new Set<string>();
  const hits = new Set<string>();
  const waiting = [rootOf(value)];
  for (let node = waiting.pop(); node !== undefined && hits.size < MOST_HITS; node = waiting.pop()) {
    const own = typeof node.value === "object" ? "" : String(node.value);
    const isHit = own.toLowerCase().includes(query) || (typeof node.name === "string" && node.name.toLowerCase().includes(query));
    if (isHit) hits.add(node.key);
    for (let at = node.parent; isHit && at !== undefined && !open.has(at.key); at = at.parent) open.add(at.key);
    for (const member of membersOf(node, Number.MAX_SAFE_INTEGER).toReversed()) waiting.push(member);
  }
  return { open, hits };
}

export function countOf(value: JsonValue): number {
  if (Array.isArray(value)) return value.length;
  return typeof value === "object" && value !== null ? Object.keys(value).length : 0;
}

export function pathOf(node: JsonNode): string {
  const steps: string[] = [];
  for (let at: JsonNode | undefined = node; at?.name !== undefined; at = at.parent) steps.push(stepOf(at.name));
  return `$${steps.toReversed().join("")}`;
}

function stepOf(name: string | number): string {
  if (typeof name === "number") return `[${name}]`;
  return /^[A-Za-z_$][\w$]*$/.test(name) ? `.${name}` : `[${JSON.stringify(name)}]`;
}

function rootOf(value: JsonValue): JsonNode {
  return { key: "", name: undefined, value, level: 0, parent: undefined };
}

function membersOf(parent: JsonNode, most: number): JsonNode[] {
  const { value, level, key } = parent;
  if (typeof value !== "object" || value === null) return [];
  const named: readonly (readonly [string | number, JsonValue])[] = Array.isArray(value)
    ? value.slice(0, most).map((member: JsonValue, index) => [index, member])
    : Object.entries(value)
        .slice(0, most)
        .map(([name, member = null]) => [name, member]);
  return named.map(([name, member], index) => ({ key: `${key}/${index}`, name, value: member, level: level + 1, parent }));
}
