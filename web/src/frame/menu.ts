// A menu shown at an element or a point. Arrow keys, Home, End and letters select an item; Escape or a click outside
// closes it.

import { DisposableList } from "../base/disposables";

export interface MenuItem {
  readonly label: string;
  /** Shown at the end of the row, for example a shortcut. */
  readonly hint?: string | undefined;
  readonly checked?: boolean | undefined;
  readonly disabled?: boolean | undefined;
  run(): void;
}

/** Groups of items, separated by lines. */
export type MenuGroups = readonly (readonly MenuItem[])[];

export interface MenuPlace {
  readonly x: number;
  readonly y: number;
  /** Whether `x` is the menu's right edge. */
  readonly alignRight?: boolean;
}

const GAP = 4;

/**
 * Opens a menu and focuses it. `closed` is called once it has closed; `chosen` is true if the user chose an item.
 *
 * Returns a function that adds an item at the end of the last group while the menu is open.
 */
export function openMenu(
  label: string,
  groups: MenuGroups,
  where: MenuPlace | HTMLElement,
  closed: (chosen: boolean) => void = () => {},
): (item: MenuItem) => void {
  const disposables = new DisposableList();
  const menu = document.createElement("div");
  menu.className = "menu";
  menu.role = "menu";
  menu.ariaLabel = label;
  menu.popover = "auto";
  let chosen = false;
  const choose = (item: MenuItem) => {
    chosen = true;
    menu.hidePopover();
    item.run();
  };
  for (const group of groups.filter(items => items.length > 0)) {
    const list = document.createElement("div");
    list.role = "group";
    list.append(...group.map(item => line(item, choose)));
    menu.append(list);
  }
  const opener = where instanceof HTMLElement ? where : undefined;
  document.body.append(menu);
  menu.showPopover();
  const place = () => put(menu, opener ? below(opener) : (where as MenuPlace));
  place();
  opener?.setAttribute("aria-expanded", "true");
  disposables.listen<KeyboardEvent>(menu, "keydown", event => move(menu, event));
  disposables.listen(menu, "toggle", event => {
    if ((event as ToggleEvent).newState !== "closed") return;
    disposables.dispose();
    menu.remove();
    opener?.setAttribute("aria-expanded", "false");
    closed(chosen);
  });
  menu.querySelector<HTMLElement>("button:not(:disabled)")?.focus();
  return item => {
    if (!menu.isConnected) return;
    menu.lastElementChild?.append(line(item, choose));
    place();
  };
}

function line(item: MenuItem, choose: (item: MenuItem) => void): HTMLButtonElement {
  const button = document.createElement("button");
  button.type = "button";
  button.role = item.checked === undefined ? "menuitem" : "menuitemcheckbox";
  if (item.checked !== undefined) button.ariaChecked = String(item.checked);
  button.disabled = item.disabled === true;
  button.tabIndex = -1;
  const label = document.createElement("span");
  label.textContent = item.label;
  button.append(label);
  if (item.hint) {
    const hint = document.createElement("kbd");
    hint.textContent = item.hint;
    hint.ariaHidden = "true";
    button.append(hint);
  }
  button.addEventListener("click", () => choose(item));
  button.addEventListener("pointermove", () => button.focus());
  return button;
}

function below(element: HTMLElement): MenuPlace {
  const { left, right, bottom } = element.getBoundingClientRect();
  const alignRight = left > innerWidth / 2;
  return { x: alignRight ? right : left, y: bottom + GAP, alignRight };
}

/** Moves the menu to its position, or to the nearest position where it's fully visible. */
function put(menu: HTMLElement, { x, y, alignRight }: MenuPlace): void {
  const { offsetWidth: width, offsetHeight: height } = menu;
  const left = Math.max(GAP, Math.min(alignRight ? x - width : x, innerWidth - width - GAP));
  menu.style.left = `${left}px`;
  menu.style.top = `${Math.max(GAP, Math.min(y, innerHeight - height - GAP))}px`;
}

function move(menu: HTMLElement, event: KeyboardEvent): void {
  const items = [...menu.querySelectorAll<HTMLButtonElement>("button:not(:disabled)")];
  const at = items.indexOf(document.activeElement as HTMLButtonElement);
  const to = target(items, at, event.key);
  if (event.key === "Tab") menu.hidePopover();
  if (!to) return;
  event.preventDefault();
  to.focus();
}

function target(items: HTMLButtonElement[], at: number, key: string): HTMLButtonElement | undefined {
  if (key === "ArrowDown") return items[(at + 1) % items.length];
  if (key === "ArrowUp") return items[(at - 1 + items.length) % items.length];
  if (key === "Home") return items[0];
  if (key === "End") return items.at(-1);
  if (key.length !== 1 || key === " ") return undefined;
  const order = [...items.slice(at + 1), ...items.slice(0, at + 1)];
  return order.find(({ textContent }) => textContent?.toLowerCase().startsWith(key.toLowerCase()));
}
