// A notebook's draft as text, which `Drafts` stores in the browser.

import { type CellDraft, isDraft } from "./cell";

export interface NotebookDraft {
  readonly language: string;
  /** Whether the context was created by this page. */
  readonly own: boolean;
  /** Ids of hidden runs. */
  readonly removed: readonly string[];
  readonly cells: readonly CellDraft[];
  /** Whether the draft differs from the file, and whether that's due to changes made on this page. */
  readonly changed: boolean;
  readonly edited: boolean;
  /** The ids of the cells in the file that the draft is based on, in order. */
  readonly order?: readonly string[] | undefined;
}

/** Parses a draft; returns undefined if the text isn't one. */
export function readDraft(text: string): NotebookDraft | undefined {
  const stored = parsed(text);
  if (typeof stored !== "object" || stored === null) return undefined;
  const { language, own, removed, cells, changed, edited, order } = stored as Partial<
    Record<keyof NotebookDraft, unknown>
  >;
  return {
    language: typeof language === "string" ? language : "",
    own: own === true,
    removed: Array.isArray(removed) ? removed.map(String) : [],
    cells: Array.isArray(cells) ? cells.filter(isDraft) : [],
    changed: changed !== false,
    edited: edited !== false,
    order: Array.isArray(order) ? order.map(String) : undefined,
  };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
