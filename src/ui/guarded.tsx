import { useCallback, useState } from "preact/hooks";
import { Router } from "wouter-preact";
import { Dialog } from "./parts/dialog.tsx";
import { leaveFor, useAsker } from "./unsaved.ts";

export function Guarded({ children }: { children: preact.ComponentChildren }) {
  const [leave, setLeave] = useState<() => void>();
  const stay = useCallback(() => setLeave(undefined), []);
  useAsker(useCallback((wanted: () => void) => setLeave(() => wanted), []));
  return (
    <Router aroundNav={(navigate, to, options) => leaveFor(to, () => navigate(to, options))}>
      {children}
      {leave !== undefined && (
        <Dialog title="Leave without saving?" onClose={stay}>
          <p>Your changes are not saved.</p>
          <div class="row end">
            <button type="button" class="button" onClick={stay}>
              Stay
            </button>
            <button
              type="button"
              class="button danger"
              onClick={() => {
                stay();
                leave();
              }}
            >
              Leave
            </button>
          </div>
        </Dialog>
      )}
    </Router>
  );
}
