const WIDTH = 96;
const HEIGHT = 20;
const GAP = 1;

/** Oldest first. */
export function Sparkline({ counts, label }: { counts: readonly number[]; label: string }) {
  const most = Math.max(1, ...counts);
  const width = WIDTH / Math.max(1, counts.length);
  return (
    <svg class="spark" viewBox={`0 0 ${WIDTH} ${HEIGHT}`} role="img" aria-label={label}>
      <title>{label}</title>
      {counts.map((count, index) => {
        const height = count === 0 ? 1 : Math.max(2, (count / most) * HEIGHT);
        return <rect key={index} x={index * width} y={HEIGHT - height} width={Math.max(1, width - GAP)} height={height} opacity={count === 0 ? 0.25 : 1} />;
      })}
    </svg>
  );
}
