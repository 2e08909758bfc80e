// Uploads files dropped anywhere on the page and shows the progress. Without this module, the browser would open a file
// or link that is dropped.

import { errorText } from "../../client/error-text";
import "../style/views.css";
import "../style/uploads.css";
import { type Signal, signal } from "@preact/signals";
import { render } from "preact";
import { type Disposable, DisposableList } from "../../base/disposables";
import { visible } from "../../base/visible";
import { sandboxHandle } from "../../client/sandbox";
import type { AppContext } from "../../frame/pane";
import { HawseError } from "../../wire/errors";
import { ConflictDialog } from "./conflict-dialog";
import { type DropPlace, dropPlace, takesText } from "./dropped";
import { droppedFiles, FILES_MAX, type UploadFile, Uploads } from "./uploads";

interface Over {
  readonly element: Element;
  readonly box: DOMRect;
  /** Undefined if unknown. */
  readonly directory: string | undefined;
}

export class UploadHost implements Disposable {
  readonly #app: AppContext;
  readonly #uploads: Uploads;
  readonly #disposables = new DisposableList();
  readonly #over: Signal<Over | undefined> = signal(undefined);

  constructor(app: AppContext) {
    this.#app = app;
    const box = sandboxHandle(app.client, app.sandbox);
    this.#uploads = new Uploads((path, data, options) => box.write(path, data, options));
    const root = document.createElement("div");
    root.className = "uploads";
    document.body.append(root);
    // Deferred because a component may create this while it is being rendered, and rendering another tree at that point
    // would break its hooks.
    queueMicrotask(() => root.isConnected && render(<this.View />, root));
    const first = { capture: true }; // so that these handlers run before the ones in editors and terminals
    this.#disposables.listen<DragEvent>(document, "dragover", event => this.#moved(event), first);
    this.#disposables.listen<DragEvent>(document, "drop", event => this.#dropped(event), first);
    this.#disposables.listen<DragEvent>(document, "dragleave", event => {
      if (!event.relatedTarget) this.#over.value = undefined;
    });
    this.#disposables.defer(() => {
      this.#uploads.cancel();
      render(null, root);
      root.remove();
    });
  }

  /** Uploads files and shows the result. */
  async upload(into: string, files: readonly UploadFile[]): Promise<void> {
    const { toast } = this.#app;
    if (files.length >= FILES_MAX)
      toast(`Only the first ${FILES_MAX.toLocaleString("en")} files are uploaded`);
    try {
      const placed = await this.#uploads.upload(into, files);
      if (placed > 0) toast(`${placed === 1 ? "1 file" : `${placed} files`} uploaded into ${named(into)}`);
    } catch (error) {
      if (!(error instanceof HawseError)) throw error;
      toast(errorText(error));
    }
  }

  dispose(): void {
    this.#disposables.dispose();
  }

  readonly View = () => {
    const over = this.#over.value;
    const progress = this.#uploads.progress.value;
    const conflict = this.#uploads.conflict.value;
    return (
      <>
        {over && (
          <div class="drop" role="status" style={placed(over.box)}>
            {over.directory !== undefined && (
              <p>
                Drop to upload into <code>{visible(named(over.directory))}</code>
              </p>
            )}
          </div>
        )}
        {progress && (
          <div class="uploading">
            <span role="status">
              {progress.files === 1
                ? `Uploading ${visible(progress.path)}`
                : `Uploading ${progress.filesDone + 1} of ${progress.files}: ${visible(progress.path)}`}
            </span>
            <progress aria-label="Upload" max={Math.max(1, progress.bytes)} value={progress.bytesDone} />
            <button type="button" class="plain" onClick={() => this.#uploads.cancel()}>
              Cancel
            </button>
          </div>
        )}
        <ConflictDialog conflict={conflict} />
      </>
    );
  };

  #placeOf({ target }: DragEvent): DropPlace | undefined {
    const whole = document.querySelector(".panes");
    if (!(target instanceof Element) || !whole) return undefined;
    return dropPlace(this.#app, target, whole);
  }

  #moved(event: DragEvent): void {
    const { dataTransfer, target } = event;
    const files = dataTransfer?.types.includes("Files") ?? false;
    if (!dataTransfer || (!files && target instanceof Element && takesText(target))) return;
    event.preventDefault();
    event.stopPropagation();
    const place = this.#placeOf(event);
    const possible = !this.#app.readOnly.peek() && place && (files || place.pane?.takeText);
    dataTransfer.dropEffect = possible ? "copy" : "none";
    if (!files || !possible) this.#over.value = undefined;
    else if (this.#over.peek()?.element !== place.element) void this.#show(place);
  }

  async #show({ element, directory }: DropPlace): Promise<void> {
    const shown = { element, box: element.getBoundingClientRect(), directory: undefined };
    this.#over.value = shown;
    // If the directory can't be determined, the upload itself reports the error.
    const found = await directory().catch(() => undefined);
    if (this.#over.peek() === shown && found !== undefined) this.#over.value = { ...shown, directory: found };
  }

  #dropped(event: DragEvent): void {
    this.#over.value = undefined;
    const { dataTransfer, target } = event;
    if (!dataTransfer) return;
    const files = dataTransfer.types.includes("Files");
    if (!files && target instanceof Element && takesText(target)) return;
    event.preventDefault();
    event.stopPropagation();
    const place = this.#placeOf(event);
    if (!place) return;
    if (this.#app.readOnly.peek()) return;
    if (files) void this.#take(place, droppedFiles(dataTransfer));
    else place.pane?.takeText?.(dataTransfer.getData("text/plain"));
  }

  async #take(place: DropPlace, files: Promise<UploadFile[]>): Promise<void> {
    try {
      const directory = await place.directory();
      await this.upload(directory, await files);
    } catch (error) {
      this.#app.toast((error as Error).message || "The files could not be read.");
    }
  }
}

let ofPage: UploadHost | undefined;

/** Returns this page's uploads. Their listeners exist until the page is closed. */
export function uploadHost(app: AppContext): UploadHost {
  ofPage ??= new UploadHost(app);
  return ofPage;
}

function named(directory: string): string {
  return directory.startsWith("/") ? directory : `~/${directory}`;
}

function placed({ left, top, width, height }: DOMRect): string {
  return `left: ${left}px; top: ${top}px; width: ${width}px; height: ${height}px`;
}
