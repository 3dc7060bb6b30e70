import { useEffect, useState } from "preact/hooks";
import { messageOf } from "../../../domain/errors.ts";

interface Toast {
  readonly id: number;
  readonly text: string;
  readonly undo?: () => void;
}

const STAYS_MS = 8000;
const told = new EventTarget();
let lastId = 0;

class Told extends Event {
  readonly toast: Toast;

  constructor(toast: Toast) {
    super("toast");
    this.toast = toast;
  }
}

export function tell(text: string, undo?: () => void): void {
  told.dispatchEvent(new Told({ id: ++lastId, text, ...(undo === undefined ? {} : { undo }) }));
}

export async function telling(work: () => Promise<unknown>, done?: string): Promise<void> {
  try {
    await work();
    if (done !== undefined) tell(done);
  } catch (error) {
    tell(messageOf(error));
  }
}

export function Toasts() {
  const [toasts, setToasts] = useState<readonly Toast[]>([]);
  useEffect(() => {
    const show = (event: Event): void => {
      if (!(event instanceof Told)) return;
      const { toast } = event;
      setToasts((before) => [...before.slice(-2), toast]);
      setTimeout(() => setToasts((before) => before.filter(({ id }) => id !== toast.id)), STAYS_MS);
    };
    told.addEventListener("toast", show);
    return () => told.removeEventListener("toast", show);
  }, []);
  return (
    <div class="toasts" role="status" aria-live="polite">
      {toasts.map(({ id, text, undo }) => (
        <div class="toast" key={id}>
          <span>{text}</span>
          {undo !== undefined && (
            <button
              type="button"
              class="button"
              onClick={() => {
                setToasts((before) => before.filter((other) => other.id !== id));
                undo();
              }}
            >
              Undo
            </button>
          )}
        </div>
      ))}
    </div>
  );
}
