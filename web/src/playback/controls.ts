// The player's control bar: shows the player's state and passes the user's input to it.

import { DisposableList } from "../base/disposables";
import { byId, setText } from "../base/dom";
import { formatTime } from "../base/format";
import { visible } from "../base/visible";
import type { Player } from "../player/player";

/** Number of seconds that an arrow key seeks by. */
const STEP = 5;

export class Controls {
  readonly #player: Player;
  readonly #disposables = new DisposableList();
  readonly #seek = byId<HTMLInputElement>("seek");
  readonly #speed = byId<HTMLSelectElement>("speed");
  readonly #idle = byId<HTMLSelectElement>("idle");
  #markers = 0;

  constructor(player: Player) {
    this.#player = player;
    player.idleLimit = Number(this.#idle.value);
    const listen = this.#disposables.listen.bind(this.#disposables);
    listen(byId("play"), "click", () => player.toggle());
    listen(byId("big"), "click", () => player.play());
    listen(this.#seek, "input", () => player.seek(Number(this.#seek.value)));
    listen(this.#speed, "change", () => player.setSpeed(Number(this.#speed.value)));
    listen(this.#idle, "change", () => {
      player.idleLimit = Number(this.#idle.value);
    });
    listen<KeyboardEvent>(window, "keydown", event => this.#key(event));
    this.#disposables.add(player.onChange(() => this.#show()));
    this.#show();
  }

  dispose(): void {
    this.#disposables.dispose();
  }

  #show(): void {
    const { phase, time, duration, markers } = this.#player;
    const playing = phase === "playing";
    document.documentElement.dataset.state = phase;
    const bar = document.querySelector<HTMLElement>(".transport");
    if (bar) bar.dataset.phase = phase;
    byId("play").setAttribute("aria-label", playing ? "Pause" : "Play");
    byId("big").hidden = phase !== "paused" || time > 0;
    this.#seek.max = String(duration);
    this.#seek.value = String(time);
    this.#seek.style.setProperty("--done", `${duration ? (time / duration) * 100 : 0}%`);
    this.#seek.setAttribute("aria-valuetext", `${formatTime(time)} of ${formatTime(duration)}`);
    setText(byId("time"), formatTime(time));
    setText(byId("duration"), formatTime(duration));
    if (markers.length !== this.#markers) this.#showMarkers();
  }

  #showMarkers(): void {
    const { markers, duration } = this.#player;
    this.#markers = markers.length;
    byId("ticks").replaceChildren(
      ...markers.map(({ t, label }) => {
        const tick = document.createElement("button");
        tick.type = "button";
        tick.title = visible(label) || formatTime(t);
        tick.setAttribute("aria-label", `Marker ${visible(label)} at ${formatTime(t)}`);
        tick.style.left = `${duration ? (t / duration) * 100 : 0}%`;
        tick.addEventListener("click", () => this.#player.seek(t));
        return tick;
      }),
    );
  }

  #key(event: KeyboardEvent): void {
    if (event.ctrlKey || event.metaKey || event.altKey || event.target instanceof HTMLSelectElement) return;
    const player = this.#player;
    const actions: Record<string, () => void> = {
      " ": () => player.toggle(),
      ArrowLeft: () => player.seek(player.time - STEP),
      ArrowRight: () => player.seek(player.time + STEP),
      Home: () => player.seek(0),
      End: () => player.seek(player.duration),
      "<": () => this.#changeSpeed(-1),
      ">": () => this.#changeSpeed(1),
    };
    const action = actions[event.key];
    if (!action) return;
    event.preventDefault();
    action();
  }

  #changeSpeed(by: number): void {
    const index = this.#speed.selectedIndex + by;
    if (index < 0 || index >= this.#speed.options.length) return;
    this.#speed.selectedIndex = index;
    this.#player.setSpeed(Number(this.#speed.value));
  }
}
