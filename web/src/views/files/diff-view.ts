// Shows the differences between two texts: side by side if there's enough space, otherwise in one column. This module
// is a separate chunk.

import { type LanguageSupport, syntaxHighlighting } from "@codemirror/language";
import { MergeView, unifiedMergeView } from "@codemirror/merge";
import { EditorState, type Extension } from "@codemirror/state";
import { EditorView, highlightSpecialChars, lineNumbers } from "@codemirror/view";
import type { Disposable } from "../../base/disposables";
import { COLORS, LANGUAGES, THEME } from "./text-editor";

/** Minimum width for two columns, in CSS pixels. */
const WIDE = 760;
/** Number of unchanged lines shown around each change, and minimum number of lines to hide. */
const CONTEXT = { margin: 3, minSize: 8 };

const DIFF_THEME = EditorView.theme({
  ".cm-changedLine, &.cm-merge-b .cm-changedLine, .cm-inlineChangedLine": {
    background: "color-mix(in srgb, var(--good) 9%, transparent)",
  },
  "&.cm-merge-a .cm-changedLine, .cm-deletedChunk": {
    background: "color-mix(in srgb, var(--bad) 9%, transparent)",
  },
  "&.cm-merge-a .cm-changedText, .cm-deletedChunk .cm-deletedText": {
    background: "color-mix(in srgb, var(--bad) 16%, transparent)",
  },
  "&.cm-merge-b .cm-changedText, .cm-changedText": {
    background: "color-mix(in srgb, var(--good) 16%, transparent)",
  },
  "&.cm-merge-a .cm-changedLineGutter, .cm-deletedLineGutter": { background: "var(--bad)" },
  "&.cm-merge-b .cm-changedLineGutter, .cm-changedLineGutter": { background: "var(--good)" },
  ".cm-collapsedLines": {
    background: "color-mix(in srgb, var(--text) 7%, var(--surface))",
    color: "var(--quiet)",
    fontFamily: "var(--sans)",
  },
  // CodeMirror's default is a character that few fonts contain.
  ".cm-collapsedLines:before": { content: '"↕"' },
  ".cm-collapsedLines:after": { content: '""' },
});

export interface Comparison {
  readonly before: string;
  readonly after: string;
  /** The labels for the two texts. */
  readonly names: readonly [before: string, after: string];
  readonly path: string;
}

export async function showDiff(host: HTMLElement, comparison: Comparison): Promise<Disposable> {
  const { before, after, names, path } = comparison;
  const language = LANGUAGES[path.split(".").at(-1)?.toLowerCase() ?? ""];
  // If the language can't be loaded, the texts aren't highlighted.
  const support = await language?.().catch(() => undefined);
  if (host.clientWidth >= WIDE) {
    const side = (doc: string, name: string) => ({ doc, extensions: shared(name, support) });
    const view = new MergeView({
      parent: host,
      a: side(before, names[0]),
      b: side(after, names[1]),
      collapseUnchanged: CONTEXT,
      gutter: true,
    });
    return { dispose: () => view.destroy() };
  }
  const merge = unifiedMergeView({
    original: before,
    mergeControls: false,
    collapseUnchanged: CONTEXT,
    gutter: true,
  });
  const view = new EditorView({
    parent: host,
    state: EditorState.create({
      doc: after,
      extensions: [...shared(`${names[0]} and ${names[1]}`, support), merge],
    }),
  });
  return { dispose: () => view.destroy() };
}

function shared(name: string, support: LanguageSupport | undefined): Extension[] {
  return [
    lineNumbers(),
    syntaxHighlighting(COLORS),
    THEME,
    DIFF_THEME,
    highlightSpecialChars(),
    EditorView.lineWrapping,
    EditorState.readOnly.of(true),
    EditorView.contentAttributes.of({ "aria-label": name, tabindex: "0" }),
    support ?? [],
  ];
}
