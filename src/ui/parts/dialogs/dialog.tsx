import { useId, useLayoutEffect, useRef, useState } from "preact/hooks";
import { useAttempt } from "../../use-attempt.ts";
import { Problem } from "../problem.tsx";

const LOSES = "Close this, and lose what you typed?";

interface DialogProps {
  readonly title: string;
  readonly onClose: () => void;
  readonly children: preact.ComponentChildren;
  readonly class?: string;
}

export function Dialog({ title, onClose, children, class: className = "" }: DialogProps) {
  const element = useRef<HTMLDialogElement>(null);
  const id = useId();
  const isTyped = useRef(false);
  // A layout effect: the next keys go to the dialog.
  useLayoutEffect(() => {
    const before = document.activeElement;
    element.current?.showModal();
    return () => {
      if (before instanceof HTMLElement) before.focus();
    };
  }, []);
  return (
    <dialog
      ref={element}
      class={className}
      aria-labelledby={id}
      // A search is no loss.
      onInput={({ target }) => (isTyped.current = className !== "palette" && !(target instanceof HTMLInputElement && target.type === "search"))}
      // Escape. What was typed is not lost by it without a question.
      onCancel={(event) => isTyped.current && !confirm(LOSES) && event.preventDefault()}
      onClose={onClose}
      onClick={(event) => event.target === element.current && !isTyped.current && onClose()}
    >
      <div class="stack">
        <h1 id={id} class={className === "palette" ? "visually-hidden" : ""}>
          {title}
        </h1>
        {children}
      </div>
    </dialog>
  );
}

interface ConfirmProps {
  readonly title: string;
  /** Text that the user must type. */
  readonly name: string;
  readonly verb: string;
  readonly children: preact.ComponentChildren;
  /** Closes the dialog, or leaves the page. What it throws is shown. */
  readonly onConfirm: () => Promise<void>;
  readonly onClose: () => void;
}

export function ConfirmByName({ title, name, verb, children, onConfirm, onClose }: ConfirmProps) {
  const [typed, setTyped] = useState("");
  const { isUnderWay, error, attempt } = useAttempt();
  const id = useId();
  return (
    <Dialog title={title} onClose={onClose}>
      <form
        class="stack"
        onSubmit={(event) => {
          event.preventDefault();
          if (typed === name) void attempt(onConfirm);
        }}
      >
        <div>{children}</div>
        <div class="field">
          <label for={id}>
            Type <code>{name}</code> to confirm
          </label>
          <input id={id} class="input" autocomplete="off" spellcheck={false} value={typed} onInput={({ currentTarget }) => setTyped(currentTarget.value)} />
        </div>
        {error !== undefined && <Problem error={error} />}
        <div class="row end">
          <button type="button" class="button" onClick={onClose}>
            Cancel
          </button>
          <button type="submit" class="button danger" disabled={typed !== name || isUnderWay}>
            {verb}
          </button>
        </div>
      </form>
    </Dialog>
  );
}
