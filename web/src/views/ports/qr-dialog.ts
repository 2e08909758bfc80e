// A dialog that shows an address as a QR code, to be opened on a phone.

import { renderSVG } from "uqr";

export function showQr(label: string, address: string): void {
  const dialog = document.createElement("dialog");
  dialog.className = "question qr";
  dialog.ariaLabel = label;
  const title = document.createElement("h2");
  title.textContent = label;
  const image = document.createElement("img");
  image.alt = `QR code of ${address}`;
  image.src = `data:image/svg+xml,${encodeURIComponent(renderSVG(address))}`;
  const text = document.createElement("code");
  text.textContent = address;
  const close = document.createElement("button");
  close.type = "button";
  close.textContent = "Close";
  close.addEventListener("click", () => dialog.close());
  const answers = document.createElement("div");
  answers.className = "answers";
  answers.append(close);
  dialog.append(title, image, text, answers);
  dialog.addEventListener("click", event => event.target === dialog && dialog.close());
  dialog.addEventListener("close", () => dialog.remove());
  document.body.append(dialog);
  dialog.showModal();
}
