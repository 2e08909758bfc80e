// The part of noVNC that the desktop pane uses. The package doesn't include types.

declare module "@novnc/novnc" {
  export default class RFB extends EventTarget {
    constructor(target: HTMLElement, channel: object, options?: { shared?: boolean });
    viewOnly: boolean;
    scaleViewport: boolean;
    resizeSession: boolean;
    background: string;
    clipboardPasteFrom(text: string): void;
    disconnect(): void;
    focus(): void;
    blur(): void;
  }
}
