// Shows rich output in a separate frame: a page with an opaque origin that has no access to the network or to this page
// (public/output.html, gateway/hawse_gateway/http/static.py).

import { useEffect, useRef, useState } from "preact/hooks";

/** Maximum height in CSS pixels; taller output scrolls inside the frame. */
const HEIGHT_MAX = 640;
const VARIABLES = ["--text", "--quiet", "--line", "--accent", "--hover", "--surface", "--sans", "--mono"];

export interface OutputFrameProps {
  /** MIME type of `text`: text/html, image/svg+xml or application/javascript. */
  type: string;
  text: string;
  title: string;
}

export function OutputFrame({ type, text, title }: OutputFrameProps) {
  const frame = useRef<HTMLIFrameElement>(null);
  const [height, setHeight] = useState(0);
  const [note, setNote] = useState("");
  const [ready, setReady] = useState(0);

  useEffect(() => {
    const receive = ({ source, data }: MessageEvent) => {
      if (!frame.current || source !== frame.current.contentWindow) return;
      if (typeof data !== "object" || data === null) return;
      const { type: kind, height: wanted, address, message } = data as Record<string, unknown>;
      if (kind === "ready") setReady(count => count + 1);
      else if (kind === "size" && typeof wanted === "number" && Number.isFinite(wanted))
        setHeight(Math.max(0, Math.min(HEIGHT_MAX, wanted)));
      else if (kind === "blocked") setNote(`This output is not allowed to load ${short(address)}.`);
      else if (kind === "failed") setNote(`A script in this output failed: ${short(message)}`);
    };
    addEventListener("message", receive);
    return () => removeEventListener("message", receive);
  }, []);
  const send = (kind: "show" | "style") => {
    const element = frame.current;
    if (!element) return;
    // The frame's origin is opaque, so the target can only be `*`. The page in the frame is the gateway's own.
    element.contentWindow?.postMessage({ type: kind, mime: type, text, style: styleOf(element) }, "*");
  };
  useEffect(() => {
    if (ready) send("show");
  }, [ready, type, text]);
  useEffect(() => {
    const restyle = () => ready && send("style");
    const observer = new MutationObserver(restyle);
    observer.observe(document.documentElement, { attributeFilter: ["data-theme"] });
    const scheme = matchMedia("(prefers-color-scheme: light)");
    scheme.addEventListener("change", restyle);
    return () => {
      observer.disconnect();
      scheme.removeEventListener("change", restyle);
    };
  }, [ready]);

  return (
    <>
      <iframe
        ref={frame}
        class="output-frame"
        title={title}
        src={new URL("output.html", document.baseURI).href}
        sandbox="allow-scripts"
        referrerpolicy="no-referrer"
        style={{ height: `${height}px` }}
      />
      {note && <p class="note">{note}</p>}
    </>
  );
}

function short(value: unknown): string {
  return String(value ?? "").slice(0, 200);
}

function styleOf(element: HTMLElement): { scheme: string; variables: Record<string, string> } {
  const computed = getComputedStyle(element);
  const probe = document.createElement("i");
  element.parentElement?.append(probe);
  const variables: Record<string, string> = {};
  for (const name of VARIABLES) {
    // A custom property returns light-dark() unresolved, so the resolved colour is read from an ordinary property.
    probe.style.color = `var(${name})`;
    variables[name] = /^--(sans|mono)$/.test(name)
      ? computed.getPropertyValue(name)
      : getComputedStyle(probe).color;
  }
  probe.remove();
  const light = computed.colorScheme.trim() === "light";
  const system = matchMedia("(prefers-color-scheme: light)").matches ? "light" : "dark";
  return {
    scheme: /^(light|dark)$/.test(computed.colorScheme.trim()) ? (light ? "light" : "dark") : system,
    variables,
  };
}
