// Downloads a recording as a file. A link can't send a header, so it contains a single-use ticket (docs/wire.md,
// Recordings).

/** `ticket` returns a new ticket. */
export async function downloadRecording(
  sandbox: string,
  id: string,
  ticket: () => Promise<string>,
): Promise<void> {
  const path = `v1/sandboxes/${encodeURIComponent(sandbox)}/recordings/${encodeURIComponent(id)}.cast`;
  const url = new URL(path, new URL(".", document.baseURI));
  url.searchParams.set("ticket", await ticket());
  const link = document.createElement("a");
  link.href = url.href;
  link.download = `${id}.cast`;
  link.click();
}
