import { defaultKeymap, history, historyKeymap, indentWithTab } from "@codemirror/commands";
import { javascript } from "@codemirror/lang-javascript";
import { HighlightStyle, bracketMatching, foldGutter, indentOnInput, syntaxHighlighting } from "@codemirror/language";
import { type Diagnostic, lintGutter, setDiagnostics } from "@codemirror/lint";
import { searchKeymap } from "@codemirror/search";
import { EditorState } from "@codemirror/state";
import { EditorView, drawSelection, highlightActiveLine, keymap, lineNumbers } from "@codemirror/view";
import { tags } from "@lezer/highlight";
import { useEffect, useRef } from "preact/hooks";
import type { CodeProblem, EditorProps } from "./editor-props.ts";

const theme = EditorView.theme({
  "&": { height: "100%", fontSize: "12.5px", backgroundColor: "var(--grey-0)", color: "var(--grey-10)" },
  ".cm-scroller": { fontFamily: "var(--mono)", lineHeight: "20px" },
  ".cm-gutters": { backgroundColor: "var(--grey-1)", color: "var(--grey-7)", border: "0" },
  ".cm-activeLine, .cm-activeLineGutter": { backgroundColor: "var(--grey-2)" },
  ".cm-cursor": { borderLeftColor: "var(--grey-11)" },
  "&.cm-focused .cm-selectionBackground, .cm-selectionBackground": { backgroundColor: "var(--accent-tint)" },
  ".cm-panels": { backgroundColor: "var(--grey-2)", color: "inherit" },
  ".cm-tooltip": { backgroundColor: "var(--grey-0)", border: "1px solid var(--grey-4)" },
});

const colours = HighlightStyle.define([
  { tag: [tags.keyword, tags.operatorKeyword, tags.modifier], color: "var(--accent)" },
  { tag: [tags.string, tags.regexp, tags.special(tags.string)], color: "var(--good)" },
  { tag: [tags.number, tags.bool, tags.null], color: "var(--attention)" },
  { tag: [tags.comment], color: "var(--grey-7)", fontStyle: "italic" },
  { tag: [tags.function(tags.variableName), tags.function(tags.propertyName)], color: "var(--grey-11)", fontWeight: "600" },
]);

/** In a shadow root, its styles need no exception to the content security policy. */
export function CodeEditor({ text, path, isReadOnly, problem, onChange, onSave, label }: EditorProps) {
  const host = useRef<HTMLDivElement>(null);
  const view = useRef<EditorView>();
  const latest = useRef({ onChange, onSave });
  latest.current = { onChange, onSave };
  useEffect(() => {
    if (host.current === null) return;
    const root = host.current.shadowRoot ?? host.current.attachShadow({ mode: "open", delegatesFocus: true });
    const save = (): boolean => (latest.current.onSave(), true);
    const editor = new EditorView({
      root,
      parent: root,
      state: EditorState.create({
        doc: text,
        extensions: [
          keymap.of([{ key: "Mod-s", run: save, preventDefault: true }, indentWithTab, ...searchKeymap, ...historyKeymap, ...defaultKeymap]),
          lineNumbers(),
          foldGutter(),
          history(),
          drawSelection(),
          indentOnInput(),
          bracketMatching(),
          highlightActiveLine(),
          lintGutter(),
          syntaxHighlighting(colours),
          javascript({ typescript: /\.[mc]?tsx?$/.test(path) }),
          EditorState.readOnly.of(isReadOnly),
          EditorView.contentAttributes.of({ "aria-label": label, tabindex: "0" }),
          EditorView.updateListener.of((update) => update.docChanged && latest.current.onChange(update.state.doc.toString())),
          EditorView.domEventHandlers({ beforeinput: typeOverSelection }),
          theme,
        ],
      }),
    });
    view.current = editor;
    return () => editor.destroy();
  }, [text, path, isReadOnly, label]);
  useEffect(() => {
    const editor = view.current;
    if (editor === undefined) return;
    const found = problem === undefined ? [] : [diagnosticOf(problem, editor)];
    editor.dispatch(setDiagnostics(editor.state, found));
    const [first] = found;
    if (first !== undefined) editor.dispatch({ effects: EditorView.scrollIntoView(first.from, { y: "center" }) });
  }, [problem, text]);
  return <div ref={host} class="editor" style={{ height: "100%" }} />;
}

/** The browser would keep the look of the replaced text in a style attribute, which the content security policy forbids. */
function typeOverSelection(event: InputEvent, view: EditorView): boolean {
  const { data, inputType } = event;
  if (data === null || inputType !== "insertText" || view.composing || view.state.readOnly || view.state.selection.ranges.every(({ empty }) => empty))
    return false;
  event.preventDefault();
  view.dispatch(view.state.replaceSelection(data), { userEvent: "input.type", scrollIntoView: true });
  return true;
}

function diagnosticOf({ line, column, message }: CodeProblem, { state: { doc } }: EditorView): Diagnostic {
  const { from, to } = doc.line(Math.max(1, Math.min(doc.lines, line)));
  return { from: Math.min(to, from + column), to, severity: "error", message };
}
