// Shows a text as a document, including images and links from its directory.

import type { ComponentType } from "preact";
import { visible } from "../../base/visible";
import type { SandboxHandle } from "../../client/sandbox";
import { HawseError } from "../../wire/errors";
import type { MarkdownProps } from "../markdown/markdown";
import { collect, dataUrl } from "../save";
import { join, parentOf, resolved } from "./tree";

/** Maximum size of an image in a document, in bytes. */
const IMAGE_MAX = 8_388_608;
export const IMAGE = /\.(avif|bmp|gif|ico|jpe?g|png|svg|webp)$/i;

interface Props {
  readonly Markdown: ComponentType<MarkdownProps>;
  readonly text: string;
  readonly path: string;
  readonly box: Pick<SandboxHandle, "file" | "read">;
  readonly open: (path: string) => void;
}

export function DocumentView({ Markdown, text, path, box, open }: Props) {
  const scroll = { tabIndex: 0 }; // focusable so that it can be scrolled with the keyboard
  return (
    <section class="content document" aria-label={visible(path)} {...scroll}>
      <Markdown text={text} image={link => imageOf(box, path, link)} open={link => open(near(path, link))} />
    </section>
  );
}

/** Returns the path that a link in the document at `path` points to. Throws URIError. */
function near(path: string, link: string): string {
  const file = decodeURI(link.replace(/[?#].*$/, ""));
  return file.startsWith("/") ? file.slice(1) : resolved(join(parentOf(path), file));
}

async function imageOf(box: Props["box"], path: string, link: string): Promise<string | undefined> {
  try {
    const file = near(path, link);
    const stat = await box.file.stat({ path: file });
    if (stat.size > IMAGE_MAX || !IMAGE.test(file)) return undefined;
    return await dataUrl(await collect(box.read(file)), file);
  } catch (error) {
    if (error instanceof HawseError || error instanceof URIError) return undefined;
    throw error;
  }
}
