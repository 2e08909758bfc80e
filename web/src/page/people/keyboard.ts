// The keyboard (the writer lease): shows when another viewer holds it, lets the user request it, and shows other
// viewers' requests to its holder.

import { effect } from "@preact/signals";
import { type Disposable, DisposableList } from "../../base/disposables";
import { byId, make, setText, within } from "../../base/dom";
import type { People } from "../../terminal/people";
import type { Participant } from "../../wire/methods";
import type { PaneActions } from "../actions/pane-actions";
import type { PageCore } from "../page-core";
import { TerminalPane } from "../terminal/terminal-pane";

/** How long the notice about a refused key is shown, in milliseconds. */
const REFUSAL_TIME = 8_000;

export interface Keyboard {
  /** The holder's public id; undefined if all viewers can type. */
  readonly holder: string | undefined;
  /** Whether this user has requested the keyboard. */
  readonly asks: boolean;
  /** Whether the request has expired without being answered. */
  readonly unanswered: boolean;
  /** Names of the other viewers who are requesting the keyboard, keyed by viewer id. */
  readonly asking: ReadonlyMap<string, string>;
}

/**
 * Returns a sentence that describes a change to the user; empty if there is nothing to report. `name` returns a
 * viewer's name.
 */
export function changeText(
  before: Keyboard,
  now: Keyboard,
  me: string | undefined,
  name: (id: string) => string,
): string {
  if (before.holder !== now.holder) {
    if (before.holder === me && now.holder) return `${name(now.holder)} has the keyboard now.`;
    if (!before.asks) return "";
    if (now.holder === me) return "You have the keyboard. Only you may type.";
    return now.holder ? `${name(now.holder)} has the keyboard now.` : "Everyone can type now.";
  }
  const refused = before.asks && !now.asks && now.holder !== undefined && now.holder !== me;
  if (!refused) return "";
  const holder = name(now.holder as string);
  return now.unanswered
    ? `${holder} has not answered. Ask again, or take the keyboard over.`
    : `${holder} keeps the keyboard.`;
}

/** Returns a sentence about requests that expired before the user, who holds the keyboard, answered them. */
export function missedText(before: Keyboard, others: readonly Participant[]): string {
  const missed = others.filter(({ id, asks, unanswered }) => before.asking.has(id) && !asks && unanswered);
  const names = missed.map(({ name }) => name).join(", ");
  return names && `${names} asked for the keyboard but got no answer. The request has expired.`;
}

export class KeyboardNotices implements Disposable {
  readonly #disposables = new DisposableList();
  readonly #page: PageCore;
  readonly #panes: PaneActions;
  readonly #known = new WeakMap<TerminalPane, Keyboard>();
  readonly #held = byId("held");
  readonly #ask = byId<HTMLButtonElement>("ask");
  /** Another viewer's request, shown to the user who holds the keyboard. */
  readonly #request = make("div", "notice request");
  readonly #requestText = make("span", "");
  #asking: { pane: TerminalPane; viewer: Participant } | undefined;
  /** Whether a key typed by the user has been refused. */
  readonly #refusal = make("div", "notice refusal");
  #timer: ReturnType<typeof setTimeout> | undefined;
  /** Whether the user has withdrawn the request, so that its end isn't shown as an answer. */
  #withdrawn = false;

  constructor(page: PageCore, panes: PaneActions) {
    this.#page = page;
    this.#panes = panes;
    const give = button("primary", "Give");
    const keep = button("plain", "Keep");
    this.#request.role = "alert";
    this.#request.append(make("i", "dot"), this.#requestText, give, keep);
    this.#refusal.role = "alert";
    for (const notice of [this.#request, this.#refusal]) {
      notice.hidden = true;
      byId("stage").append(notice);
      this.#disposables.defer(() => notice.remove());
    }
    this.#disposables.listen(give, "click", () => this.#answer("give"));
    this.#disposables.listen(keep, "click", () => this.#answer("keep"));
    this.#disposables.listen(this.#ask, "click", () => this.ask());
    this.#disposables.listen(byId("take-over"), "click", () => void panes.lease("take"));
    this.#disposables.defer(() => clearTimeout(this.#timer));
    this.#disposables.defer(effect(() => this.#update()));
  }

  dispose(): void {
    this.#disposables.dispose();
  }

  /** Requests the active terminal's keyboard, or withdraws the request. */
  ask(): void {
    const asks = this.#page.people.peek()?.people.me?.asks === true;
    this.#withdrawn = asks;
    this.#hideRefusal();
    void this.#panes.lease(asks ? "withdraw" : "ask");
  }

  /** Called when the user has typed while another viewer holds the keyboard. */
  refused(): void {
    const { holder, me } = this.#page.people.peek()?.people ?? {};
    if (!holder) return;
    const text = make("span", "", `Only ${describeHolder(holder)} may type, so your keys were not sent.`);
    const buttons = [button("plain", "Take over")];
    buttons[0]?.addEventListener("click", () => {
      this.#hideRefusal();
      void this.#panes.lease("take");
    });
    if (me?.asks) text.append(" You have asked for the keyboard.");
    else {
      const ask = button("primary", "Ask for the keyboard");
      ask.addEventListener("click", () => this.ask());
      buttons.unshift(ask);
    }
    if (this.#refusal.hidden) this.#refusal.replaceChildren(text, ...buttons);
    this.#refusal.hidden = false;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#hideRefusal(), REFUSAL_TIME);
  }

  #hideRefusal(): void {
    this.#refusal.hidden = true;
  }

  #update(): void {
    const all = [...this.#page.workspace.panes.value.values()];
    const panes = all.filter((pane): pane is TerminalPane => pane instanceof TerminalPane);
    const active = this.#page.activeTerminal.value;
    this.#asking = undefined;
    let others = 0;
    for (const pane of panes) {
      const people = pane.people.value?.people;
      if (!people) continue;
      this.#tell(pane, people);
      const waiting = people.lease.holder === people.me?.id ? people.others.filter(({ asks }) => asks) : [];
      others += waiting.length;
      if (waiting[0] && !this.#asking) this.#asking = { pane, viewer: waiting[0] };
    }
    this.#showRequest(others - 1);
    this.#showHeld(active?.people.value?.people);
  }

  /** Shows the answer to a request, or that another viewer has taken the keyboard. */
  #tell(pane: TerminalPane, { me, others, lease }: People): void {
    const now: Keyboard = {
      holder: lease.holder ?? undefined,
      asks: me?.asks === true,
      unanswered: me?.unanswered === true,
      asking: new Map(others.filter(({ asks }) => asks).map(({ id, name }) => [id, name])),
    };
    const before = this.#known.get(pane) ?? now;
    this.#known.set(pane, now);
    const missed = me && now.holder === me.id ? missedText(before, others) : "";
    if (missed) this.#page.toast(missed);
    const text = changeText(
      before,
      now,
      me?.id,
      id => others.find(each => each.id === id)?.name ?? "Another",
    );
    if (now.holder !== before.holder) this.#hideRefusal();
    if (!text || (this.#withdrawn && now.holder === before.holder)) return;
    this.#page.toast(text);
    if (now.holder === me?.id && this.#page.activeTerminal.peek() === pane) this.#page.focus();
  }

  #showRequest(more: number): void {
    this.#request.hidden = !this.#asking;
    setText(this.#requestText, "");
    if (!this.#asking) return;
    const { pane, viewer } = this.#asking;
    const where = pane === this.#page.activeTerminal.peek() ? "" : ` of ${pane.title.peek()}`;
    const rest = more > 0 ? ` (and ${more} more)` : "";
    this.#request.style.setProperty("--color", viewer.color);
    this.#request.classList.toggle("agent", viewer.kind === "agent");
    setText(this.#requestText, `${describeHolder(viewer)} asks for the keyboard${where}${rest}`);
  }

  #showHeld(people: People | undefined): void {
    const { me, holder, readOnly } = people ?? {};
    const other = holder && holder.id !== me?.id ? holder : undefined;
    this.#held.hidden = !other;
    byId("take-over").hidden = readOnly === true;
    this.#ask.hidden = readOnly === true;
    this.#ask.setAttribute("aria-pressed", String(me?.asks === true));
    setText(this.#ask, me?.asks ? "Asked" : "Ask");
    this.#ask.title = me?.asks ? "You have asked for the keyboard. Withdraw" : "Ask for the keyboard";
    this.#ask.ariaLabel = this.#ask.title;
    const text = other ? `Only ${describeHolder(other)} may type` : "";
    setText(within(this.#held, "[data-text]"), text);
    this.#held.title = text;
  }

  #answer(action: "give" | "keep"): void {
    if (!this.#asking) return;
    const { pane, viewer } = this.#asking;
    void this.#panes.lease(action, { pane, to: viewer.id });
  }
}

function describeHolder({ name, kind }: Participant): string {
  return kind === "agent" ? `${name} (agent)` : name;
}

function button(className: string, label: string): HTMLButtonElement {
  const element = make("button", className, label);
  element.type = "button";
  return element;
}
