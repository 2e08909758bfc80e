// Downloads a recording as a file. A link cannot carry an Authorization header, so each download requests a ticket
// first (docs/wire.md, Recordings).

import { requestTicket } from "../connection/tickets";

export async function downloadRecording(sandbox: string, id: string, token: string): Promise<void> {
  const base = new URL(".", document.baseURI);
  const ticket = await requestTicket(base, token, AbortSignal.timeout(10_000));
  const path = `v1/sandboxes/${encodeURIComponent(sandbox)}/recordings/${encodeURIComponent(id)}.cast`;
  const url = new URL(path, base);
  url.searchParams.set("ticket", ticket);
  const link = document.createElement("a");
  link.href = url.href;
  link.download = `${id}.cast`;
  link.click();
}
