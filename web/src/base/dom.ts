// Finds the fixed elements in index.html, throwing an Error if one is missing, and creates new elements.

import { visible } from "./visible";
export function byId<T extends HTMLElement = HTMLElement>(id: string): T {
  const element = document.getElementById(id);
  if (!element) throw new Error(`element #${id} is missing in the page`);
  return element as T;
}

export function within<T extends HTMLElement = HTMLElement>(element: Element, selector: string): T {
  const found = element.querySelector<T>(selector);
  if (!found) throw new Error(`element ${selector} is missing in #${element.id}`);
  return found;
}

/** Shows one line of text, which may be untrusted. */
export function setText(element: Element, text: string): void {
  const shown = visible(text);
  if (element.textContent !== shown) element.textContent = shown;
}

/** Returns a new element with a class and children; strings become single-line text. */
export function make<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  className: string,
  ...children: (Node | string)[]
): HTMLElementTagNameMap[K] {
  const element = document.createElement(tag);
  element.className = className;
  element.append(...children.map(child => (typeof child === "string" ? visible(child) : child)));
  return element;
}

/** Returns a button with an icon. `path` is drawn in a 16 × 16 square. */
export function iconButton(label: string, path: string): HTMLButtonElement {
  const button = make("button", "icon");
  button.type = "button";
  button.title = label;
  button.setAttribute("aria-label", label);
  const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  svg.setAttribute("viewBox", "0 0 16 16");
  svg.setAttribute("aria-hidden", "true");
  const line = document.createElementNS("http://www.w3.org/2000/svg", "path");
  line.setAttribute("d", path);
  svg.append(line);
  button.append(svg);
  return button;
}
