// A terminal's viewers in the header. Each viewer has a coloured circle that can be clicked to follow the viewer; the
// user's own circle opens the list of all viewers.

import "../style/people.css";
import { effect, type ReadonlySignal } from "@preact/signals";
import { h, render } from "preact";
import { type Disposable, DisposableList } from "../../base/disposables";
import { byId, setText } from "../../base/dom";
import { visible } from "../../base/visible";
import type { Participant } from "../../wire/methods";
import type { Faces } from "./sandbox-viewers";

/** Maximum number of circles for other viewers; any others are shown as a number. */
const SHOWN = 4;

export interface PeopleBarOptions {
  /** The viewers; gets a new value after each change. */
  source: ReadonlySignal<{ people: Faces } | undefined>;
  /** Public id of the viewer that the page is following. */
  followed: ReadonlySignal<string | undefined>;
  /** Called when the user wants to start or stop following this viewer. */
  follow: (viewer: Participant) => void;
  /** Called when the user hands over the keyboard. */
  give: (viewer: Participant) => void;
  rename: (name: string) => void;
}

export class PeopleBar implements Disposable {
  readonly #disposables = new DisposableList();
  readonly #options: PeopleBarOptions;
  readonly #me = byId<HTMLButtonElement>("me");
  readonly #card = byId("name-card");
  readonly #name = byId<HTMLInputElement>("name");

  constructor(options: PeopleBarOptions) {
    this.#options = options;
    this.#disposables.listen(this.#me, "click", () => this.#setCardOpen(!this.#cardOpen));
    this.#disposables.listen(this.#card, "submit", event => {
      event.preventDefault();
      this.#setCardOpen(false);
      options.rename(this.#name.value.trim());
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
    this.#disposables.defer(effect(() => this.#show(options.source.value?.people, options.followed.value)));
  }

  dispose(): void {
    this.#disposables.dispose();
  }

  #show(people: Faces | undefined, followed: string | undefined): void {
    byId("people").hidden = !people?.me && !people?.others.length;
    this.#me.hidden = !people?.me;
    byId("read-only").hidden = !people?.readOnly;
    if (!people) return;
    const { me, others, lease } = people;
    const { follow, give } = this.#options;
    const holding = me !== undefined && lease.holder === me.id;
    byId("others").setAttribute("aria-label", others.length ? "Other viewers" : "No other viewers");
    render(h(Circles, { others, holder: lease.holder, followed, follow }), byId("others"));
    const closing =
      <T,>(action: (value: T) => void) =>
      (value: T) => {
        this.#setCardOpen(false);
        action(value);
      };
    render(
      h(Roster, { others, me, holding, followed, follow: closing(follow), give: closing(give) }),
      byId("roster"),
    );
    if (me)
      paint(
        this.#me,
        me,
        `${initials(me.name)}: you are ${visible(me.name)}. Show viewers and change your name`,
      );
    this.#me.classList.toggle("holds", holding);
  }

  get #cardOpen(): boolean {
    return this.#me.getAttribute("aria-expanded") === "true";
  }

  #setCardOpen(open: boolean): void {
    if (this.#cardOpen === open) return;
    this.#card.hidden = !open;
    this.#me.setAttribute("aria-expanded", String(open));
    if (!open) return;
    this.#name.value = this.#options.source.peek()?.people.me?.name ?? "";
    this.#name.select();
  }
}

/** Returns up to two letters: the initials of the first and last words. */
export function initials(name: string): string {
  const words = visible(name)
    .split(/[\s._-]+/u)
    .filter(Boolean);
  const letters = [words[0], words.length > 1 ? words.at(-1) : undefined];
  return letters
    .map(word => Array.from(word ?? "")[0] ?? "")
    .join("")
    .toUpperCase();
}

export function describe(viewer: Participant): string {
  const words = stateOf(viewer);
  return words ? `${visible(viewer.name)} (${words})` : visible(viewer.name);
}

function stateOf({ kind, read_only, typing, guest, asks }: Participant): string {
  const words = [
    guest ? "guest" : "",
    kind === "agent" ? "agent" : "",
    read_only ? "view only" : "",
    typing ? "typing" : "",
    asks ? "asks for the keyboard" : "",
  ];
  return words.filter(Boolean).join(", ");
}

function classOf(viewer: Participant, holds: boolean): string {
  const classes = [
    "circle",
    viewer.typing ? "typing" : "",
    viewer.read_only ? "view-only" : "",
    viewer.kind === "agent" ? "agent" : "",
    viewer.asks ? "asks" : "",
    holds ? "holds" : "",
  ];
  return classes.filter(Boolean).join(" ");
}

interface CirclesProps {
  others: Participant[];
  holder: string | null | undefined;
  followed: string | undefined;
  follow: (viewer: Participant) => void;
}

function Circles({ others, holder, followed, follow }: CirclesProps) {
  const more = others.slice(SHOWN);
  return (
    <>
      {others.slice(0, SHOWN).map(viewer => {
        const holds = viewer.id === holder;
        const about = describe(viewer) + (holds ? ", only writer" : "");
        const following = viewer.id === followed;
        return (
          <li key={viewer.id}>
            <button
              type="button"
              class={classOf(viewer, holds)}
              style={{ "--color": viewer.color }}
              title={`${about}. ${following ? "Stop following" : "Follow"}`}
              aria-label={`${initials(viewer.name)}: Follow ${about}`}
              aria-pressed={following}
              onClick={() => follow(viewer)}
            >
              {initials(viewer.name)}
            </button>
          </li>
        );
      })}
      {more.length > 0 && (
        <li class="circle more" title={more.map(describe).join("\n")} aria-label={`${more.length} more`}>
          +{more.length}
        </li>
      )}
    </>
  );
}

interface RosterProps {
  others: Participant[];
  me: Participant | undefined;
  /** Whether only this user can type. */
  holding: boolean;
  followed: string | undefined;
  follow: (viewer: Participant) => void;
  give: (viewer: Participant) => void;
}

/** The list of all viewers. */
function Roster({ others, me, holding, followed, follow, give }: RosterProps) {
  return (
    <>
      {others.map(viewer => (
        <li key={viewer.id}>
          <i class={viewer.kind === "agent" ? "agent" : ""} style={{ "--color": viewer.color }} />
          <Name viewer={viewer} about={stateOf(viewer)} />
          {holding && !viewer.read_only && (
            <button
              type="button"
              class="plain"
              aria-label={`Give keyboard to ${visible(viewer.name)}`}
              title={`Only ${visible(viewer.name)} can type then`}
              onClick={() => give(viewer)}
            >
              Give
            </button>
          )}
          <button
            type="button"
            class="plain"
            aria-label={`${viewer.id === followed ? "Following" : "Follow"} ${visible(viewer.name)}`}
            aria-pressed={viewer.id === followed}
            onClick={() => follow(viewer)}
          >
            {viewer.id === followed ? "Following" : "Follow"}
          </button>
        </li>
      ))}
      {me && (
        <li key={me.id}>
          <i class={me.kind === "agent" ? "agent" : ""} style={{ "--color": me.color }} />
          <Name viewer={me} about={["you", stateOf(me)].filter(Boolean).join(", ")} />
        </li>
      )}
    </>
  );
}

function Name({ viewer, about }: { viewer: Participant; about: string }) {
  return (
    <span title={describe(viewer)}>
      <bdi>{visible(viewer.name)}</bdi>
      <small>{about}</small>
    </span>
  );
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
