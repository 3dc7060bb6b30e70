export type Tone = "good" | "attention" | "bad" | "plain";

const SHAPES: Readonly<Record<Tone, string>> = { good: "●", attention: "▲", bad: "■", plain: "○" };

/** A state: its shape and its word say the same as its colour. */
export function StateMark({ tone, children }: { tone: Tone; children: preact.ComponentChildren }) {
  return (
    <span class={`state ${tone}`}>
      <span aria-hidden="true">{SHAPES[tone]}</span>
      {children}
    </span>
  );
}
