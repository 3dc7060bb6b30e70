import { useMemo, useState } from "preact/hooks";
import type { JsonValue } from "../../domain/json.ts";
import { copyText } from "../copy-text.ts";
import { CopyButton } from "./copy-button.tsx";

/** Levels that are open at first, as long as they are short. */
const OPEN_LEVELS = 2;
/** Members of one value that are shown at once. */
const MOST_MEMBERS = 100;
const LONG_TEXT = 300;

interface Node {
  readonly path: string;
  readonly name: string | undefined;
  readonly value: JsonValue;
  readonly level: number;
}

/** A value as a tree that opens by level, is searched, and hands out paths and values. */
export function JsonTree({ value, label }: { value: JsonValue; label: string }) {
  const [query, setQuery] = useState("");
  const [toggled, setToggled] = useState<ReadonlySet<string>>(new Set());
  const [isRaw, setRaw] = useState(false);
  const text = useMemo(() => JSON.stringify(value, null, 2), [value]);
  const matching = useMemo(() => (query === "" ? undefined : pathsTo(value, query.toLowerCase())), [value, query]);
  const toggle = (path: string): void =>
    setToggled((before) => {
      const next = new Set(before);
      if (!next.delete(path)) next.add(path);
      return next;
    });
  return (
    <div class="stack tight">
      <div class="row wrap">
        <input
          class="input grow"
          type="search"
          placeholder="Search in it"
          aria-label={`Search in ${label}`}
          value={query}
          onInput={({ currentTarget }) => setQuery(currentTarget.value)}
        />
        <button type="button" class="button" aria-pressed={isRaw} onClick={() => setRaw(!isRaw)}>
          {isRaw ? "Tree" : "Raw"}
        </button>
        <CopyButton text={text} />
      </div>
      {matching !== undefined && (
        <p class="muted" role="status">
          {matching.hits === 0 ? "Nothing matches" : `${matching.hits} found`}
        </p>
      )}
      {isRaw ? (
        <pre class="json">{text.length > 1_000_000 ? `${text.slice(0, 1_000_000)}…` : text}</pre>
      ) : (
        <div class="json" role="tree" aria-label={label}>
          <Branch node={{ path: "", name: undefined, value, level: 0 }} toggled={toggled} toggle={toggle} query={query.toLowerCase()} open={matching?.paths} />
        </div>
      )}
    </div>
  );
}

interface BranchProps {
  readonly node: Node;
  readonly toggled: ReadonlySet<string>;
  readonly toggle: (path: string) => void;
  readonly query: string;
  /** Paths on the way to what was searched for. */
  readonly open: ReadonlySet<string> | undefined;
}

function Branch({ node, ...rest }: BranchProps) {
  const { path, value, level } = node;
  const [most, setMost] = useState(MOST_MEMBERS);
  const members = membersOf(node);
  const isOpenAtFirst = level < OPEN_LEVELS && members.length <= MOST_MEMBERS;
  const isOpen = members.length > 0 && (rest.open?.has(path) === true || isOpenAtFirst !== rest.toggled.has(path));
  return (
    <>
      <div
        class="node"
        role="treeitem"
        aria-level={level + 1}
        aria-expanded={members.length > 0 ? isOpen : undefined}
        style={{ paddingLeft: `${level * 16}px` }}
      >
        {members.length > 0 ? (
          <button type="button" class="toggle" aria-label={isOpen ? "Close" : "Open"} onClick={() => rest.toggle(path)}>
            {isOpen ? "▾" : "▸"}
          </button>
        ) : (
          <span class="toggle" />
        )}
        {node.name !== undefined && (
          <span class="key">
            <Marked text={node.name} query={rest.query} />:
          </span>
        )}
        <Leaf value={value} count={members.length} query={rest.query} />
        <Tools path={path} value={value} />
      </div>
      {isOpen && members.slice(0, most).map((member) => <Branch key={member.path} node={member} {...rest} />)}
      {isOpen && members.length > most && (
        <button type="button" class="button plain" style={{ marginLeft: `${(level + 1) * 16}px` }} onClick={() => setMost(most + 10 * MOST_MEMBERS)}>
          {members.length - most} more
        </button>
      )}
    </>
  );
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

function Tools({ path, value }: { path: string; value: JsonValue }) {
  return (
    <span class="tools">
      <button type="button" onClick={() => void copyText(path === "" ? "$" : `$${path}`)}>
        copy path
      </button>
      <button type="button" onClick={() => void copyText(typeof value === "string" ? value : JSON.stringify(value, null, 2))}>
        copy value
      </button>
    </span>
  );
}

function membersOf({ path, value, level }: Node): Node[] {
  if (Array.isArray(value))
    return value.map((member: JsonValue, index) => ({ path: `${path}[${index}]`, name: String(index), value: member, level: level + 1 }));
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).map(([name, member = null]) => ({ path: path + stepOf(name), name, value: member, level: level + 1 }));
}

function stepOf(name: string): string {
  return /^[A-Za-z_$][\w$]*$/.test(name) ? `.${name}` : `[${JSON.stringify(name)}]`;
}

/** Paths that have to be open for each match to be seen. Walks without calling itself: values may be nested very deep. */
function pathsTo(value: JsonValue, query: string): { paths: ReadonlySet<string>; hits: number } {
  const paths = new Set<string>();
  let hits = 0;
  const waiting: { node: Node; parents: readonly string[] }[] = [{ node: { path: "", name: undefined, value, level: 0 }, parents: [] }];
  for (let next = waiting.pop(); next !== undefined && hits < 1000; next = waiting.pop()) {
    const { node, parents } = next;
    const own = typeof node.value === "object" ? "" : String(node.value);
    if (own.toLowerCase().includes(query) || node.name?.toLowerCase().includes(query) === true) {
      hits++;
      for (const parent of parents) paths.add(parent);
    }
    for (const member of membersOf(node).toReversed()) waiting.push({ node: member, parents: [...parents, node.path] });
  }
  return { paths, hits };
}
