import { useEffect, useRef, useState } from "preact/hooks";

export function Menu({ label, children }: { label: string; children: preact.ComponentChildren }) {
  const [isOpen, setOpen] = useState(false);
  const root = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (!isOpen) return;
    const close = (event: Event): void => {
      const isEscape = event instanceof KeyboardEvent && event.key === "Escape";
      const isOutside = event.type === "click" && event.target instanceof Node && root.current?.contains(event.target) === false;
      if (isEscape || isOutside) setOpen(false);
    };
    document.addEventListener("click", close);
    document.addEventListener("keydown", close);
    return () => {
      document.removeEventListener("click", close);
      document.removeEventListener("keydown", close);
    };
  }, [isOpen]);
  return (
    <div class="menu" ref={root}>
      <button type="button" class="button" aria-expanded={isOpen} aria-haspopup="true" onClick={() => setOpen(!isOpen)}>
        {label} <span aria-hidden="true">▾</span>
      </button>
      {isOpen && <div onClick={() => setOpen(false)}>{children}</div>}
    </div>
  );
}
