// Finds the fixed elements of index.html and throws an Error if one is missing.

export function byId<T extends HTMLElement = HTMLElement>(id: string): T {
  const element = document.getElementById(id);
  if (!element) throw new Error(`element #${id} is missing in the page`);
  return element as T;
}

export function within(element: Element, selector: string): HTMLElement {
  const found = element.querySelector<HTMLElement>(selector);
  if (!found) throw new Error(`element ${selector} is missing in #${element.id}`);
  return found;
}

export function setText(element: Element, text: string): void {
  if (element.textContent !== text) element.textContent = text;
}
