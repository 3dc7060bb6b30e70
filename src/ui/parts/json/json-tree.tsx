import { useMemo, useState } from "preact/hooks";
import type { JsonValue } from "../../../domain/text/json.ts";
import { copyText } from "../../browser/copy-text.ts";
import { type JsonNode, MOST_HITS, MOST_MEMBERS, type Shape, countOf, pathOf, rowsOf, searchIn } from "./json-rows.ts";
import { SearchField } from "../fields.tsx";

const LONG_TEXT = 300;
const MOST_RAW = 1_000_000;
const DEEPEST_INDENT = 40;
const INDENT_PX = 16;

/** Flat, because values may be nested deeply. */
export function JsonTree({ value, label }: { value: JsonValue; label: string }) {
  const [query, setQuery] = useState("");
  const [toggled, setToggled] = useState<ReadonlySet<string>>(new Set());
  const [shown, setShown] = useState<ReadonlyMap<string, number>>(new Map());
  const [isRaw, setRaw] = useState(false);
  const words = query.toLowerCase();
  const found = useMemo(() => (words === "" ? undefined : searchIn(value, words)), [value, words]);
  const shape: Shape = { toggled, shown, ...(found === undefined ? {} : { found }) };
  const rows = useMemo(() => (isRaw ? [] : rowsOf(value, shape)), [value, isRaw, toggled, shown, found]);
  const toggle = (key: string): void =>
    setToggled((before) => {
      const next = new Set(before);
      if (!next.delete(key)) next.add(key);
      return next;
    });
  return (
    <div class="stack tight">
      <div class="row wrap">
        <span class="grow">
          <SearchField label={`Search in ${label}`} placeholder="Search in it" width={2000} value={query} onInput={setQuery} />
        </span>
        <button type="button" class="button" aria-pressed={isRaw} onClick={() => setRaw(!isRaw)}>
          {isRaw ? "Tree" : "Raw"}
        </button>
        <button type="button" class="button" onClick={() => void copyText(JSON.stringify(value, null, 2))}>
          Copy
        </button>
      </div>
      {found !== undefined && (
        <p class="muted" role="status">
          {found.hits.size === 0 ? "Nothing matches" : found.hits.size === MOST_HITS ? `${MOST_HITS} or more found` : `${found.hits.size} found`}
        </p>
      )}
      {isRaw ? (
        <Raw value={value} />
      ) : (
        <div class="json" role="tree" aria-label={label}>
          {rows.map((row) =>
            row.kind === "node" ? (
              <NodeRow key={row.node.key} node={row.node} isOpen={row.isOpen} query={words} onToggle={toggle} />
            ) : (
              <button
                key={`${row.of} more`}
                type="button"
                class="button plain"
                style={{ marginLeft: indentOf(row.level) }}
                onClick={() => setShown(new Map(shown).set(row.of, row.shown + 10 * MOST_MEMBERS))}
              >
                {row.left} more
              </button>
            ),
          )}
        </div>
      )}
    </div>
  );
}

function Raw({ value }: { value: JsonValue }) {
  const text = useMemo(() => JSON.stringify(value, null, 2), [value]);
  return <pre class="json">{text.length > MOST_RAW ? `${text.slice(0, MOST_RAW)}…` : text}</pre>;
}

interface NodeRowProps {
  readonly node: JsonNode;
  readonly isOpen: boolean;
  readonly query: string;
  readonly onToggle: (key: string) => void;
}

function NodeRow({ node, isOpen, query, onToggle }: NodeRowProps) {
  const { key, level, name, value } = node;
  const count = countOf(value);
  return (
    <div class="node" role="treeitem" aria-level={level + 1} aria-expanded={count > 0 ? isOpen : undefined} style={{ paddingLeft: indentOf(level) }}>
      {count > 0 ? (
        <button type="button" class="toggle" aria-label={isOpen ? "Close" : "Open"} onClick={() => onToggle(key)}>
          {isOpen ? "▾" : "▸"}
        </button>
      ) : (
        <span class="toggle" />
      )}
      {name !== undefined && (
        <span class="key">
          <Marked text={String(name)} query={query} />:
        </span>
      )}
      <Leaf value={value} count={count} query={query} />
      <Tools node={node} />
    </div>
  );
}

function indentOf(level: number): string {
  return `${Math.min(level, DEEPEST_INDENT) * INDENT_PX}px`;
}

function Leaf({ value, count, query }: { value: JsonValue; count: number; query: string }) {
  const [isWhole, setWhole] = useState(false);
  if (Array.isArray(value)) return <span class="muted">{count === 0 ? "[]" : `[${count}]`}</span>;
  if (typeof value === "object" && value !== null) return <span class="muted">{count === 0 ? "{}" : `{${count}}`}</span>;
  if (typeof value !== "string") return <span class={value === null ? "null" : typeof value}>{String(value)}</span>;
  const isLong = value.length > LONG_TEXT && !isWhole;
  return (
    <span class="string">
      "<Marked text={isLong ? value.slice(0, LONG_TEXT) : value} query={query} />"
      {isLong && (
        <button type="button" class="button plain" onClick={() => setWhole(true)}>
          … {value.length - LONG_TEXT} more characters
        </button>
      )}
    </span>
  );
}

function Marked({ text, query }: { text: string; query: string }) {
  const at = query === "" ? -1 : text.toLowerCase().indexOf(query);
  if (at < 0) return <>{text}</>;
  return (
    <>
      {text.slice(0, at)}
      <mark>{text.slice(at, at + query.length)}</mark>
      {text.slice(at + query.length)}
    </>
  );
}

function Tools({ node }: { node: JsonNode }) {
  const { value } = node;
  return (
    <span class="tools">
      <button type="button" onClick={() => void copyText(pathOf(node))}>
        copy path
      </button>
      <button type="button" onClick={() => void copyText(typeof value === "string" ? value : JSON.stringify(value, null, 2))}>
        copy value
      </button>
    </span>
  );
}
