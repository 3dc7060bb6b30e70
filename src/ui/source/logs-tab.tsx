import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { useQuery } from "../browser/address.ts";
import { useClient } from "../app-context.ts";
import { Empty, Problem } from "../parts/problem.tsx";
import { FollowedLines } from "./follow-lines.ts";
import { LogLine, levelOf } from "./log-lines.tsx";
import type { TabProps } from "./tab-props.ts";
import { useLive } from "./use-live.ts";
import { SearchField, Select } from "../parts/fields.tsx";

/** The filter covers all lines. */
const MOST_SHOWN = 1000;
const LEVELS = { "": "All levels", debug: "debug", info: "info", log: "log", warn: "warn", error: "error", system: "system" };

export function LogsTab({ source }: TabProps) {
  const client = useClient();
  const [query, setQuery] = useQuery("q");
  const [level, setLevel] = useQuery("level");
  const [isPaused, setPaused] = useState(false);
  const lines = useMemo(() => new FollowedLines(client, source.id), [client, source.id]);
  const { items, error } = useLive(`logs ${source.id}`, (signal) => lines.follow(signal), { isPaused });
  const shown = useMemo(() => {
    const words = query.toLowerCase();
    const fits = items.filter((line) => (level === "" || levelOf(line) === level) && line.msg.toLowerCase().includes(words));
    return fits.slice(-MOST_SHOWN);
  }, [items, query, level]);
  const list = useRef<HTMLDivElement>(null);
  const isAtEnd = useRef(true);
  useEffect(() => {
    if (isAtEnd.current && list.current !== null) list.current.scrollTop = list.current.scrollHeight;
  }, [shown]);
  if (error !== undefined) return <Problem error={error} />;
  return (
    <div class="stack snug">
      <div class="row wrap">
        <SearchField label="Filter lines" placeholder="Filter" width={240} value={query} onInput={setQuery} />
        <Select label="Level" choices={LEVELS} value={level} onChange={setLevel} />
        <button type="button" class="button" aria-pressed={isPaused} onClick={() => setPaused(!isPaused)}>
          {isPaused ? "Resume" : "Pause"}
        </button>
        <span class="muted">{isPaused ? "Paused; no lines are lost" : "Live"}</span>
      </div>
      <div
        ref={list}
        class="panel lines"
        style={{ height: "calc(100vh - 300px)", minHeight: "240px" }}
        tabIndex={0}
        role="log"
        aria-live="off"
        aria-label="Log"
        onScroll={({ currentTarget }) => {
          isAtEnd.current = currentTarget.scrollHeight - currentTarget.scrollTop - currentTarget.clientHeight < 40;
        }}
      >
        {shown.length === 0 ? <Empty title="No log lines yet" /> : shown.map((line, index) => <LogLine key={`${line.ts}-${index}`} line={line} />)}
      </div>
    </div>
  );
}
