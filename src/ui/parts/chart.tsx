import { useUtc } from "../browser/preferences.ts";
import { absoluteTime } from "../text-of.ts";

const WIDTH = 320;
const HEIGHT = 96;
const GAP = 1;

export interface Series {
  readonly name: string;
  readonly tone: "plain" | "bad";
  /** One per point. */
  readonly values: readonly number[];
}

interface ChartProps {
  readonly title: string;
  /** What the figures come to, such as `1,204`. */
  readonly sum: string;
  /** Start of each point, epoch ms. */
  readonly times: readonly number[];
  /** Each is drawn on top of the one before. */
  readonly series: readonly Series[];
  readonly textOf: (value: number) => string;
}

/** Bars over time. Screen readers get the sum. The table beside has each figure. */
export function Chart({ title, sum, times, series, textOf }: ChartProps) {
  const isUtc = useUtc();
  const heights = times.map((_at, place) => series.reduce((total, { values }) => total + (values[place] ?? 0), 0));
  const most = Math.max(0, ...heights);
  const width = WIDTH / Math.max(1, times.length);
  const scale = most === 0 ? 0 : HEIGHT / most;
  return (
    <figure class="panel padded stack tight chart">
      <figcaption class="row">
        <h3 class="grow">{title}</h3>
        <strong>{sum}</strong>
      </figcaption>
      <svg viewBox={`0 0 ${WIDTH} ${HEIGHT}`} preserveAspectRatio="none" role="img" aria-label={`${title}: ${sum}`}>
        {times.map((at, place) => (
          <g key={at}>
            <rect class="ground" x={place * width} y={0} width={Math.max(1, width - GAP)} height={HEIGHT} />
            {barsAt(place, series).map(({ tone, from, value }) => {
              const height = Math.max(value === 0 ? 0 : 2, value * scale);
              return (
                <rect
                  key={tone}
                  class={tone}
                  x={place * width}
                  y={Math.max(0, HEIGHT - from * scale - height)}
                  width={Math.max(1, width - GAP)}
                  height={height}
                />
              );
            })}
            <title>{`${absoluteTime(at, isUtc)}: ${series.map(({ name, values }) => `${textOf(values[place] ?? 0)} ${name}`).join(", ")}`}</title>
          </g>
        ))}
      </svg>
      <div class="row muted" aria-hidden="true">
        <span class="grow">{absoluteTime(times[0] ?? 0, isUtc).slice(0, 16)}</span>
        <span>at most {textOf(most)}</span>
      </div>
    </figure>
  );
}

function barsAt(place: number, series: readonly Series[]) {
  let from = 0;
  return series.map(({ tone, values }) => {
    const value = values[place] ?? 0;
    const bar = { tone, from, value };
    from += value;
    return bar;
  });
}
