// A pane with one file: text in an editor, an image, or what it is and a download. It is saved with the version it was
// read at, so a change by another program is never overwritten without a question.

import "../style/views.css";
import "../style/editor.css";
import { computed, type ReadonlySignal, signal } from "@preact/signals";
import { render } from "preact";
import type { Disposable } from "../../base/disposables";
import type { SandboxHandle } from "../../client/sandbox";
import type { AppContext, Pane, PaneState, PaneStatus } from "../../frame/pane";
import { HawseError } from "../../wire/errors";
import { collect, saveBlob } from "../save";
import type { TextEditor } from "./text-editor";
import { parentOf } from "./tree";

/** Bytes of a text that is opened. */
const TEXT_MAX = 8_388_608;
const IMAGE = /\.(avif|bmp|gif|ico|jpe?g|png|svg|webp)$/i;

type Content =
  | { readonly kind: "loading" }
  | { readonly kind: "text"; readonly text: string }
  | { readonly kind: "image"; readonly url: string }
  | { readonly kind: "other"; readonly reason: string };

export class EditorPane implements Pane {
  readonly kind = "editor";
  readonly path: string;
  readonly title: ReadonlySignal<string>;
  readonly status: ReadonlySignal<PaneStatus>;
  readonly #app: AppContext;
  readonly #box: SandboxHandle;
  readonly #content = signal<Content>({ kind: "loading" });
  readonly #dirty = signal(false);
  /** The file has another version than the one that was read. */
  readonly #stale = signal(false);
  readonly #saving = signal(false);
  #version: string | undefined;
  /** The line to show as soon as there is a text. */
  #line: number | undefined;
  #editor: TextEditor | undefined;
  #host: HTMLElement | undefined;
  #watch: { cancel(): void } | undefined;
  #disposed = false;

  constructor(app: AppContext, state: PaneState) {
    this.#app = app;
    this.path = state.path ?? "";
    this.#line = lineOf(state);
    this.#box = app.client.sandbox(app.sandbox);
    this.title = computed(() => `${this.path.split("/").at(-1)}${this.#dirty.value ? " •" : ""}`);
    this.status = computed(() => (this.#stale.value ? "attention" : "idle"));
  }

  mount(element: HTMLElement): Disposable {
    const root = document.createElement("div");
    root.className = "view editor";
    element.append(root);
    render(<this.View />, root);
    void this.#load();
    void this.#follow();
    return {
      dispose: () => {
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
    return { path: this.path };
  }

  adopt(state: PaneState): boolean {
    if (state.path !== this.path) return false;
    this.#line = lineOf(state);
    this.#goToLine();
    this.#app.changed(this);
    return true;
  }

  async mayClose(): Promise<boolean> {
    return !this.#dirty.value || confirm(`Close ${this.path} without saving your changes?`);
  }

  dispose(): void {
    this.#disposed = true;
    this.#watch?.cancel();
    this.#editor?.dispose();
    this.#editor = undefined;
  }

  readonly View = () => {
    const content = this.#content.value;
    return (
      <>
        <div class="bar">
          <span class="path" title={this.path}>
            {this.path}
          </span>
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
        {this.#stale.value && (
          <div class="bar stale" role="alert">
            <span>This file has changed in the sandbox.</span>
            <button type="button" onClick={() => void this.#load()}>
              Discard mine
            </button>
            <button type="button" onClick={() => void this.#save(true)}>
              Overwrite
            </button>
          </div>
        )}
        <div
          class="content"
          data-kind={content.kind}
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
              <button type="button" class="plain" onClick={() => void this.#download()}>
                Download
              </button>
            </p>
          )}
        </div>
      </>
    );
  };

  async #load(): Promise<void> {
    try {
      const stat = await this.#box.file.stat({ path: this.path });
      if (stat.size > TEXT_MAX) {
        this.#show({ kind: "other", reason: "This file is larger than 8 MiB." });
        return;
      }
      const version = stat.version ?? null;
      const blob = await collect(this.#box.read(this.path, { version }));
      this.#version = stat.version ?? undefined;
      if (IMAGE.test(this.path)) this.#show({ kind: "image", url: await dataUrl(blob, this.path) });
      else await this.#showText(await blob.arrayBuffer());
      this.#dirty.value = false;
      this.#stale.value = false;
    } catch (error) {
      if (!(error instanceof HawseError)) throw error;
      // It has changed while it was read; the watch reports the change, after which it is read again.
      if (error.code !== "conflict") this.#show({ kind: "other", reason: error.message });
    }
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
      return;
    }
    if (this.#disposed || !this.#host) return;
    this.#editor = new TextEditor(this.#host, {
      text,
      path: this.path,
      readOnly: this.#app.readOnly.value,
      changed: () => {
        this.#dirty.value = true;
      },
      save: () => void this.#save(),
    });
    if (this.#host.closest(".pane.active")) this.#editor.focus();
    this.#goToLine();
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
      this.#dirty.value = editor.generation !== generation; // typed while it was saved
      this.#stale.value = false;
    } catch (error) {
      if (!(error instanceof HawseError)) throw error;
      if (error.code === "conflict") this.#stale.value = true;
      else this.#app.toast(error.message);
    } finally {
      this.#saving.value = false;
    }
  }

  async #download(): Promise<void> {
    await saveBlob(this.path.split("/").at(-1) ?? "file", this.#box.read(this.path)).catch(error =>
      this.#app.toast(String(error.message)),
    );
  }

  /** Shows changes of the file by others at once, unless there are own ones. */
  async #follow(): Promise<void> {
    const name = this.path.split("/").at(-1);
    const path = parentOf(this.path) || ".";
    const stream = this.#box.watch.start({ path, recursive: false, exclude: [] });
    this.#watch = stream;
    try {
      for await (const item of stream) {
        const concerned =
          item.event === "rescan" ||
          (item.event === "changes" && item.value.changes.some(change => change.path.endsWith(`/${name}`)));
        if (concerned) await this.#changed();
      }
    } catch (error) {
      if (!(error instanceof HawseError)) throw error; // a save still compares versions
    }
  }

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

/** The page's policy allows images from its own origin and `data:`. */
async function dataUrl(blob: Blob, path: string): Promise<string> {
  const extension = path.split(".").at(-1)?.toLowerCase() ?? "";
  const type =
    { svg: "image/svg+xml", jpg: "image/jpeg", ico: "image/x-icon" }[extension] ?? `image/${extension}`;
  return new Promise((resolve, reject) => {
    const reader = new FileReader();
    reader.onload = () => resolve(String(reader.result));
    reader.onerror = () => reject(reader.error);
    reader.readAsDataURL(new Blob([blob], { type }));
  });
}
