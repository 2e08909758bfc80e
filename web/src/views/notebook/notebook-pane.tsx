// A pane with a notebook: cells over the runs of one code context.

import "../style/views.css";
import "../style/notebook.css";
import { computed, type ReadonlySignal, signal } from "@preact/signals";
import { ChevronsRight, Download, Plus, RotateCw, Square } from "lucide";
import { render } from "preact";
import { useEffect, useState } from "preact/hooks";
import { type Disposable, DisposableList } from "../../base/disposables";
import { randomId } from "../../base/random-id";
import { Icon } from "../../frame/icon";
import type { AppContext, Pane, PaneState, PaneStatus } from "../../frame/pane";
import { HawseError } from "../../wire/errors";
import type { CodeContextInfo, CodeLanguage } from "../../wire/methods";
import { saveBlob } from "../save";
import { type CellFocus, CellView, type FocusTarget } from "./cell-view";
import { type Cell, Notebook } from "./notebook";

const NAMES: Record<string, string> = {
  bash: "Bash",
  javascript: "JavaScript",
  python: "Python",
  typescript: "TypeScript",
};

function nameOf(language: string): string {
  return NAMES[language] ?? language;
}

export class NotebookPane implements Pane {
  readonly kind = "notebook";
  readonly title: ReadonlySignal<string>;
  readonly status: ReadonlySignal<PaneStatus>;
  readonly #app: AppContext;
  readonly #disposables = new DisposableList();
  readonly #notebook = signal<Notebook>(undefined as unknown as Notebook);
  readonly #active = signal<string | undefined>(undefined);
  readonly #targets = new Map<string, FocusTarget>();
  /** The cell that gets the focus as soon as it is drawn. */
  #awaited: string | undefined;

  constructor(app: AppContext, state: PaneState) {
    this.#app = app;
    this.#open(state.id || `nb-${randomId().slice(0, 8)}`);
    this.title = computed(() => `Notebook · ${nameOf(this.#notebook.value.language.value)}`);
    this.status = computed(() => {
      const { running, cells, context } = this.#notebook.value;
      if (cells.value.some(({ state: each }) => each.value.input)) return "attention";
      if (context.value?.state === "exited") return "failed";
      return running.value ? "running" : "idle";
    });
    this.#disposables.listen(window, "pagehide", () => this.#notebook.peek().flush());
  }

  mount(element: HTMLElement): Disposable {
    const root = document.createElement("div");
    root.className = "view notebook";
    element.append(root);
    render(<this.View />, root);
    return {
      dispose: () => {
        render(null, root);
        root.remove();
      },
    };
  }

  focus(): void {
    const cells = this.#notebook.peek().cells.peek();
    const active = cells.find(({ id }) => id === this.#active.peek()) ?? cells[0];
    if (active) this.#enter(active.id);
  }

  state(): PaneState {
    return { id: this.#notebook.peek().id };
  }

  async mayClose(): Promise<boolean> {
    const notebook = this.#notebook.peek();
    const question = "Close this notebook? Its cells and its variables are lost. Export keeps the cells.";
    if (!notebook.empty && !this.#app.readOnly.peek() && !confirm(question)) return false;
    notebook.forget();
    if (notebook.ownsContext && notebook.context.peek()) void notebook.end();
    return true;
  }

  dispose(): void {
    this.#notebook.peek().dispose();
    this.#disposables.dispose();
  }

  readonly View = () => {
    const notebook = this.#notebook.value;
    const cells = notebook.cells.value;
    const readOnly = this.#app.readOnly.value;
    const focus = this.#focus;
    const add = (kind: "code" | "text") => {
      const cell = notebook.insert(notebook.cells.peek().length, kind);
      this.#enter(cell.id);
    };
    return (
      <>
        <Toolbar notebook={notebook} app={this.#app} save={() => void this.#export()} />
        <div class="cells">
          <div class="column">
            {cells.map((cell, index) => (
              <CellView
                key={cell.id}
                notebook={notebook}
                cell={cell}
                index={index}
                readOnly={readOnly}
                active={this.#active.value === cell.id}
                activate={() => {
                  this.#active.value = cell.id;
                }}
                focus={focus}
              />
            ))}
            {!readOnly && (
              <div class="add">
                <button type="button" onClick={() => add("code")}>
                  <Icon icon={Plus} size={14} /> Code
                </button>
                <button type="button" onClick={() => add("text")}>
                  <Icon icon={Plus} size={14} /> Text
                </button>
              </div>
            )}
            {notebook.empty && !notebook.context.value && (
              <Others app={this.#app} own={notebook.id} show={id => this.#show(id)} />
            )}
          </div>
        </div>
      </>
    );
  };

  readonly #step = (cell: Cell, by: 1 | -1, into: "editor" | "cell"): boolean => {
    const cells = this.#notebook.peek().cells.peek();
    const next = cells[cells.indexOf(cell) + by];
    const target = next && this.#targets.get(next.id);
    if (!target) return false;
    if (into === "cell") target.element.focus();
    else target.focus(by === 1 ? "start" : "end");
    target.element.scrollIntoView({ block: "nearest" });
    return true;
  };

  readonly #enter = (id: string): void => {
    const target = this.#targets.get(id);
    this.#awaited = target ? undefined : id;
    target?.focus("keep");
    target?.element.scrollIntoView({ block: "nearest" });
  };

  readonly #focus: CellFocus = {
    step: this.#step,
    enter: this.#enter,
    register: (id, target) => {
      if (!target) this.#targets.delete(id);
      else this.#targets.set(id, target);
      if (target && this.#awaited === id) this.#enter(id);
    },
  };

  #open(id: string): void {
    const { client, sandbox, toast } = this.#app;
    const notebook = new Notebook(client.sandbox(sandbox), {
      id,
      storage: () => localStorage,
      storageKey: `hawse.notebook.${sandbox}.${id}`,
      problem: toast,
    });
    this.#notebook.value = notebook;
    void notebook.open().catch(error => {
      if (!(error instanceof HawseError)) throw error;
      toast(error.message || error.code);
    });
  }

  /** Shows another context in this pane, which has no cells of its own. */
  #show(id: string): void {
    const before = this.#notebook.peek();
    before.forget();
    before.dispose();
    this.#open(id);
    this.#app.changed(this);
  }

  async #export(): Promise<void> {
    const text = new TextEncoder().encode(this.#notebook.peek().export());
    const chunks = async function* () {
      yield text;
    };
    await saveBlob(`${this.#notebook.peek().id}.ipynb`, chunks());
  }
}

interface ToolbarProps {
  notebook: Notebook;
  app: AppContext;
  save: () => void;
}

function Toolbar({ notebook, app, save }: ToolbarProps) {
  const context = notebook.context.value;
  const readOnly = app.readOnly.value;
  const restart = () => {
    if (confirm("Restart the context? All variables are lost.")) void notebook.restart();
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
            onClick={() => void notebook.interrupt()}
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
      <button type="button" title="Download as .ipynb" onClick={save}>
        <Icon icon={Download} size={15} /> <span>Export</span>
      </button>
    </div>
  );
}

/** The language, which can be chosen before the context exists, and what the context does. */
function Kernel({ notebook, app }: Pick<ToolbarProps, "notebook" | "app">) {
  const [languages, setLanguages] = useState<readonly CodeLanguage[]>([]);
  const context = notebook.context.value;
  const choosing = !context && !app.readOnly.value;
  useEffect(() => {
    if (!choosing) return;
    let shown = true;
    void app.client
      .sandbox(app.sandbox)
      .code.languages({})
      .then(
        ({ languages: found }) => shown && setLanguages(found),
        () => {}, // a guest may not ask; the language of a context is known without it
      );
    return () => {
      shown = false;
    };
  }, [choosing]);
  if (!choosing)
    return (
      <span class="kernel" role="status">
        <i class={`dot ${context?.running ? "busy" : (context?.state ?? "")}`} aria-hidden="true" />
        {nameOf(notebook.language.value)}
        <small>{notebook.busy.value || stateText(context)}</small>
      </span>
    );
  const known = languages.some(({ language }) => language === notebook.language.value);
  return (
    <span class="kernel">
      {notebook.busy.value && <small role="status">{notebook.busy.value}</small>}
      <select
        aria-label="Language"
        value={notebook.language.value}
        onChange={({ currentTarget }) => {
          notebook.language.value = currentTarget.value;
          notebook.save();
        }}
      >
        {!known && <option value={notebook.language.value}>{nameOf(notebook.language.value)}</option>}
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

function stateText(context: CodeContextInfo | undefined): string {
  if (!context) return "not started";
  if (context.state === "exited") return "ended";
  return context.running ? "busy" : "idle";
}

/** The contexts that exist already, for example those of agents. */
function Others({ app, own, show }: { app: AppContext; own: string; show: (id: string) => void }) {
  const [contexts, setContexts] = useState<readonly CodeContextInfo[]>([]);
  useEffect(() => {
    let shown = true;
    void app.client
      .sandbox(app.sandbox)
      .code.list({})
      .then(
        ({ contexts: found }) => shown && setContexts(found.filter(({ id }) => id !== own)),
        () => {}, // a guest may not ask
      );
    return () => {
      shown = false;
    };
  }, [own]);
  if (contexts.length === 0) return null;
  return (
    <section class="others" aria-label="Contexts that run">
      <h3>Or follow code that runs already</h3>
      <ul>
        {contexts.map(context => (
          <li key={context.id}>
            <button type="button" onClick={() => show(context.id)}>
              <i class={`dot ${context.running ? "busy" : context.state}`} aria-hidden="true" />
              <strong>{context.id}</strong>
              <span>
                {nameOf(context.language)} · {stateText(context)}
              </span>
            </button>
          </li>
        ))}
      </ul>
    </section>
  );
}
