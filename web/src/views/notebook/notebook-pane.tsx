// A pane with a notebook whose cells show the runs in a code context.

import { visible } from "../../base/visible";
import { sandboxHandle } from "../../client/sandbox";
import "../style/views.css";
import "../style/notebook.css";
import { computed, type ReadonlySignal, signal } from "@preact/signals";
import { Plus } from "lucide";
import { render } from "preact";
import { type Disposable, DisposableList } from "../../base/disposables";
import { randomId } from "../../base/random-id";
import { Icon } from "../../frame/icon";
import type { AppContext, Pane, PaneState, PaneStatus } from "../../frame/pane";
import type { HawseError } from "../../wire/errors";
import { Changes } from "../files/changes";
import type { Comparison } from "../files/diff-view";
import { saveBlob } from "../save";
import type { Cell } from "./cell";
import { CELLS_MAX } from "./cell-runs";
import { type CellFocus, CellView, type FocusTarget } from "./cell-view";
import { Notebook } from "./notebook";
import { NotebookFileStore } from "./notebook-file";
import { nameOf, Toolbar } from "./notebook-toolbar";
import { OtherContexts } from "./other-contexts";

export class NotebookPane implements Pane {
  readonly kind = "notebook";
  readonly title: ReadonlySignal<string>;
  readonly status: ReadonlySignal<PaneStatus>;
  readonly #app: AppContext;
  readonly #disposables = new DisposableList();
  readonly #notebook = signal<Notebook>(undefined as unknown as Notebook);
  /** Path of the notebook's file; undefined for a notebook without a file. */
  readonly #path: string | undefined;
  #file: NotebookFileStore | undefined;
  /** The comparison with the file, while it's being shown. */
  readonly #comparison = signal<Comparison | undefined>(undefined);
  /** Why the file can't be shown. */
  readonly #problem = signal("");
  readonly #active = signal<string | undefined>(undefined);
  readonly #targets = new Map<string, FocusTarget>();
  /** The cell to focus once it has been drawn. */
  #awaited: string | undefined;
  /** Whether to focus the pane once it has cells. */
  #focusAwaited = false;

  constructor(app: AppContext, state: PaneState) {
    this.#app = app;
    this.#path = state.path;
    this.#open(this.#path ? contextOf(this.#path) : state.id || `nb-${randomId().slice(0, 8)}`);
    this.title = computed(() => {
      const { changed, context } = this.#notebook.value;
      const name = visible(fileName(this.#path) ?? "");
      if (name) return `${name}${changed.value ? " •" : ""}`;
      return `Notebook · ${nameOf(context.language.value)}`;
    });
    this.status = computed(() => {
      const { running, cells, context } = this.#notebook.value;
      if (this.#file?.stale.value) return "attention";
      if (cells.value.some(({ state: each }) => each.value.input)) return "attention";
      if (context.info.value?.state === "exited") return "failed";
      return running.value ? "running" : "idle";
    });
  }

  mount(element: HTMLElement): Disposable {
    const root = document.createElement("div");
    root.className = "view notebook";
    element.append(root);
    render(<this.View />, root);
    root.addEventListener("keydown", event => {
      if (event.key.toLowerCase() !== "s" || event.altKey || event.shiftKey) return;
      if (!(event.ctrlKey || event.metaKey) || !this.#file) return;
      event.preventDefault();
      void this.#save();
    });
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
    this.#focusAwaited = active === undefined;
    if (active) this.#enter(active.id);
  }

  state(): PaneState {
    return this.#path ? { path: this.#path } : { id: this.#notebook.peek().id };
  }

  adopt(state: PaneState): boolean {
    return this.#path !== undefined && state.path === this.#path;
  }

  async mayClose(): Promise<boolean> {
    const notebook = this.#notebook.peek();
    const context = notebook.ownsContext && notebook.context.info.peek() !== undefined;
    const cells = this.#path ? notebook.changed.peek() : !notebook.empty;
    if ((cells || context) && !this.#app.readOnly.peek()) {
      const lost = [
        cells &&
          (this.#path
            ? "Unsaved changes will be lost."
            : "Its cells will be lost. Export them to keep them."),
        context && "Its variables will be lost.",
      ];
      if (!confirm(["Close this notebook?", ...lost.filter(Boolean)].join(" "))) return false;
    }
    await notebook.forget();
    if (context) void notebook.context.end();
    return true;
  }

  dispose(): void {
    this.#file?.dispose();
    this.#notebook.peek().dispose();
    this.#disposables.dispose();
  }

  readonly View = () => {
    const notebook = this.#notebook.value;
    const cells = notebook.cells.value;
    if (this.#problem.value && this.#path)
      return <Unreadable app={this.#app} path={this.#path} why={this.#problem.value} />;
    const readOnly = this.#app.readOnly.value;
    const focus = this.#focus;
    const add = (kind: "code" | "text") => {
      const cell = notebook.insert(notebook.cells.peek().length, kind);
      this.#enter(cell.id);
    };
    return (
      <>
        <Toolbar
          notebook={notebook}
          app={this.#app}
          file={this.#file}
          save={() => void this.#save()}
          download={() => void this.#export()}
        />
        {this.#file?.stale.value && !readOnly && <this.Stale />}
        {this.#comparison.value && <Changes comparison={this.#comparison.value} />}
        <div class="cells" hidden={this.#comparison.value !== undefined}>
          <div class="column">
            {cells.map((cell, index) => (
              <CellView
                key={cell} // after a reload, the file may have different cells with the same ids
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
            {!readOnly && cells.length > 0 && (
              <div class="add">
                <button type="button" onClick={() => add("code")}>
                  <Icon icon={Plus} size={14} /> Code
                </button>
                <button type="button" onClick={() => add("text")}>
                  <Icon icon={Plus} size={14} /> Text
                </button>
              </div>
            )}
            {!this.#path && cells.length > 0 && notebook.empty && !notebook.context.info.value && (
              <OtherContexts app={this.#app} own={notebook.id} show={id => this.#show(id)} />
            )}
          </div>
        </div>
      </>
    );
  };

  readonly Stale = () => (
    <div class="bar stale" role="alert">
      <span>This file has changed in the sandbox.</span>
      <button
        type="button"
        aria-pressed={this.#comparison.value !== undefined}
        onClick={() => void this.#compare()}
      >
        Compare
      </button>
      <button type="button" onClick={() => void this.#attempt(file => file.discard())}>
        Discard mine
      </button>
      <button type="button" onClick={() => void this.#save(true)}>
        Overwrite
      </button>
    </div>
  );

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
    const notebook = new Notebook(sandboxHandle(client, sandbox), {
      id,
      file: this.#path !== undefined,
      problem: toast,
    });
    this.#notebook.value = notebook;
    if (this.#path) this.#file = new NotebookFileStore(sandboxHandle(client, sandbox), notebook, this.#path);
    void this.#fill(notebook);
  }

  async #fill(notebook: Notebook): Promise<void> {
    try {
      const { sandbox } = this.#app;
      const drafts = await this.#app.drafts();
      if (!(await notebook.restore(drafts.slot({ sandbox, kind: "notebook", name: notebook.id })))) return;
      if (this.#file) {
        const omitted = await this.#file.load();
        if (omitted) this.#app.toast(`Only the first ${CELLS_MAX} cells are shown. Saving keeps the others.`);
        this.#file.follow(error => this.#app.toast((error as Error).message));
      }
      if (this.#focusAwaited) this.focus();
      await notebook.context.open();
      notebook.resume();
    } catch (error) {
      const { message, code } = error as Partial<HawseError>;
      const text = message || code || "";
      if (this.#path && notebook.cells.peek().length === 0) this.#problem.value = text;
      else this.#app.toast(text);
    }
  }

  /** Runs an operation on the file and then shows the cells. */
  async #attempt(action: (file: NotebookFileStore) => Promise<unknown>): Promise<void> {
    if (!this.#file) return;
    try {
      await action(this.#file);
      if (!this.#file.stale.peek()) this.#comparison.value = undefined;
    } catch (error) {
      this.#app.toast((error as Error).message);
    }
  }

  #save(overwrite = false): Promise<void> {
    if (this.#app.readOnly.peek()) return Promise.resolve();
    return this.#attempt(file => file.save(overwrite));
  }

  async #compare(): Promise<void> {
    const path = this.#path ?? "";
    await this.#attempt(async file => {
      const compared = this.#comparison.peek() ? undefined : await file.compare();
      this.#comparison.value = compared && { ...compared, names: ["In the sandbox", "Yours"], path };
    });
  }

  /** Replaces the pane's notebook, which must not have any cells yet, with one that shows another context. */
  #show(id: string): void {
    const before = this.#notebook.peek();
    void before.forget();
    before.dispose();
    this.#open(id);
    this.#app.changed(this);
  }

  async #export(): Promise<void> {
    const text = new TextEncoder().encode(this.#notebook.peek().export());
    const chunks = async function* () {
      yield text;
    };
    await saveBlob(fileName(this.#path) ?? `${this.#notebook.peek().id}.ipynb`, chunks());
  }
}

function fileName(path: string | undefined): string | undefined {
  return path?.split("/").at(-1);
}

/** Returns the id of a file's context. All users who open the file share the context. */
export function contextOf(path: string): string {
  let hash = 0x811c9dc5; // FNV-1a
  for (const byte of new TextEncoder().encode(path)) hash = Math.imul(hash ^ byte, 0x01000193) >>> 0;
  const name = (fileName(path) ?? "").replace(/\.ipynb$/i, "").replace(/[^A-Za-z0-9]+/g, "-");
  return `nb-${name.slice(0, 32)}-${hash.toString(16).padStart(8, "0")}`;
}

function Unreadable({ app, path, why }: { app: AppContext; path: string; why: string }) {
  return (
    <div class="empty" role="alert">
      <p>{why}</p>
      <button class="plain" type="button" onClick={() => app.open("editor", { path }, "right")}>
        Open as text
      </button>
    </div>
  );
}
