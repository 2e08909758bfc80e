// Limits the frame rate during heavy output. xterm.js draws on every frame, faster than anyone can read, and draws each
// row twice while it scrolls. The time saved is available for parsing and for programs. This patches internals of
// xterm.js; versions that lack them are left as they are.

import type { Terminal } from "@xterm/xterm";

/**
 * Frames are limited once more than this many bytes have arrived since the last frame. It's more than a screenful of
 * text.
 */
const FLOOD = 16_384;
/** Minimum time between frames while they are limited, in milliseconds. */
const INTERVAL = 50;

interface Debouncer {
  _animationFrame: number | undefined;
  _innerRefresh(): void;
}

interface WriteBuffer {
  _action(data: string | Uint8Array, promiseResult?: boolean): unknown;
}

interface Selection {
  readonly _model: { readonly finalSelectionStart: unknown };
  refresh(isLinuxMouseSelection?: boolean): void;
}

interface Core {
  readonly _writeBuffer: WriteBuffer;
  readonly _renderService: { readonly _renderDebouncer: Debouncer };
  readonly _selectionService: Selection;
}

/** Installs the limits. `terminal` must be open. Full-screen programs and single screenfuls of text aren't affected. */
export function limitFrames(terminal: Pick<Terminal, "buffer">): void {
  const core = coreOf(terminal);
  if (!core) return;
  limitDrawing(terminal, core._writeBuffer, core._renderService._renderDebouncer);
  skipEmptySelections(core._selectionService);
}

function limitDrawing({ buffer }: Pick<Terminal, "buffer">, writes: WriteBuffer, debouncer: Debouncer): void {
  let written = 0;
  let drawn = 0;
  const parse = writes._action;
  writes._action = (data, promiseResult) => {
    written += data.length;
    return parse(data, promiseResult);
  };
  const draw = debouncer._innerRefresh;
  debouncer._innerRefresh = () => {
    const now = performance.now();
    if (written >= FLOOD && now - drawn < INTERVAL && buffer.active.type === "normal") {
      debouncer._animationFrame = requestAnimationFrame(() => debouncer._innerRefresh());
      return;
    }
    written = 0;
    drawn = now;
    draw.call(debouncer);
  };
}

/** Skips updates of an empty selection, because xterm.js would redraw all rows for them with each line scrolled. */
function skipEmptySelections(selection: Selection): void {
  const refresh = selection.refresh;
  let shown = false;
  selection.refresh = isLinuxMouseSelection => {
    const selected = selection._model.finalSelectionStart !== undefined;
    if (selected || shown) refresh.call(selection, isLinuxMouseSelection);
    shown = selected;
  };
}

/** Returns undefined if this version of xterm.js has different internals. */
function coreOf(terminal: object): Core | undefined {
  const { _core: core } = terminal as { _core?: Partial<Core> };
  const functions = [
    core?._writeBuffer?._action,
    core?._renderService?._renderDebouncer?._innerRefresh,
    core?._selectionService?.refresh,
  ];
  const known = functions.every(one => typeof one === "function") && core?._selectionService?._model;
  return known ? (core as Core) : undefined;
}
