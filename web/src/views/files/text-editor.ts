// The text editor: CodeMirror, in a separate chunk. Each language is a separate chunk, too.

import { HighlightStyle, type LanguageSupport, syntaxHighlighting } from "@codemirror/language";
import { Compartment, EditorState } from "@codemirror/state";
import { EditorView, keymap } from "@codemirror/view";
import { tags } from "@lezer/highlight";
import { basicSetup } from "codemirror";
import { visible } from "../../base/visible";

/** File extension → language. */
export const LANGUAGES: Record<string, () => Promise<LanguageSupport>> = {
  css: async () => (await import("@codemirror/lang-css")).css(),
  html: async () => (await import("@codemirror/lang-html")).html(),
  js: async () => (await import("@codemirror/lang-javascript")).javascript(),
  json: async () => (await import("@codemirror/lang-json")).json(),
  jsx: async () => (await import("@codemirror/lang-javascript")).javascript({ jsx: true }),
  md: async () => (await import("@codemirror/lang-markdown")).markdown(),
  py: async () => (await import("@codemirror/lang-python")).python(),
  ts: async () => (await import("@codemirror/lang-javascript")).javascript({ typescript: true }),
  tsx: async () => (await import("@codemirror/lang-javascript")).javascript({ typescript: true, jsx: true }),
};

// Uses the page's colours, so the editor follows the theme. Their contrast is at least 4.5:1, even against the colours
// of changed text.
export const COLORS = HighlightStyle.define([
  { tag: [tags.keyword, tags.modifier, tags.operatorKeyword], color: "light-dark(#7d3595, #c792ea)" },
  { tag: [tags.string, tags.special(tags.string)], color: "light-dark(#14602d, #9ece6a)" },
  { tag: [tags.number, tags.bool, tags.null], color: "light-dark(#8a3c0a, #f0a36b)" },
  { tag: [tags.comment, tags.meta], color: "light-dark(#4d5966, #9aa7b8)", fontStyle: "italic" },
  {
    tag: [tags.function(tags.variableName), tags.function(tags.propertyName)],
    color: "light-dark(#1a52a8, #7aa2f7)",
  },
  { tag: [tags.typeName, tags.className, tags.tagName], color: "light-dark(#0a5c66, #5ad1c8)" },
  { tag: [tags.propertyName, tags.attributeName], color: "light-dark(#684600, #e8c26a)" },
  { tag: tags.heading, fontWeight: "700" },
  { tag: tags.link, textDecoration: "underline" },
  { tag: tags.emphasis, fontStyle: "italic" },
  { tag: tags.strong, fontWeight: "700" },
]);

export const THEME = EditorView.theme({
  "&": { height: "100%", background: "var(--surface)", color: "var(--text)", fontSize: "13px" },
  ".cm-scroller": { fontFamily: "var(--mono)", lineHeight: "1.55" },
  ".cm-content": { caretColor: "var(--text)" },
  ".cm-cursor": { borderLeftColor: "var(--text)" },
  ".cm-gutters": { background: "var(--surface)", color: "var(--quiet)", border: "0" },
  ".cm-activeLine, .cm-activeLineGutter": { background: "color-mix(in srgb, var(--text) 5%, transparent)" },
  "&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-selectionBackground": {
    background: "color-mix(in srgb, var(--accent) 28%, transparent)",
  },
  ".cm-panels": { background: "var(--raised)", color: "var(--text)" },
  "&.cm-focused": { outline: "none" },
});

export interface TextEditorOptions {
  readonly text: string;
  readonly path: string;
  readonly readOnly: boolean;
  /** Called when the user has changed the text. */
  changed(): void;
  /** Called when the user has pressed Ctrl+S or ⌘S. */
  save(): void;
}

export class TextEditor {
  readonly #view: EditorView;
  readonly #language = new Compartment();
  #generation = 0;
  #replacing = false;

  constructor(host: HTMLElement, { text, path, readOnly, changed, save }: TextEditorOptions) {
    this.#view = new EditorView({
      parent: host,
      state: EditorState.create({
        doc: text,
        extensions: [
          keymap.of([{ key: "Mod-s", preventDefault: true, run: () => handled(save) }]),
          // Without this option, a file with CRLF would be saved with LF.
          EditorState.lineSeparator.of(lineBreakOf(text)),
          basicSetup,
          this.#language.of([]),
          syntaxHighlighting(COLORS),
          THEME,
          EditorState.readOnly.of(readOnly),
          EditorView.contentAttributes.of({ "aria-label": visible(path), tabindex: "0" }),
          EditorView.updateListener.of(({ docChanged }) => {
            if (!docChanged) return;
            this.#generation++;
            if (!this.#replacing) changed();
          }),
        ],
      }),
    });
    void this.#highlight(path);
  }

  get text(): string {
    return this.#view.state.sliceDoc();
  }

  /** A number that increases each time the text changes. */
  get generation(): number {
    return this.#generation;
  }

  /** Replaces the text as a single undo step, keeping the cursor position. */
  replace(text: string): void {
    const { state } = this.#view;
    if (text === state.sliceDoc()) return;
    const anchor = Math.min(state.selection.main.anchor, text.length);
    this.#replacing = true;
    this.#view.dispatch({
      changes: { from: 0, to: state.doc.length, insert: state.toText(text) },
      selection: { anchor },
    });
    this.#replacing = false;
  }

  /**
   * Moves the cursor to a line, counting from 1, and shows it in the middle. A number beyond the end means the last
   * line.
   */
  goTo(line: number): void {
    const { doc } = this.#view.state;
    const { from } = doc.line(Math.min(Math.max(1, line), doc.lines));
    this.#view.dispatch({
      selection: { anchor: from },
      effects: EditorView.scrollIntoView(from, { y: "center" }),
    });
  }

  focus(): void {
    this.#view.focus();
  }

  dispose(): void {
    this.#view.destroy();
  }

  async #highlight(path: string): Promise<void> {
    const language = LANGUAGES[path.split(".").at(-1)?.toLowerCase() ?? ""];
    if (!language) return;
    // If the language can't be loaded, the text isn't highlighted.
    const support = await language().catch(() => undefined);
    if (support) this.#view.dispatch({ effects: this.#language.reconfigure(support) });
  }
}

function handled(work: () => void): true {
  work();
  return true;
}

/** Returns CRLF if all lines end with it. Otherwise, returns LF, and each CR is treated as an ordinary character. */
function lineBreakOf(text: string): string {
  return text.includes("\r\n") && !/(^|[^\r])\n/.test(text) ? "\r\n" : "\n";
}
