// One of a cell's outputs.

import { Markdown } from "../markdown/markdown";
import { spansOf } from "./ansi";
import { shownOf } from "./mime";
import { OutputFrame } from "./output-frame";
import type { BundleOutput, ErrorOutput, Output } from "./outputs";

/** Maximum number of JSON characters to display. */
const JSON_MAX = 100_000;

export function OutputView({ output, label }: { output: Output; label: string }) {
  if (output.kind === "text")
    return (
      <pre class={`text ${output.stream}`}>
        {output.cut && <span class="note">… earlier output is not shown{"\n"}</span>}
        <Styled text={output.text} />
      </pre>
    );
  if (output.kind === "error") return <ErrorView {...output} />;
  return <Bundle output={output} label={label} />;
}

function Styled({ text }: { text: string }) {
  if (!text.includes("\x1b")) return <>{text}</>;
  return (
    <>
      {spansOf(text).map(({ text: part, style }, index) => (
        <span key={index} style={style}>
          {part}
        </span>
      ))}
    </>
  );
}

function ErrorView({ name, value, traceback }: ErrorOutput) {
  const text = traceback.length > 0 ? traceback.join("\n") : `${name}: ${value}`;
  const colored = text.includes("\x1b");
  return (
    <pre class="text error">
      {colored ? (
        <Styled text={text} />
      ) : (
        text.split("\n").map((line, index, lines) => (
          <span key={index} class={partOf(line, index === lines.length - 1, name)}>
            {line}
            {index < lines.length - 1 && "\n"}
          </span>
        ))
      )}
    </pre>
  );
}

/** Returns the kind of a traceback line, which determines its colour. */
function partOf(line: string, last: boolean, name: string): string {
  if (last || (name && line.startsWith(`${name}:`))) return "reason";
  if (/^-*>\s*\d+ /.test(line)) return "culprit";
  if (/^-{5,}$/.test(line) || /^(Cell |File |Traceback )/.test(line)) return "place";
  return "";
}

function Bundle({ output, label }: { output: BundleOutput; label: string }) {
  const shown = shownOf(output.data);
  return (
    <>
      {shown?.how === "frame" && (
        <OutputFrame type={shown.type} text={shown.text} title={`Output of ${label}`} />
      )}
      {shown?.how === "image" && (
        <img src={`data:${shown.type};base64,${shown.base64}`} alt={altOf(output, label)} />
      )}
      {shown?.how === "markdown" && <Markdown text={shown.text} />}
      {shown?.how === "text" && (
        <pre class="text">
          <Styled text={shown.text} />
        </pre>
      )}
      {shown?.how === "json" && (
        <details open>
          <summary>
            <code>{shown.type}</code>
          </summary>
          <pre class="text">{jsonText(shown.value)}</pre>
        </details>
      )}
      {output.omitted.length > 0 && (
        <p class="note">
          Not shown, because it is larger than 64 MiB: <code>{output.omitted.join(", ")}</code>
        </p>
      )}
    </>
  );
}

function altOf({ data }: BundleOutput, label: string): string {
  const text = data["text/plain"];
  return typeof text === "string" && text.length < 200 ? text : `Image of ${label}`;
}

function jsonText(value: unknown): string {
  const text = JSON.stringify(value, null, 2) ?? "";
  return text.length > JSON_MAX ? `${text.slice(0, JSON_MAX)}…` : text;
}
