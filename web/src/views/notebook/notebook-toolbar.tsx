// The toolbar above the cells: buttons to run, interrupt, restart, export and save, and the state of the context.

import { ChevronsRight, Download, RotateCw, Square } from "lucide";
import { useEffect, useState } from "preact/hooks";
import { sandboxHandle } from "../../client/sandbox";
import { Icon } from "../../frame/icon";
import type { AppContext } from "../../frame/pane";
import type { CodeContextInfo, CodeLanguage } from "../../wire/methods";
import type { Notebook } from "./notebook";
import type { NotebookFileStore } from "./notebook-file";

const NAMES: Record<string, string> = {
  bash: "Bash",
  javascript: "JavaScript",
  python: "Python",
  typescript: "TypeScript",
};

/** Returns the display name of a language. */
export function nameOf(language: string): string {
  return NAMES[language] ?? language;
}

export interface ToolbarProps {
  notebook: Notebook;
  app: AppContext;
  /** The file that contains the cells, if there is one. */
  file: NotebookFileStore | undefined;
  save: () => void;
  /** Downloads the notebook. */
  download: () => void;
}

export function Toolbar({ notebook, app, file, save, download }: ToolbarProps) {
  const context = notebook.context.info.value;
  const changed = notebook.changed.value;
  const readOnly = app.readOnly.value;
  const restart = () => {
    if (confirm("Restart the context? All variables will be lost.")) void notebook.context.restart();
  };
  return (
    <div class="bar notebook-bar" role="toolbar" aria-label="Notebook">
      {!readOnly && (
        <>
          <button type="button" title="Run all cells" onClick={() => void notebook.runAll()}>
            <Icon icon={ChevronsRight} size={16} /> <span>Run all</span>
          </button>
          <button
            type="button"
            class="square"
            title="Interrupt"
            aria-label="Interrupt"
            disabled={!context?.running}
            onClick={() => void notebook.context.interrupt()}
          >
            <Icon icon={Square} size={13} />
          </button>
          <button
            type="button"
            class="square"
            title="Restart"
            aria-label="Restart"
            disabled={!context}
            onClick={restart}
          >
            <Icon icon={RotateCw} size={15} />
          </button>
        </>
      )}
      <span class="spring" />
      <Kernel notebook={notebook} app={app} />
      <button type="button" title="Download as .ipynb" onClick={download}>
        <Icon icon={Download} size={15} /> <span>Export</span>
      </button>
      {file && !readOnly && (
        <button
          type="button"
          class={`save ${changed ? "primary" : ""}`}
          disabled={!changed || file.saving.value}
          aria-keyshortcuts="Control+S"
          onClick={save}
        >
          {file.saving.value ? "Saving…" : changed ? "Save" : "Saved"}
        </button>
      )}
    </div>
  );
}

/** Shows the language, which can be chosen until the context exists, and the state of the context. */
function Kernel({ notebook, app }: Pick<ToolbarProps, "notebook" | "app">) {
  const [languages, setLanguages] = useState<readonly CodeLanguage[]>([]);
  const context = notebook.context.info.value;
  const choosing = !context && !app.readOnly.value;
  useEffect(() => {
    if (!choosing) return;
    let shown = true;
    void sandboxHandle(app.client, app.sandbox)
      .code.languages({})
      .then(
        ({ languages: found }) => shown && setLanguages(found),
        () => {}, // guests may not list languages; the language of an existing context is known anyway
      );
    return () => {
      shown = false;
    };
  }, [choosing]);
  if (!choosing)
    return (
      <span class="kernel" role="status">
        <i class={`dot ${context?.running ? "busy" : (context?.state ?? "")}`} aria-hidden="true" />
        {nameOf(notebook.context.language.value)}
        <small>{notebook.context.busy.value || stateText(context)}</small>
      </span>
    );
  const known = languages.some(({ language }) => language === notebook.context.language.value);
  return (
    <span class="kernel">
      {notebook.context.busy.value && <small role="status">{notebook.context.busy.value}</small>}
      <select
        aria-label="Language"
        value={notebook.context.language.value}
        onChange={({ currentTarget }) => {
          notebook.context.language.value = currentTarget.value;
          notebook.save();
        }}
      >
        {!known && (
          <option value={notebook.context.language.value}>{nameOf(notebook.context.language.value)}</option>
        )}
        {languages.map(({ language, kernel, install }) => (
          <option key={language} value={language} disabled={!kernel} title={install}>
            {nameOf(language)}
            {kernel ? "" : " (not installed)"}
          </option>
        ))}
      </select>
    </span>
  );
}

export function stateText(context: CodeContextInfo | undefined): string {
  if (!context) return "not started";
  if (context.state === "exited") return "ended";
  return context.running ? "busy" : "idle";
}
