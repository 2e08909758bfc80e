// A pane with the preview of a port: a program's page at the width of a phone, a tablet or the pane.

import { errorText } from "../../client/error-text";
import { sandboxHandle } from "../../client/sandbox";
import "../style/views.css";
import "../style/ports.css";
import { signal } from "@preact/signals";
import { Copy, ExternalLink, Maximize, QrCode, RotateCw, Smartphone, Tablet } from "lucide";
import { render } from "preact";
import type { Disposable } from "../../base/disposables";
import { Icon } from "../../frame/icon";
import type { AppContext, Pane, PaneState, PaneStatus } from "../../frame/pane";
import { HawseError } from "../../wire/errors";
import { attempt } from "../attempt";
import { PreviewAddresses, pathOf } from "./address";

/** Widths in CSS pixels, keyed by name; 0 means the width of the pane. */
const WIDTHS = [
  { name: "phone", label: "Width of a phone (390)", width: 390, icon: Smartphone },
  { name: "tablet", label: "Width of a tablet (768)", width: 768, icon: Tablet },
  { name: "full", label: "Width of the pane", width: 0, icon: Maximize },
] as const;

/**
 * A preview's permissions. Its origin is different or opaque, so it can't access the gateway's page. It must not
 * replace the page that contains it.
 */
const SANDBOX =
  "allow-scripts allow-same-origin allow-forms allow-modals allow-popups allow-popups-to-escape-sandbox allow-downloads";

export class PreviewPane implements Pane {
  readonly kind = "preview";
  readonly port: number;
  readonly title;
  readonly status = signal<PaneStatus>("idle");
  readonly #app: AppContext;
  readonly #path = signal("/");
  readonly #width = signal("full");
  /** The preview's address without the path; empty if unknown. */
  readonly #base = signal("");
  readonly #problem = signal("");
  /** Counts the reloads. Each reload creates a new frame, because the page in the frame has a different origin. */
  readonly #loads = signal(0);
  #field: HTMLInputElement | undefined;

  constructor(app: AppContext, state: PaneState) {
    this.#app = app;
    this.port = Number(state.port);
    this.title = signal(`Port ${this.port}`);
    this.#path.value = pathOf(state.path ?? "");
    this.#width.value = WIDTHS.find(({ name }) => name === state.width)?.name ?? "full";
  }

  mount(element: HTMLElement): Disposable {
    const root = document.createElement("div");
    root.className = "view preview";
    element.append(root);
    render(<this.View />, root);
    void this.#expose();
    return {
      dispose: () => {
        render(null, root);
        root.remove();
      },
    };
  }

  focus(): void {
    this.#field?.focus();
  }

  state(): PaneState {
    const [path, width] = [this.#path.peek(), this.#width.peek()];
    return {
      port: String(this.port),
      ...(path === "/" ? {} : { path }),
      ...(width === "full" ? {} : { width }),
    };
  }

  adopt({ port, path }: PaneState): boolean {
    if (Number(port) !== this.port) return false;
    if (path !== undefined) this.#go(path);
    return true;
  }

  dispose(): void {
    this.#base.value = "";
  }

  readonly View = () => {
    const base = this.#base.value;
    const address = base && new URL(this.#path.value.slice(1), base).href;
    const width = WIDTHS.find(({ name }) => name === this.#width.value)?.width || undefined;
    return (
      <>
        <div class="bar">
          <button
            type="button"
            class="tool"
            title="Reload"
            aria-label="Reload"
            onClick={() => this.#reload()}
          >
            <Icon icon={RotateCw} size={16} />
          </button>
          <form
            class="address"
            onSubmit={event => {
              event.preventDefault();
              this.#go(this.#field?.value ?? "");
            }}
          >
            <span aria-hidden="true">localhost:{this.port}</span>
            <input
              ref={field => {
                this.#field = field ?? undefined;
              }}
              value={this.#path.value}
              aria-label={`Path on port ${this.port}`}
              autocomplete="off"
              autocapitalize="none"
              spellcheck={false}
            />
          </form>
          <fieldset class="widths" aria-label="Width">
            {WIDTHS.map(({ name, label, icon }) => (
              <button
                key={name}
                type="button"
                class="tool"
                title={label}
                aria-label={label}
                aria-pressed={this.#width.value === name}
                onClick={() => {
                  this.#width.value = name;
                  this.#app.changed(this);
                }}
              >
                <Icon icon={icon} size={16} />
              </button>
            ))}
          </fieldset>
          <button
            type="button"
            class="tool"
            title="Copy the address"
            aria-label="Copy the address"
            disabled={!address}
            onClick={() => void this.#app.copy(address)}
          >
            <Icon icon={Copy} size={16} />
          </button>
          <button
            type="button"
            class="tool"
            title="QR code"
            aria-label="QR code"
            disabled={!address}
            onClick={() =>
              void attempt(this.#app, async () =>
                (await import("./qr-dialog")).showQr(`Preview of port ${this.port}`, address),
              )
            }
          >
            <Icon icon={QrCode} size={16} />
          </button>
          <a
            class="tool"
            href={address || "about:blank"}
            hidden={!address}
            target="_blank"
            rel="noopener noreferrer"
            title="Open in a new tab"
            aria-label="Open in a new tab"
          >
            <Icon icon={ExternalLink} size={16} />
          </a>
        </div>
        <div class="page">
          {this.#problem.value && (
            <p class="empty" role="alert">
              {this.#problem.value}
            </p>
          )}
          {address && (
            <iframe
              key={`${this.#loads.value} ${address}`}
              src={address}
              title={`Preview of port ${this.port}`}
              sandbox={SANDBOX}
              referrerpolicy="no-referrer"
              allow="clipboard-write; fullscreen"
              style={width ? { width: `${width}px` } : {}}
            />
          )}
        </div>
      </>
    );
  };

  #go(text: string): void {
    const path = pathOf(text);
    if (path === this.#path.value) this.#reload();
    else {
      this.#path.value = path;
      this.#app.changed(this);
    }
  }

  #reload(): void {
    this.#loads.value++;
    if (!this.#base.value) void this.#expose();
  }

  async #expose(): Promise<void> {
    const { client, sandbox } = this.#app;
    try {
      const exposed = await sandboxHandle(client, sandbox).port.expose({ port: this.port });
      this.#base.value = await new PreviewAddresses(client, sandbox, document.baseURI).of(exposed);
      this.#problem.value = "";
    } catch (error) {
      if (!(error instanceof HawseError)) throw error;
      this.#problem.value =
        error.code === "forbidden"
          ? "You are not allowed to open previews of this sandbox."
          : errorText(error);
      this.status.value = "failed";
    }
  }
}
