// A pane that plays a recording.

import { visible } from "../../base/visible";
import "../style/views.css";
import "../style/recordings.css";
import { computed, signal } from "@preact/signals";
import { Flag, Pause, Play } from "lucide";
import { render } from "preact";
import { type Disposable, DisposableList } from "../../base/disposables";
import { formatTime } from "../../base/format";
import { Icon } from "../../frame/icon";
import type { AppContext, Pane, PaneState, PaneStatus } from "../../frame/pane";
import { Player, type Stage } from "../../player/player";
import { RemoteRecording } from "../../player/source";
import { HawseError } from "../../wire/errors";
import { titleOf } from "./describe";

/** Number of seconds that an arrow key seeks by. */
const STEP = 5;
const SPEEDS = [0.5, 1, 1.5, 2, 4, 8, 16];
/** Choices for the maximum length of a pause, in seconds. */
const PAUSES: readonly [string, number][] = [
  ["All pauses", Number.POSITIVE_INFINITY],
  ["Pauses ≤ 2 s", 2],
  ["Pauses ≤ ½ s", 0.5],
];
const ERRORS: Record<string, string> = {
  not_found: "This recording does not exist. It may have been deleted.",
  forbidden: "You are not allowed to view this recording.",
};

export class RecordingPane implements Pane {
  readonly kind = "recording";
  readonly id: string;
  readonly #name = signal("Recording");
  readonly title = computed(() => this.#name.value);
  readonly status = signal<PaneStatus>("idle");
  readonly #app: AppContext;
  readonly #disposables = new DisposableList();
  readonly #player = signal<Player | undefined>(undefined);
  /** Counts changes to the player, so that the pane is drawn again; the player itself isn't a signal. */
  readonly #changes = signal(0);
  readonly #problem = signal("");
  #button: HTMLButtonElement | undefined;
  #disposed = false;

  constructor(app: AppContext, state: PaneState) {
    this.#app = app;
    this.id = state.id ?? "";
  }

  mount(element: HTMLElement): Disposable {
    const root = document.createElement("div");
    root.className = "view player";
    const stage = document.createElement("div");
    stage.className = "stage";
    const host = document.createElement("div");
    host.className = "host";
    const transport = document.createElement("div");
    transport.className = "transport";
    transport.role = "toolbar";
    transport.ariaLabel = "Playback";
    stage.append(host);
    root.append(stage, transport);
    element.append(root);
    this.#disposables.listen<KeyboardEvent>(root, "keydown", event => this.#press(event));
    this.#disposables.defer(() => {
      render(null, transport);
      root.remove();
    });
    render(<this.Transport />, transport);
    void this.#load(stage, host);
    return { dispose: () => this.dispose() };
  }

  focus(): void {
    this.#button?.focus();
  }

  state(): PaneState {
    return { id: this.id };
  }

  dispose(): void {
    this.#disposed = true;
    this.#disposables.dispose();
  }

  readonly Transport = () => {
    this.#changes.value;
    const player = this.#player.value;
    if (this.#problem.value)
      return (
        <p class="problem" role="alert">
          {visible(this.#problem.value)}
        </p>
      );
    const { time = 0, duration = 0, markers = [], speed = 1, idleLimit = 2 } = player ?? {};
    const playing = player?.phase === "playing";
    const part = duration ? (time / duration) * 100 : 0;
    return (
      <>
        <button
          type="button"
          class="tool"
          title="Play or pause (space)"
          aria-label={playing ? "Pause" : "Play"}
          ref={button => {
            this.#button = button ?? undefined;
          }}
          onClick={() => player?.toggle()}
        >
          <Icon icon={playing ? Pause : Play} size={16} />
        </button>
        <span class="time">{formatTime(time)}</span>
        <span class="seek">
          <input
            type="range"
            min="0"
            max={duration}
            step="0.01"
            value={time}
            aria-label="Position"
            aria-valuetext={`${formatTime(time)} of ${formatTime(duration)}`}
            style={{ "--done": `${part}%` }}
            onInput={({ currentTarget }) => player?.seek(Number(currentTarget.value))}
          />
          {markers.map(({ t, label }) => (
            <button
              key={t}
              type="button"
              class="tick"
              title={visible(label) || formatTime(t)}
              aria-label={`Marker ${visible(label)} at ${formatTime(t)}`}
              style={{ left: `${duration ? (t / duration) * 100 : 0}%` }}
              onClick={() => player?.seek(t)}
            >
              <Icon icon={Flag} size={12} />
            </button>
          ))}
        </span>
        <span class="time">{formatTime(duration)}</span>
        <select
          aria-label="Speed"
          title="Speed"
          value={speed}
          onChange={({ currentTarget }) => player?.setSpeed(Number(currentTarget.value))}
        >
          {SPEEDS.map(each => (
            <option key={each} value={each}>
              {each}×
            </option>
          ))}
        </select>
        <select
          aria-label="Pauses"
          title="Maximum pause; longer pauses are shortened"
          value={String(idleLimit)}
          onChange={({ currentTarget }) => {
            if (player) player.idleLimit = Number(currentTarget.value);
          }}
        >
          {PAUSES.map(([text, limit]) => (
            <option key={text} value={String(limit)}>
              {text}
            </option>
          ))}
        </select>
      </>
    );
  };

  async #load(stage: HTMLElement, host: HTMLElement): Promise<void> {
    const source = new RemoteRecording(this.#app.client, this.#app.sandbox, this.id);
    try {
      const { desktop } = await source.info();
      const output = desktop ? await this.#desktop(host) : await this.#terminal(stage, host);
      if (this.#disposed) return output.dispose();
      const player = new Player(source, output);
      player.idleLimit = 2;
      this.#disposables.add(
        output,
        player,
        player.onChange(() => {
          this.#changes.value++;
          this.status.value = player.phase === "playing" ? "running" : "idle";
          if (player.error) this.#fail(player.error);
        }),
      );
      await player.load();
      if (player.info) this.#name.value = titleOf(player.info);
      this.#player.value = player;
    } catch (error) {
      if (!(error instanceof HawseError)) throw error;
      this.#fail(error);
    }
  }

  async #terminal(stage: HTMLElement, host: HTMLElement): Promise<Stage & Disposable> {
    const screen = await this.#app.screen(stage, host);
    const { terminal } = screen;
    terminal.textarea?.setAttribute("aria-label", "Screen of the recording");
    return {
      reset: () => terminal.reset(),
      resize: (cols, rows) => screen.resize(cols, rows),
      write: (data, done) => terminal.write(data, done),
      dispose: () => screen.dispose(),
    };
  }

  async #desktop(host: HTMLElement): Promise<Stage & Disposable> {
    const { DesktopStage } = await import("../../player/desktop-stage");
    return new DesktopStage(host);
  }

  #fail({ code, message }: HawseError): void {
    if (this.#disposed) return;
    this.#problem.value = ERRORS[code] ?? message;
    this.status.value = "failed";
  }

  #press(event: KeyboardEvent): void {
    const player = this.#player.peek();
    const { target } = event;
    if (!player || event.ctrlKey || event.metaKey || event.altKey || target instanceof HTMLSelectElement)
      return;
    // The space bar presses the button that has the focus.
    if (event.key === " " && target instanceof HTMLButtonElement) return;
    const actions: Record<string, () => void> = {
      " ": () => player.toggle(),
      ArrowLeft: () => player.seek(player.time - STEP),
      ArrowRight: () => player.seek(player.time + STEP),
      Home: () => player.seek(0),
      End: () => player.seek(player.duration),
    };
    const action = actions[event.key];
    if (!action) return;
    event.preventDefault();
    action();
  }
}
