import { At } from "../parts/text/time.tsx";

export interface ShownLine {
  readonly k: string;
  readonly msg: string;
  readonly ts: number;
  readonly from?: string | undefined;
}

const LEVEL = /^console\./;

export function levelOf({ k }: Pick<ShownLine, "k">): string {
  return k.replace(LEVEL, "");
}

export function LogLines({ lines, none }: { lines: readonly ShownLine[]; none: string }) {
  if (lines.length === 0) return <p class="muted">{none}</p>;
  return (
    <div class="panel" style={{ padding: "6px 0", font: "12.5px/20px var(--mono)" }}>
      {lines.map((line, index) => (
        <LogLine key={index} line={line} />
      ))}
    </div>
  );
}

export function LogLine({ line }: { line: ShownLine }) {
  const level = levelOf(line);
  return (
    <div class={`line ${level}`} title={line.from}>
      <span class="muted">
        <At at={line.ts} isClock />
      </span>
      <span class="muted level">{level}</span>
      <span class="text">{line.msg}</span>
    </div>
  );
}
