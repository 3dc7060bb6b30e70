export type Tone = "good" | "attention" | "bad" | "plain";

const SHAPES: Readonly<Record<Tone, string>> = { good: "●", attention: "▲", bad: "■", plain: "○" };

/** Shape and word repeat the colour's meaning. */
export function StateMark({ tone, children }: { tone: Tone; children: preact.ComponentChildren }) {
  return (
    <span class={`state ${tone}`}>
      <span aria-hidden="true">{SHAPES[tone]}</span>
      {children}
    </span>
  );
}
