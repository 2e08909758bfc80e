// The page's fixed elements are in index.html; this finds them, and fails loudly where the two disagree.

export function byId<T extends HTMLElement = HTMLElement>(id: string): T {
  const element = document.getElementById(id);
  if (!element) throw new Error(`index.html has no #${id}`);
  return element as T;
}

export function within(element: Element, selector: string): HTMLElement {
  const found = element.querySelector<HTMLElement>(selector);
  if (!found) throw new Error(`#${element.id} has no ${selector}`);
  return found;
}

export function setText(element: Element, text: string): void {
  if (element.textContent !== text) element.textContent = text;
}
