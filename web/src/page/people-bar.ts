// The viewers of this terminal in the header: a coloured circle for each, the own one last, and the holder of the
// writer lease.

import { effect, type ReadonlySignal } from "@preact/signals";
import { DisposableList, Emitter } from "../base/disposables";
import type { People } from "../terminal/people";
import type { Participant } from "../wire/methods";
import { byId, setText, within } from "./dom";

/** Maximum number of circles of other viewers; the rest are shown as a number. */
const SHOWN = 4;

export type LeaseAction = "take" | "release";

export class PeopleBar {
  readonly #disposables = new DisposableList();
  readonly #onName = new Emitter<string>();
  readonly #onLease = new Emitter<LeaseAction>();
  readonly #source: ReadonlySignal<{ people: People } | undefined>;
  readonly #me = byId<HTMLButtonElement>("me");
  readonly #card = byId("name-card");
  readonly #name = byId<HTMLInputElement>("name");

  /** `source`: the viewers of the active terminal, with a new value after each change. */
  constructor(source: ReadonlySignal<{ people: People } | undefined>) {
    this.#source = source;
    this.#disposables.listen(this.#me, "click", () => this.#setCardOpen(!this.#cardOpen));
    this.#disposables.listen(this.#card, "submit", event => {
      event.preventDefault();
      this.#setCardOpen(false);
      this.#onName.emit(this.#name.value.trim());
    });
    this.#disposables.listen<KeyboardEvent>(this.#card, "keydown", event => {
      if (event.key !== "Escape") return;
      this.#setCardOpen(false);
      this.#me.focus();
    });
    this.#disposables.listen(document, "pointerdown", event => {
      const inside =
        event.target instanceof Node &&
        (this.#card.contains(event.target) || this.#me.contains(event.target));
      if (!inside) this.#setCardOpen(false);
    });
    this.#disposables.listen(byId("take-over"), "click", () => this.#onLease.emit("take"));
    this.#disposables.defer(effect(() => this.#show(source.value?.people)));
  }

  /** The user has entered this name. */
  readonly onName = this.#onName.on;
  readonly onLease = this.#onLease.on;

  #show(people: People | undefined): void {
    byId("people").hidden = !people?.me;
    byId("held").hidden = true;
    byId("read-only").hidden = !people?.readOnly;
    if (!people) return;
    const { me, others, holder, readOnly, lease } = people;
    const circles = others.slice(0, SHOWN).map(viewer => circle(viewer, viewer.id === lease.holder));
    byId("others").replaceChildren(...circles, ...more(others.slice(SHOWN)));
    byId("others").setAttribute("aria-label", others.length ? "Other viewers" : "No other viewers");
    byId("roster").replaceChildren(
      ...[...others, ...(me ? [me] : [])].map(viewer => row(viewer, viewer === me)),
    );
    if (me)
      paint(this.#me, me, `${initials(me.name)}: you are ${me.name}. Show viewers and change your name`);
    this.#me.classList.toggle("holds", this.#holding);
    const other = holder && holder.id !== me?.id ? holder : undefined;
    byId("held").hidden = !other;
    byId("take-over").hidden = readOnly;
    setText(within(byId("held"), "[data-text]"), other ? `Only ${other.name} may type` : "");
  }

  dispose(): void {
    this.#disposables.dispose();
  }

  get #holding(): boolean {
    const { me, lease } = this.#source.peek()?.people ?? {};
    if (!me || !lease) return false;
    return me !== undefined && lease.holder === me.id;
  }

  get #cardOpen(): boolean {
    return this.#me.getAttribute("aria-expanded") === "true";
  }

  #setCardOpen(open: boolean): void {
    if (this.#cardOpen === open) return;
    this.#card.hidden = !open;
    this.#me.setAttribute("aria-expanded", String(open));
    if (!open) return;
    this.#name.value = this.#source.peek()?.people.me?.name ?? "";
    this.#name.select();
  }
}

/** Returns at most two letters: of the first and the last word. */
export function initials(name: string): string {
  const words = name.split(/[\s._-]+/u).filter(Boolean);
  const letters = [words[0], words.length > 1 ? words.at(-1) : undefined];
  return letters
    .map(word => Array.from(word ?? "")[0] ?? "")
    .join("")
    .toUpperCase();
}

export function describe({ name, kind, read_only, typing, guest }: Participant): string {
  const what = [
    guest ? "guest" : "",
    kind === "agent" ? "agent" : "",
    read_only ? "view only" : "",
    typing ? "typing" : "",
  ];
  const words = what.filter(Boolean).join(", ");
  return words ? `${name} (${words})` : name;
}

function circle(viewer: Participant, holds: boolean): HTMLElement {
  const element = document.createElement("li");
  element.className = "circle";
  element.classList.toggle("holds", holds);
  paint(element, viewer, describe(viewer) + (holds ? ", only writer" : ""));
  return element;
}

function paint(element: HTMLElement, viewer: Participant, title: string): void {
  element.style.setProperty("--color", viewer.color);
  element.classList.toggle("typing", viewer.typing);
  element.classList.toggle("view-only", viewer.read_only);
  element.classList.toggle("agent", viewer.kind === "agent");
  element.title = title;
  element.setAttribute("aria-label", title);
  setText(element, initials(viewer.name));
}

function more(viewers: Participant[]): HTMLElement[] {
  if (viewers.length === 0) return [];
  const element = document.createElement("li");
  element.className = "circle more";
  element.title = viewers.map(describe).join("\n");
  element.setAttribute("aria-label", `${viewers.length} more`);
  setText(element, `+${viewers.length}`);
  return [element];
}

/** An item of the list of all viewers. */
function row(viewer: Participant, isMe: boolean): HTMLElement {
  const element = document.createElement("li");
  const dot = document.createElement("i");
  dot.style.setProperty("--color", viewer.color);
  dot.classList.toggle("agent", viewer.kind === "agent");
  const name = document.createElement("span");
  setText(name, isMe ? `${describe(viewer)} · you` : describe(viewer));
  element.append(dot, name);
  return element;
}
