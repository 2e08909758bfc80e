// The command palette: finds an action by part of its name and runs it. The module is loaded when the palette is first
// opened.

import uFuzzy from "@leeoniya/ufuzzy";
import { type ReadonlySignal, useComputed } from "@preact/signals";
import type { IconNode } from "lucide";
import { render } from "preact";
import { useEffect, useMemo, useState } from "preact/hooks";
import type { Disposable } from "../base/disposables";
import { type Action, type Actions, labelOf } from "./actions";
import { Icon } from "./icon";

/** An entry that isn't an action, such as a tab to switch to. */
export type Entry = Pick<Action, "id" | "group" | "run"> & { label: string; icon?: IconNode | undefined };

export interface PaletteOptions {
  actions: Actions;
  /** Action icons, keyed by id. */
  icons: Readonly<Record<string, IconNode>>;
  /** Returns additional entries. */
  more: () => Entry[];
  typed: () => string | undefined;
  /** Called when the palette has closed without running an action. */
  closed: () => void;
}

const search = new uFuzzy({ intraMode: 1 });

/** Returns the matching entries, best match first; returns all entries if the text is empty. */
export function matching(entries: readonly Entry[], text: string): Entry[] {
  const needle = text.trim();
  if (!needle) return [...entries];
  const haystack = entries.map(({ label }) => label);
  const [found, info, order] = search.search(haystack, needle, 1);
  const indexes = order && info ? order.map(index => info.idx[index]) : (found ?? []);
  return indexes.flatMap(index => (index === undefined ? [] : (entries[index] ?? [])));
}

export function openPalette({ actions, icons, more, typed, closed }: PaletteOptions): void {
  const entries: Entry[] = [
    ...actions.available
      .filter(({ id }) => id !== "palette") // already open
      .map(action => ({
        id: action.id,
        group: action.group,
        label: labelOf(action),
        icon: icons[action.id],
        run: () => action.run(),
      })),
    ...more(),
  ];
  const shortcut = (id: string) => actions.shortcut(id);
  openChooser({
    label: "Find a command",
    empty: "No command has this name.",
    entries,
    shortcut,
    typed,
    closed,
  });
}

export interface Found {
  /** Best match first. */
  readonly entries: readonly Entry[];
  /** A note about the entries, shown below them. */
  readonly status: string;
}

/** Finds entries from another source for the typed text. */
export interface EntrySource extends Disposable {
  readonly found: ReadonlySignal<Found>;
  search(text: string): void;
}

export interface ChooserOptions {
  /** Name of the text field. */
  label: string;
  /** Shown if no entries match. */
  empty?: string;
  entries: readonly Entry[] | EntrySource;
  /** Returns an entry's shortcut as displayed. */
  shortcut?: (id: string) => string | undefined;
  /** Returns the initial text, or undefined if the user has closed the palette. */
  typed: () => string | undefined;
  /** Called when the dialog was closed without a choice. */
  closed: () => void;
}

const NONE: Found = { entries: [], status: "" };
/** Maximum number of entries displayed. */
const SHOWN = 300;

/** Lets the user choose an entry by typing part of its label. */
export function openChooser({ label, empty = "", entries, shortcut, typed, closed }: ChooserOptions): void {
  const first = typed();
  if (first === undefined) return;
  const dialog = document.createElement("dialog");
  dialog.className = "palette";
  dialog.ariaLabel = label;
  let chosen: Entry | undefined;
  const choose = (entry: Entry) => {
    chosen = entry;
    dialog.close();
  };
  dialog.addEventListener("click", event => event.target === dialog && dialog.close());
  dialog.addEventListener("close", () => {
    if ("search" in entries) entries.dispose();
    render(null, dialog);
    dialog.remove();
    if (chosen) chosen.run();
    else closed();
  });
  document.body.append(dialog);
  render(
    <Chooser
      label={label}
      empty={empty}
      entries={entries}
      shortcut={shortcut}
      first={first}
      choose={choose}
    />,
    dialog,
  );
  dialog.showModal();
}

interface ChooserProps extends Pick<ChooserOptions, "label" | "entries"> {
  empty: string;
  shortcut: ((id: string) => string | undefined) | undefined;
  first: string;
  choose: (entry: Entry) => void;
}

function Chooser({ label, empty, entries, shortcut, first, choose }: ChooserProps) {
  const [text, setText] = useState(first);
  const [at, setAt] = useState(0);
  const source = "search" in entries ? entries : undefined;
  useEffect(() => source?.search(text), [source, text]);
  const { entries: all, status } = useComputed(() => source?.found.value).value ?? NONE;
  const found = useMemo(
    () => ("search" in entries ? all : matching(entries, text)).slice(0, SHOWN),
    [entries, all, text],
  );
  const press = (event: KeyboardEvent) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    const entry = found[at];
    if (step && found.length) setAt((at + step + found.length) % found.length);
    else if (event.key === "Enter" && entry) choose(entry);
    else return;
    event.preventDefault();
  };
  return (
    <>
      <input
        type="text"
        role="combobox"
        aria-label={label}
        aria-expanded="true"
        aria-controls="palette-list"
        aria-activedescendant={found[at] ? `palette-${at}` : undefined}
        placeholder={label}
        autocomplete="off"
        spellcheck={false}
        autofocus
        value={text}
        onInput={event => {
          setText(event.currentTarget.value);
          setAt(0);
        }}
        onKeyDown={press}
      />
      <div id="palette-list" class="list" role="listbox" aria-label={label}>
        {found.map((entry, index) => (
          // biome-ignore lint/a11y/useKeyWithClickEvents: the text field handles the keys
          <div
            key={entry.id}
            id={`palette-${index}`}
            role="option"
            tabIndex={-1}
            aria-selected={index === at}
            ref={index === at ? scrollTo : null}
            onClick={() => choose(entry)}
            onPointerMove={() => setAt(index)}
          >
            {entry.icon ? <Icon icon={entry.icon} size={16} /> : <i />}
            <span>{entry.label}</span>
            <small>{entry.group}</small>
            <kbd>{shortcut?.(entry.id)}</kbd>
          </div>
        ))}
      </div>
      {source ? <p role="status">{status}</p> : found.length === 0 && <p role="status">{empty}</p>}
    </>
  );
}

function scrollTo(element: HTMLElement | null): void {
  element?.scrollIntoView({ block: "nearest" });
}
