// The bars above a text: the selected mode, a note if the file has changed, and a note about restored changes.

/** How a text is shown: as source, as a document, or compared with another text. */
export type Mode = "source" | "document" | "changes";

interface ModesProps {
  readonly mode: Mode;
  readonly readOnly: boolean;
  /** Whether the text can be shown as a document. */
  readonly readable: boolean;
  readonly choose: (mode: Mode) => void;
}

export function Modes({ mode, readOnly, readable, choose }: ModesProps) {
  const button = (each: Mode, label: string) => (
    <button type="button" aria-pressed={mode === each} onClick={() => choose(each)}>
      {label}
    </button>
  );
  return (
    // biome-ignore lint/a11y/useSemanticElements: a fieldset is for fields
    <div class="modes" role="group" aria-label="View">
      {button("source", readOnly ? "Source" : "Edit")}
      {readable && button("document", "Read")}
      {button("changes", "Changes")}
    </div>
  );
}

interface Props {
  /** Whether the file's version has changed since the text was read. */
  readonly stale: boolean;
  readonly gone: boolean;
  /** Time when the unsaved changes were stored, in milliseconds since 1970; undefined if there were none. */
  readonly restored: number | undefined;
  readonly compare: () => void;
  readonly discard: () => void;
  readonly overwrite: () => void;
  readonly dismiss: () => void;
}

export function EditorBars({ stale, gone, restored, compare, discard, overwrite, dismiss }: Props) {
  const button = (label: string, run: () => void) => (
    <button type="button" onClick={run}>
      {label}
    </button>
  );
  const back = restored !== undefined && `Your unsaved changes from ${describeTime(restored)} were restored.`;
  if (stale)
    return (
      <div class="bar stale" role="alert">
        <span>
          {back} {gone ? "This file no longer exists." : "This file has changed in the sandbox."}
        </span>
        {!gone && button("Compare", compare)}
        {button("Discard mine", discard)}
        {button(gone ? "Create it again" : "Overwrite", overwrite)}
      </div>
    );
  if (!back) return null;
  return (
    <div class="bar restored" role="status">
      <span>{back}</span>
      {button("Compare", compare)}
      {button("Discard", discard)}
      {button("Keep", dismiss)}
    </div>
  );
}

function describeTime(time: number): string {
  const date = new Date(time);
  const today = date.toDateString() === new Date().toDateString();
  return date.toLocaleString([], { timeStyle: "short", ...(today ? {} : { dateStyle: "medium" }) });
}
