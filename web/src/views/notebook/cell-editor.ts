// The editor for a cell: a CodeMirror editor that is as high as its text, with completions from the context.

import { syntaxHighlighting } from "@codemirror/language";
import { Compartment, EditorState, Prec } from "@codemirror/state";
import { EditorView, keymap, placeholder } from "@codemirror/view";
import { basicSetup } from "codemirror";
import { COLORS, LANGUAGES } from "../files/text-editor";

/** The file extension for each context language. */
const EXTENSIONS: Record<string, string> = {
  css: "css",
  html: "html",
  javascript: "js",
  json: "json",
  markdown: "md",
  python: "py",
  typescript: "ts",
};

const THEME = EditorView.theme({
  "&": { background: "transparent", color: "var(--text)", fontSize: "13px" },
  ".cm-scroller": { fontFamily: "var(--mono)", lineHeight: "1.55", overflowX: "auto" },
  ".cm-content": { caretColor: "var(--text)", padding: "8px 0" },
  ".cm-line": { padding: "0 12px" },
  ".cm-cursor": { borderLeftColor: "var(--text)" },
  ".cm-gutters": { display: "none" },
  ".cm-activeLine": { background: "transparent" },
  ".cm-placeholder": { color: "var(--quiet)" },
  "&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-selectionBackground": {
    background: "color-mix(in srgb, var(--accent) 28%, transparent)",
  },
  ".cm-tooltip": {
    border: "1px solid var(--line)",
    borderRadius: "var(--radius)",
    background: "var(--raised)",
    color: "var(--text)",
    boxShadow: "var(--shadow)",
  },
  ".cm-tooltip-autocomplete ul li[aria-selected]": {
    background: "color-mix(in srgb, var(--accent) 22%, transparent)",
    color: "var(--text)",
  },
  "&.cm-focused": { outline: "none" },
});

export interface CellEditorOptions {
  readonly text: string;
  readonly label: string;
  readonly hint: string;
  readonly readOnly: boolean;
  changed(text: string): void;
  /** `next`: Shift+Enter. `stay`: Ctrl+Enter. `insert`: Alt+Enter. */
  run(then: "next" | "stay" | "insert"): void;
  /** Called when the cursor leaves the cell, or the user has pressed Escape. */
  leave(to: "up" | "down" | "cell"): void;
  focused(): void;
  complete(text: string, cursor: number): Promise<{ from: number; matches: readonly string[] } | undefined>;
}

export class CellEditor {
  readonly #view: EditorView;
  readonly #language = new Compartment();
  readonly #label = new Compartment();
  #shown = "";

  constructor(host: HTMLElement, options: CellEditorOptions) {
    const { text, label, hint, readOnly, changed, run, leave, focused, complete } = options;
    const did = (work: () => void) => () => {
      work();
      return true;
    };
    const atEdge = (edge: "up" | "down") => (view: EditorView) => {
      const { doc, selection } = view.state;
      const line = doc.lineAt(selection.main.head).number;
      if (!selection.main.empty || line !== (edge === "up" ? 1 : doc.lines)) return false;
      if (view.dom.querySelector(".cm-tooltip-autocomplete")) return false;
      leave(edge);
      return true;
    };
    const keys = [
      { key: "Shift-Enter", run: did(() => run("next")) },
      { key: "Mod-Enter", run: did(() => run("stay")) },
      { key: "Alt-Enter", run: did(() => run("insert")) },
      { key: "ArrowUp", run: atEdge("up") },
      { key: "ArrowDown", run: atEdge("down") },
    ];
    this.#view = new EditorView({
      parent: host,
      state: EditorState.create({
        doc: text,
        extensions: [
          Prec.high(keymap.of(keys)),
          basicSetup,
          keymap.of([{ key: "Escape", run: did(() => leave("cell")) }]),
          this.#language.of([]),
          syntaxHighlighting(COLORS),
          THEME,
          placeholder(hint),
          EditorView.lineWrapping,
          EditorState.readOnly.of(readOnly),
          EditorState.languageData.of(() => [
            {
              autocomplete: async (context: { pos: number; explicit: boolean; state: EditorState }) => {
                const source = context.state.doc.toString();
                if (!context.explicit && !/[\w.]$/.test(source.slice(0, context.pos))) return null;
                const found = await complete(source, context.pos);
                if (!found || found.matches.length === 0) return null;
                return { from: found.from, options: found.matches.map(each => ({ label: each })) };
              },
            },
          ]),
          this.#label.of(EditorView.contentAttributes.of({ "aria-label": label })),
          EditorView.domEventHandlers({ focus: () => focused() }),
          EditorView.updateListener.of(({ docChanged, state }) => {
            if (docChanged) changed(state.doc.toString());
          }),
        ],
      }),
    });
  }

  get hasFocus(): boolean {
    return this.#view.hasFocus;
  }

  /** Shows text that was not typed in this editor. */
  show(text: string): void {
    const { doc } = this.#view.state;
    if (text !== doc.toString()) this.#view.dispatch({ changes: { from: 0, to: doc.length, insert: text } });
  }

  rename(label: string): void {
    const attributes = EditorView.contentAttributes.of({ "aria-label": label });
    this.#view.dispatch({ effects: this.#label.reconfigure(attributes) });
  }

  /** Highlights the text in this language. */
  async highlight(language: string): Promise<void> {
    if (this.#shown === language) return;
    this.#shown = language;
    const support = await LANGUAGES[EXTENSIONS[language] ?? ""]?.().catch(() => undefined);
    if (this.#shown === language)
      this.#view.dispatch({ effects: this.#language.reconfigure(support?.language ?? []) });
  }

  focus(at: "start" | "end" | "keep" = "keep"): void {
    this.#view.focus();
    if (at === "keep") return;
    this.#view.dispatch({ selection: { anchor: at === "start" ? 0 : this.#view.state.doc.length } });
  }

  dispose(): void {
    this.#view.destroy();
  }
}
