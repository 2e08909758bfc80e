// Prevents the browser from opening a file or link that is dropped on the page. Elements that accept drops handle them
// first.

/** The browser itself handles drops on text fields, except for files, which it would open. */
export function refuseDrops(page: EventTarget): void {
  const refuse = (event: Event) => {
    const { target, dataTransfer } = event as DragEvent;
    const field = target instanceof Element && target.closest("input, textarea, [contenteditable=true]");
    if (!dataTransfer || (field && !dataTransfer.types.includes("Files"))) return;
    event.preventDefault();
    dataTransfer.dropEffect = "none";
  };
  page.addEventListener("dragover", refuse);
  page.addEventListener("drop", refuse);
}
