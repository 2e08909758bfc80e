// Images in the terminal: sixel, and the iTerm2 protocol (OSC 1337;File=). The decoders are loaded when the first image
// arrives; the parser waits for them, so that output after the image keeps its position. The server's screen has no
// images, so after a reload, the page reports that earlier images aren't shown.

import type { ImageAddon } from "@xterm/addon-image";
import type { Terminal } from "@xterm/xterm";
import { type Disposable, DisposableList } from "../../base/disposables";
import { preferences } from "../settings/preferences";

/**
 * Limits for each image and for all images in a terminal: pixels, bytes per sequence, and megabytes of decoded images.
 */
export const LIMITS = {
  pixelLimit: 8_000_000,
  sixelSizeLimit: 8_000_000,
  iipSizeLimit: 8_000_000,
  storageLimit: 64,
} as const;
/** A sixel terminal's reply to a query for its features (DA1): VT220, sixel, character sets, colours. */
const ATTRIBUTES = "\x1b[?62;4;9;22c";
/** How long to wait for the decoder, which the add-on starts on its own, in milliseconds. */
const DECODER_TIMEOUT = 2_000;

export interface ImageMemory {
  /** The storage that remembers across a reload whether images were shown. Any call to it can throw. */
  readonly storage: () => Storage;
  /** For this terminal. */
  readonly key: string;
  /** Instance of the terminal's shell; undefined if unknown. */
  readonly instance: () => string | undefined;
  /** Reports that the images from before the reload aren't shown. */
  readonly lost: () => void;
}

/** The add-on's handlers for a sequence, as called by xterm.js's parser. */
interface SequenceHandler {
  hook?(params: { params: (number | number[])[] }): void;
  start?(): void;
  put(data: Uint32Array, start: number, end: number): void;
  unhook?(success: boolean): boolean | Promise<boolean>;
  end?(success: boolean): boolean | Promise<boolean>;
  /** The sixel decoder, once it has started. */
  _dec?: unknown;
}

export class Images implements Disposable {
  readonly #terminal: Terminal;
  readonly #disposables = new DisposableList();
  readonly #waiting = new DisposableList();
  #addon: ImageAddon | undefined;
  #disposed = false;

  constructor(terminal: Terminal, memory: ImageMemory) {
    this.#terminal = terminal;
    this.#remember(memory);
    const wanted = () => preferences().value.images;
    this.#waiting.add(
      terminal.parser.registerDcsHandler({ final: "q" }, async (data, params) =>
        wanted() ? await this.#first("sixel", data, { params }) : false,
      ),
      terminal.parser.registerOscHandler(1337, async data =>
        wanted() && data.startsWith("File=") ? await this.#first("iip", data) : false,
      ),
      terminal.parser.registerCsiHandler({ final: "c" }, ([first]) => {
        if (first || !wanted()) return false;
        terminal.input(ATTRIBUTES, false);
        return true;
      }),
    );
    this.#disposables.add(this.#waiting);
  }

  /** Reports whether a reload has lost images, and stores for the next reload whether there are images now. */
  #remember({ storage, key, instance, lost }: ImageMemory): void {
    if (attempt(() => storage().getItem(key)) === (instance() ?? "")) lost();
    this.#disposables.listen(window, "pagehide", () => {
      if (this.#addon && this.#addon.storageUsage > 0)
        attempt(() => storage().setItem(key, instance() ?? ""));
      else attempt(() => storage().removeItem(key));
    });
  }

  dispose(): void {
    this.#disposed = true;
    this.#disposables.dispose();
  }

  /** Loads the decoders, which handle all images from then on, and passes the first image to them. */
  async #first(
    kind: "sixel" | "iip",
    data: string,
    params?: { params: (number | number[])[] },
  ): Promise<boolean> {
    const addon = await this.#load();
    const handler = addon && handlerOf(addon, kind);
    if (!handler) return true;
    if (kind === "sixel" && !(await started(handler))) return true;
    const codes = Uint32Array.from(data, character => character.codePointAt(0) ?? 0);
    if (params) handler.hook?.(params);
    handler.start?.();
    handler.put(codes, 0, codes.length);
    return (await (handler.unhook?.(true) ?? handler.end?.(true))) ?? true;
  }

  async #load(): Promise<ImageAddon | undefined> {
    try {
      const { ImageAddon } = await import("@xterm/addon-image");
      if (this.#disposed || this.#addon) return this.#addon;
      this.#addon = new ImageAddon({ ...LIMITS, enableSizeReports: false });
      this.#terminal.loadAddon(this.#addon);
      this.#disposables.add(this.#addon);
      this.#waiting.dispose();
      return this.#addon;
    } catch {
      return undefined; // the next image triggers another attempt to load the decoders
    }
  }
}

function attempt<T>(action: () => T): T | undefined {
  try {
    return action();
  } catch {
    return undefined; // the storage is full or disabled
  }
}

function handlerOf(addon: ImageAddon, kind: string): SequenceHandler | undefined {
  return (addon as { _handlers?: Map<string, SequenceHandler> })._handlers?.get(kind);
}

async function started(handler: SequenceHandler): Promise<boolean> {
  const end = performance.now() + DECODER_TIMEOUT;
  while (!handler._dec && performance.now() < end) await new Promise(resolve => setTimeout(resolve, 5));
  return handler._dec !== undefined;
}
