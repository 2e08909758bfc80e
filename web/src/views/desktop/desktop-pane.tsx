// A pane with one of the sandbox's desktops, drawn by noVNC. It reconnects if the connection is lost.

import { errorText } from "../../client/error-text";
import { sandboxHandle } from "../../client/sandbox";
import "../style/views.css";
import "../style/desktop.css";
import RFB from "@novnc/novnc";
import { signal } from "@preact/signals";
import { CircleDot, CircleStop, ClipboardPaste, Hand, Maximize, Power } from "lucide";
import { render } from "preact";
import { type Disposable, DisposableList } from "../../base/disposables";
import { randomId } from "../../base/random-id";
import { wasInterrupted } from "../../client/streams";
import { Icon } from "../../frame/icon";
import type { AppContext, Pane, PaneState, PaneStatus } from "../../frame/pane";
import { HawseError } from "../../wire/errors";
import type { DesktopOpened, WriterLease } from "../../wire/methods";
import { follow } from "../follow";
import { RfbChannel } from "./rfb-channel";

/** Limits for the size of a desktop, in pixels. */
const SMALLEST = 64;
const LARGEST = { width: 3840, height: 2160 };

/** The content shown instead of the desktop: nothing, progress, a stopped desktop, or a problem. */
type Phase = "connecting" | "shown" | "stopped" | "starting" | "failed";

export class DesktopPane implements Pane {
  readonly kind = "desktop";
  readonly id: string;
  readonly title;
  readonly status = signal<PaneStatus>("idle");
  readonly #app: AppContext;
  readonly #key = randomId();
  readonly #phase = signal<Phase>("connecting");
  readonly #problem = signal("");
  readonly #lease = signal<WriterLease | undefined>(undefined);
  readonly #readOnly = signal(false);
  /** Ids of this desktop's recordings that are in progress. */
  readonly #recordings = signal<readonly string[]>([]);
  readonly #disposables = new DisposableList();
  #me = "";
  #screen: HTMLElement | undefined;
  #rfb: RFB | undefined;
  #channel: RfbChannel | undefined;
  #disposed = false;

  constructor(app: AppContext, state: PaneState) {
    this.#app = app;
    this.id = state.id ?? "main";
    this.title = signal(this.id === "main" ? "Desktop" : `Desktop ${this.id}`);
  }

  mount(element: HTMLElement): Disposable {
    const root = document.createElement("div");
    root.className = "view desktop";
    element.append(root);
    render(<this.View />, root);
    this.#attach();
    this.#disposables.add(
      follow({
        open: () => sandboxHandle(this.#app.client, this.#app.sandbox).recording.watch({}),
        item: item => {
          if (item.event !== "recordings") return;
          const own = item.value.recordings.filter(({ desktop }) => desktop === this.id);
          this.#recordings.value = own.map(({ id }) => id);
        },
        failed: () => {}, // without the watch, the buttons keep their last state
      }),
    );
    return {
      dispose: () => {
        this.dispose();
        render(null, root);
        root.remove();
      },
    };
  }

  focus(): void {
    this.#rfb?.focus();
  }

  state(): PaneState {
    return this.id === "main" ? {} : { id: this.id };
  }

  dispose(): void {
    this.#disposed = true;
    this.#disposables.dispose();
    this.#rfb?.disconnect();
    this.#channel?.close();
  }

  readonly View = () => {
    const phase = this.#phase.value;
    const lease = this.#lease.value;
    const mine = lease?.mode === "exclusive" && lease.holder === this.#me;
    const others = lease?.mode === "exclusive" && !mine;
    const shown = phase === "shown";
    const recorded = this.#recordings.value.length > 0;
    const notes = [
      recorded && "Being recorded",
      this.#readOnly.value ? "View only" : others && "Someone else has control",
    ];
    return (
      <>
        <div class="bar">
          <span class="note" role="status">
            {notes.filter(Boolean).join(" · ")}
          </span>
          {!this.#readOnly.value && (
            <>
              <this.Tool
                label={mine ? "Let everyone type" : "Take control"}
                icon={Hand}
                pressed={mine}
                disabled={!shown}
                run={() => this.#take(!mine)}
              />
              <this.Tool
                label={recorded ? "Stop recording" : "Record the desktop"}
                icon={recorded ? CircleStop : CircleDot}
                disabled={!shown}
                run={() => this.#record(recorded)}
              />
              <this.Tool label="Paste" icon={ClipboardPaste} disabled={!shown} run={() => this.#paste()} />
              <this.Tool label="Fit the pane" icon={Maximize} disabled={!shown} run={() => this.#fit()} />
              <this.Tool label="Stop the desktop" icon={Power} disabled={!shown} run={() => this.#stop()} />
            </>
          )}
        </div>
        <div
          class="screen"
          hidden={!shown}
          ref={screen => {
            this.#screen = screen ?? undefined;
          }}
        />
        {!shown && (
          <div class="empty">
            {phase === "connecting" && <p>Connecting …</p>}
            {phase === "starting" && <p>Starting the desktop …</p>}
            {phase === "stopped" && <p>There is no desktop.</p>}
            {phase === "failed" && <p class="problem">{this.#problem.value}</p>}
            {(phase === "stopped" || phase === "failed") && !this.#readOnly.value && (
              <button type="button" class="start" onClick={() => void this.#start()}>
                Start a desktop
              </button>
            )}
          </div>
        )}
      </>
    );
  };

  readonly Tool = (tool: {
    label: string;
    icon: typeof Power;
    pressed?: boolean;
    disabled: boolean;
    run: () => Promise<void>;
  }) => (
    <button
      type="button"
      class="tool"
      title={tool.label}
      aria-label={tool.label}
      aria-pressed={tool.pressed}
      disabled={tool.disabled}
      onClick={() => void this.#attempt(tool.run)}
    >
      <Icon icon={tool.icon} size={16} />
    </button>
  );

  get #desktop() {
    return sandboxHandle(this.#app.client, this.#app.sandbox).desktop;
  }

  async #attempt(run: () => Promise<void>): Promise<void> {
    try {
      await run();
    } catch (problem) {
      this.#app.toast(problem instanceof HawseError ? errorText(problem) : (problem as Error).message);
    }
    this.focus();
  }

  #attach(): void {
    if (this.#disposed || !this.#screen) return;
    const stream = this.#desktop.attach({ id: this.id, viewer: { key: this.#key } });
    const channel = new RfbChannel(stream, {
      opened: value => this.#opened(value),
      lease: value => this.#changed(value),
      ended: error => this.#ended(error),
    });
    this.#channel = channel;
    const rfb = new RFB(this.#screen, channel, { shared: true });
    rfb.scaleViewport = true;
    rfb.background = "transparent";
    rfb.addEventListener("clipboard", event => {
      const { text } = (event as CustomEvent<{ text: string }>).detail;
      // Writing fails if the user has denied access to the clipboard.
      if (document.hasFocus()) navigator.clipboard?.writeText(text).catch(() => {});
    });
    this.#rfb = rfb;
    void channel.run();
  }

  #opened({ viewer, read_only, lease }: DesktopOpened): void {
    this.#me = viewer;
    this.#readOnly.value = read_only;
    this.#phase.value = "shown";
    this.status.value = "running";
    this.#changed(lease);
  }

  #changed(lease: WriterLease): void {
    this.#lease.value = lease;
    if (this.#rfb)
      this.#rfb.viewOnly = this.#readOnly.value || (lease.mode === "exclusive" && lease.holder !== this.#me);
  }

  #ended(error: HawseError | undefined): void {
    this.#rfb = undefined;
    this.#channel = undefined;
    this.#screen?.replaceChildren();
    this.status.value = "idle";
    if (this.#disposed) return;
    if (wasInterrupted(error)) {
      this.#phase.value = "connecting";
      this.#attach();
    } else if (!error || error.code === "not_found") this.#phase.value = "stopped";
    else this.#fail(error);
  }

  #fail(error: HawseError): void {
    this.#phase.value = "failed";
    this.#problem.value = errorText(error);
    this.status.value = "failed";
  }

  async #start(): Promise<void> {
    this.#phase.value = "starting";
    try {
      await this.#desktop.start({ id: this.id });
    } catch (problem) {
      if (!(problem instanceof HawseError)) throw problem;
      this.#fail(problem);
      return;
    }
    this.#attach();
  }

  async #stop(): Promise<void> {
    await this.#desktop.stop({ id: this.id });
  }

  async #take(take: boolean): Promise<void> {
    await this.#desktop.lease({ id: this.id, action: take ? "take" : "release", viewer: this.#key });
  }

  /** Starts a recording, or stops the ones in progress. */
  async #record(recorded: boolean): Promise<void> {
    const { recording } = sandboxHandle(this.#app.client, this.#app.sandbox);
    if (recorded) for (const id of this.#recordings.value) await recording.stop({ id });
    else await recording.start({ desktop: this.id });
    this.#app.toast(
      recorded
        ? "The recording is in the list of recordings."
        : "Recording started. All viewers can see that.",
    );
  }

  async #paste(): Promise<void> {
    this.#rfb?.clipboardPasteFrom(await navigator.clipboard.readText());
  }

  async #fit(): Promise<void> {
    const box = this.#screen?.getBoundingClientRect();
    if (!box) return;
    const bounded = (value: number, most: number) => Math.min(most, Math.max(SMALLEST, Math.floor(value)));
    const size = { width: bounded(box.width, LARGEST.width), height: bounded(box.height, LARGEST.height) };
    await this.#desktop.resize({ id: this.id, viewer: this.#key, ...size });
  }
}
