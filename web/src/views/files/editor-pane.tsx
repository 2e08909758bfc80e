// A pane with one file. It shows text in an editor, or an image; for other files, it shows the type and a download
// link. When saving, it specifies the version that was read, so changes made by other programs are never overwritten
// without asking.

import { visible } from "../../base/visible";
import { errorText } from "../../client/error-text";
import { sandboxHandle } from "../../client/sandbox";
import "../style/views.css";
import "../style/editor.css";
import { computed, type ReadonlySignal, signal } from "@preact/signals";
import { type ComponentType, render } from "preact";
import type { Disposable } from "../../base/disposables";
import type { DraftSlot } from "../../base/drafts";
import type { SandboxHandle } from "../../client/sandbox";
import type { AppContext, Pane, PaneState, PaneStatus } from "../../frame/pane";
import { HawseError } from "../../wire/errors";
import type { MarkdownProps } from "../markdown/markdown";
import { collect, dataUrl, saveBlob } from "../save";
import { Changes } from "./changes";
import type { Comparison } from "./diff-view";
import { DocumentView, IMAGE } from "./document-view";
import { EditorBars, type Mode, Modes } from "./editor-bars";
import { watchFile } from "./file-watch";
import { textAtHead } from "./git-marks";
import type { TextEditor } from "./text-editor";
import { parentOf } from "./tree";

/** Maximum size of a text to open, in bytes. */
const TEXT_MAX = 8_388_608;
const MARKDOWN = /\.(md|markdown)$/i;
/** Names of file types whose contents can't be shown. */
const OTHERS: Record<string, string> = {
  device: "device",
  directory: "directory",
  fifo: "named pipe",
  socket: "socket",
};

type Content =
  | { readonly kind: "loading" }
  | { readonly kind: "text"; readonly text: string }
  | { readonly kind: "image"; readonly url: string }
  | { readonly kind: "other"; readonly reason: string; readonly missing?: boolean };

export class EditorPane implements Pane {
  readonly kind = "editor";
  readonly path: string;
  readonly title: ReadonlySignal<string>;
  readonly status: ReadonlySignal<PaneStatus>;
  readonly #app: AppContext;
  readonly #box: SandboxHandle;
  readonly #content = signal<Content>({ kind: "loading" });
  readonly #dirty = signal(false);
  /** Whether the file's version has changed since it was read. */
  readonly #stale = signal(false);
  /** Whether the file no longer exists. */
  readonly #gone = signal(false);
  /** Time when the restored changes were stored; undefined if there are none or the user has dismissed the note. */
  readonly #restored = signal<number | undefined>(undefined);
  readonly #saving = signal(false);
  readonly #mode = signal<Mode>("source");
  readonly #comparison = signal<Comparison | undefined>(undefined);
  /** The document module, once it has been loaded. */
  readonly #Markdown = signal<ComponentType<MarkdownProps> | undefined>(undefined);
  #version: string | undefined;
  /** The line to show once the text has been loaded. */
  #line: number | undefined;
  /** The position to show once the text has been loaded. */
  #wanted: Mode;
  #editor: TextEditor | undefined;
  #host: HTMLElement | undefined;
  #watch: Disposable | undefined;
  /** Stores unsaved changes; undefined until the file has been read. */
  #draft: DraftSlot | undefined;
  #disposed = false;
  replaceable = true;

  constructor(app: AppContext, state: PaneState) {
    this.#app = app;
    this.path = state.path ?? "";
    this.#line = lineOf(state);
    this.#wanted = state.view === "document" || state.view === "changes" ? state.view : "source";
    this.#box = sandboxHandle(app.client, app.sandbox);
    this.title = computed(
      () => `${visible(this.path.split("/").at(-1) ?? "")}${this.#dirty.value ? " •" : ""}`,
    );
    this.status = computed(() => (this.#stale.value ? "attention" : "idle"));
  }

  mount(element: HTMLElement): Disposable {
    const root = document.createElement("div");
    root.className = "view editor";
    element.append(root);
    render(<this.View />, root);
    void this.#load();
    this.#watch = watchFile(this.#box, this.path, () => void this.#changed());
    return {
      dispose: () => {
        this.#draft?.flush();
        this.#editor?.dispose();
        this.#editor = undefined;
        render(null, root);
        root.remove();
      },
    };
  }

  focus(): void {
    if (this.#editor) this.#editor.focus();
    else this.#host?.focus();
  }

  state(): PaneState {
    const mode = this.#mode.peek();
    return mode === "source" ? { path: this.path } : { path: this.path, view: mode };
  }

  adopt(state: PaneState): boolean {
    if (state.path !== this.path) return false;
    this.#line = lineOf(state);
    if (this.#line) void this.#showMode("source");
    this.#goToLine();
    this.#app.changed(this);
    return true;
  }

  async directory(): Promise<string> {
    return parentOf(this.path);
  }

  async mayClose(): Promise<boolean> {
    if (!this.#dirty.value) return true;
    if (!confirm(`Close ${visible(this.path)} without saving your changes?`)) return false;
    await this.#draft?.forget();
    return true;
  }

  dispose(): void {
    this.#disposed = true;
    this.#draft?.dispose(); // stores the text, so this must come before the editor is disposed of
    this.#watch?.dispose();
    this.#editor?.dispose();
    this.#editor = undefined;
  }

  readonly View = () => {
    const content = this.#content.value;
    return (
      <>
        <div class="bar">
          <span class="path" title={visible(this.path)}>
            {visible(this.path)}
          </span>
          {content.kind === "text" && (
            <Modes
              mode={this.#mode.value}
              readOnly={this.#app.readOnly.value}
              readable={MARKDOWN.test(this.path)}
              choose={mode => void this.#showMode(mode)}
            />
          )}
          {content.kind === "text" && !this.#app.readOnly.value && (
            <button
              type="button"
              class={this.#dirty.value ? "primary" : ""}
              disabled={!this.#dirty.value || this.#saving.value}
              aria-keyshortcuts="Control+S"
              onClick={() => void this.#save()}
            >
              {this.#saving.value ? "Saving…" : this.#dirty.value ? "Save" : "Saved"}
            </button>
          )}
        </div>
        <EditorBars
          stale={this.#stale.value}
          gone={this.#gone.value}
          restored={this.#restored.value}
          compare={() => void this.#compareWithDisk()}
          discard={() => void this.#discard()}
          overwrite={() => void this.#save(true)}
          dismiss={() => {
            this.#restored.value = undefined;
          }}
        />
        <div
          class="content"
          data-kind={content.kind}
          hidden={this.#mode.value !== "source" && content.kind === "text"}
          tabIndex={content.kind === "text" ? undefined : -1}
          ref={host => {
            this.#host = host ?? undefined;
          }}
        >
          {content.kind === "loading" && <p class="empty">Loading…</p>}
          {content.kind === "image" && <img src={content.url} alt={this.path} />}
          {content.kind === "other" && (
            <p class="empty">
              {content.reason}{" "}
              {!content.missing && (
                <button type="button" class="plain" onClick={() => void this.#download()}>
                  Download
                </button>
              )}
            </p>
          )}
        </div>
        {content.kind === "text" && this.#mode.value === "changes" && this.#comparison.value && (
          <Changes comparison={this.#comparison.value} />
        )}
        {content.kind === "text" && this.#mode.value === "document" && this.#Markdown.value && (
          <DocumentView
            Markdown={this.#Markdown.value}
            text={this.#editor?.text ?? ""}
            path={this.path}
            box={this.#box}
            open={path => this.#app.open("editor", { path })}
          />
        )}
      </>
    );
  };

  async #showMode(mode: Mode): Promise<void> {
    try {
      if (mode === "document") this.#Markdown.value ??= (await import("../markdown/markdown")).Markdown;
      if (mode === "changes") this.#comparison.value = await this.#sinceHead();
    } catch (error) {
      this.#app.toast(error instanceof HawseError ? errorText(error) : "This view could not be loaded.");
      return;
    }
    this.#mode.value = mode;
    this.#app.changed(this);
    if (mode === "source") this.#editor?.focus();
  }

  /**
   * Compares the text with the last commit; a file that isn't in the commit is compared with an empty text. Throws
   * HawseError.
   */
  async #sinceHead(): Promise<Comparison> {
    const text = await textAtHead(this.#box, this.path, TEXT_MAX);
    return this.#against(text ?? "", text === undefined ? "Not in the last commit" : "Last commit", "Now");
  }

  async #compareWithDisk(): Promise<void> {
    try {
      const disk = await this.#box.readText(this.path);
      this.#comparison.value = this.#against(disk, "In the sandbox", "Yours");
      this.#mode.value = "changes";
    } catch (error) {
      if (!(error instanceof HawseError)) throw error;
      this.#app.toast(errorText(error));
    }
  }

  #against(before: string, first: string, second: string): Comparison {
    const after = this.#editor?.text ?? "";
    return { before, after, names: [first, second], path: this.path };
  }

  async #discard(): Promise<void> {
    await this.#draft?.forget();
    this.#restored.value = undefined;
    await this.#load();
  }

  /** Restores changes from a page that was closed before they were saved. */
  async #restore(): Promise<void> {
    if (this.#draft || this.#app.readOnly.value) return;
    const place = { sandbox: this.#app.sandbox, kind: "file", name: this.path } as const;
    const draft = (await this.#app.drafts()).slot(place);
    this.#draft = draft;
    const kept = await draft.read();
    if (this.#disposed) return draft.dispose();
    if (!kept) return this.#dirty.peek() ? this.#edited() : undefined;
    if (this.#editor?.text === kept.text) return draft.forget();
    const missing = !this.#editor;
    if (missing) await this.#showText(new ArrayBuffer(0));
    this.#editor?.replace(kept.text);
    this.#edited(kept.version);
    this.#gone.value = missing;
    this.#stale.value = missing || kept.version !== this.#version;
    this.#restored.value = kept.time;
  }

  #edited(version = this.#version): void {
    this.#dirty.value = true;
    this.replaceable = false;
    this.#draft?.keep(() => this.#editor?.text ?? "", version);
  }

  async #load(): Promise<void> {
    if (await this.#read())
      await this.#restore().catch(() => this.#app.toast("This browser cannot store unsaved changes."));
  }

  /** Returns whether the text has been read or the file doesn't exist. */
  async #read(): Promise<boolean> {
    try {
      const stat = await this.#box.file.stat({ path: this.path });
      const other = OTHERS[stat.type];
      if (other) return this.#showReason(`This is a ${other}, not a file.`, true);
      if (stat.size > TEXT_MAX) return this.#showReason("This file is larger than 8 MiB.");
      const version = stat.version ?? null;
      const blob = await collect(this.#box.read(this.path, { version }));
      this.#version = stat.version ?? undefined;
      if (IMAGE.test(this.path)) this.#show({ kind: "image", url: await dataUrl(blob, this.path) });
      else await this.#showText(await blob.arrayBuffer());
      this.#dirty.value = false;
      this.#stale.value = false;
      this.#gone.value = false;
      return this.#content.peek().kind === "text";
    } catch (error) {
      if (!(error instanceof HawseError)) throw error;
      // The file changed while it was being read. The watch reports the change, and the file is read again.
      const missing = ["not_found", "permission_denied"].includes(error.code);
      if (error.code !== "conflict") this.#show({ kind: "other", reason: errorText(error), missing });
      return error.code === "not_found";
    }
  }

  #showReason(reason: string, missing = false): false {
    this.#show({ kind: "other", reason, missing });
    return false;
  }

  async #showText(bytes: ArrayBuffer): Promise<void> {
    let text: string;
    try {
      text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
    } catch {
      return this.#show({ kind: "other", reason: "This file is not text." });
    }
    const { TextEditor } = await import("./text-editor");
    this.#show({ kind: "text", text });
    if (this.#editor) {
      this.#editor.replace(text);
      if (this.#mode.peek() === "changes") await this.#showMode("source");
      return;
    }
    if (this.#disposed || !this.#host) return;
    this.#editor = new TextEditor(this.#host, {
      text,
      path: this.path,
      readOnly: this.#app.readOnly.value,
      changed: () => this.#edited(),
      save: () => void this.#save(),
    });
    if (this.#host.closest(".pane.active")) this.#editor.focus();
    this.#goToLine();
    if (this.#wanted !== "source") await this.#showMode(this.#wanted);
  }

  #goToLine(): void {
    if (!this.#line || !this.#editor) return;
    this.#editor.goTo(this.#line);
    this.#line = undefined;
  }

  #show(content: Content): void {
    if (content.kind !== "text") {
      this.#editor?.dispose();
      this.#editor = undefined;
    }
    this.#content.value = content;
  }

  async #save(overwrite = false): Promise<void> {
    const editor = this.#editor;
    if (!editor || this.#saving.value) return;
    this.#saving.value = true;
    const { text, generation } = editor;
    try {
      const condition = overwrite || this.#version === undefined ? {} : { if_version: this.#version };
      const { version } = await this.#box.write(this.path, text, condition);
      this.#version = version;
      this.#stale.value = false;
      this.#gone.value = false;
      this.#restored.value = undefined;
      if (editor.generation !== generation) return this.#edited(); // the user typed while the file was being saved
      this.#dirty.value = false;
      await this.#draft?.forget();
    } catch (error) {
      if (!(error instanceof HawseError)) throw error;
      if (error.code === "conflict") this.#stale.value = true;
      else this.#app.toast(errorText(error));
    } finally {
      this.#saving.value = false;
    }
  }

  async #download(): Promise<void> {
    await saveBlob(this.path.split("/").at(-1) ?? "file", this.#box.read(this.path)).catch(error =>
      this.#app.toast(error instanceof HawseError ? errorText(error) : String(error.message)),
    );
  }

  /** Shows other clients' changes to the file immediately, unless there are unsaved changes. */
  async #changed(): Promise<void> {
    const stat = await this.#box.file.stat({ path: this.path }).catch(() => undefined);
    if (!stat || this.#saving.value || stat.version === this.#version) return;
    if (this.#dirty.value) this.#stale.value = true;
    else await this.#load();
  }
}

function lineOf({ line }: PaneState): number | undefined {
  return Number.parseInt(line ?? "", 10) || undefined;
}
