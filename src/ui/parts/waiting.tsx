import { useEffect, useState } from "preact/hooks";

/** Fast answers must not flash it. */
const PATIENCE_MS = 300;
const WIDTHS = ["70%", "45%", "60%", "52%", "66%"];

export function Waiting({ lines = 5 }: { lines?: number }) {
  const [isLate, setLate] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => setLate(true), PATIENCE_MS);
    return () => clearTimeout(timer);
  }, []);
  if (!isLate) return <div aria-busy="true" />;
  return (
    <div class="stack" aria-busy="true" role="status" aria-label="Loading">
      {WIDTHS.slice(0, lines).map((width) => (
        <div class="skeleton" style={{ width }} key={width} />
      ))}
    </div>
  );
}
