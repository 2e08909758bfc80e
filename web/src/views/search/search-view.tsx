// Search in the rail: finds lines in the sandbox's files, and opens a file at a matching line.

import { visible, visibleLines } from "../../base/visible";
import { sandboxHandle } from "../../client/sandbox";
import "../style/views.css";
import "../style/rail-list.css";
import "../style/search.css";
import { signal } from "@preact/signals";
import { CaseSensitive, Regex } from "lucide";
import { useEffect, useMemo, useRef } from "preact/hooks";
import { Icon } from "../../frame/icon";
import type { RailProps } from "../../frame/pane";
import type { SearchMatch } from "../../wire/methods";
import { openFile } from "../files/open-file";
import { type FileHits, FileSearch, partsOf, type Results } from "./results";

/** How long to wait after the last key before starting a search, in milliseconds. */
const PAUSE = 250;

/** The last search, kept because the view is rebuilt each time it's shown. */
const remembered = {
  text: signal(""),
  files: signal(""),
  regular: signal(false),
  matchCase: signal(false),
};

export function SearchView({ app, restored }: RailProps) {
  const search = useMemo(() => new FileSearch(sandboxHandle(app.client, app.sandbox)), [app]);
  const { text, files, regular, matchCase } = remembered;
  const field = useRef<HTMLInputElement>(null);
  const root = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (restored) return;
    field.current?.focus();
    field.current?.select();
  }, []);
  useEffect(() => () => search.cancel(), [search]);
  useEffect(() => {
    const query = {
      text: text.value,
      files: files.value,
      regular: regular.value,
      matchCase: matchCase.value,
    };
    const timer = setTimeout(() => void search.run(query), PAUSE);
    return () => clearTimeout(timer);
  }, [text.value, files.value, regular.value, matchCase.value]);

  const results = search.results.value;
  const open = ({ path, line }: SearchMatch, beside: boolean) =>
    openFile(app, path, { line: line ?? 1, beside });
  const option = (label: string, icon: typeof Regex, on: typeof regular) => (
    <button
      type="button"
      class="tool"
      title={label}
      aria-label={label}
      aria-pressed={on.value}
      onClick={() => {
        on.value = !on.value;
      }}
    >
      <Icon icon={icon} size={16} />
    </button>
  );
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: moves the focus between the buttons in it
    <div class="view rail-list search" ref={root} onKeyDown={event => move(root.current, event)}>
      <div class="query">
        <input
          ref={field}
          type="search"
          placeholder="Find in files"
          aria-label="Find in files"
          defaultValue={text.peek()}
          autocomplete="off"
          spellcheck={false}
          onInput={({ currentTarget }) => {
            text.value = currentTarget.value;
          }}
        />
        {option("Match case", CaseSensitive, matchCase)}
        {option("Regular expression", Regex, regular)}
      </div>
      <input
        class="files"
        placeholder="In files, such as *.py, src/**"
        aria-label="Only in files (globs)"
        defaultValue={files.peek()}
        autocomplete="off"
        spellcheck={false}
        onInput={({ currentTarget }) => {
          files.value = currentTarget.value;
        }}
      />
      {results.problem ? (
        <p class="problem" role="alert">
          {visible(results.problem)}
        </p>
      ) : (
        <p class="summary" role="status">
          {summary(results, text.value)}
        </p>
      )}
      <ul class="results" aria-label="Results">
        {results.files.map(file => (
          <File key={file.path} file={file} open={open} />
        ))}
      </ul>
    </div>
  );
}

function summary({ count, files, running, truncated }: Results, text: string): string {
  if (!text) return "";
  if (count === 0) return running ? "Searching…" : "Nothing found.";
  const lines = count === 1 ? "1 line" : `${truncated ? "The first " : ""}${count.toLocaleString()} lines`;
  return `${lines} in ${files.length === 1 ? "1 file" : `${files.length} files`}${running ? " …" : ""}`;
}

interface FileProps {
  file: FileHits;
  open: (hit: SearchMatch, beside: boolean) => void;
}

function File({ file: { path, hits }, open }: FileProps) {
  const slash = path.lastIndexOf("/");
  return (
    <li>
      <h3 title={visible(path)}>
        <strong>{visible(path.slice(slash + 1))}</strong>
        <span>{visible(path.slice(0, Math.max(0, slash)))}</span>
        <small>{hits.length}</small>
      </h3>
      {hits.map(hit => (
        <button
          key={hit.line}
          type="button"
          class="hit"
          onClick={event => open(hit, event.ctrlKey || event.metaKey)}
        >
          <small>{hit.line}</small>
          <code>
            {partsOf(hit).map(({ text, found }, index) =>
              found ? (
                <mark key={index}>{visibleLines(text)}</mark>
              ) : (
                <span key={index}>{visibleLines(text)}</span>
              ),
            )}
          </code>
        </button>
      ))}
    </li>
  );
}

/** The arrow keys move through the lines that were found. */
function move(root: HTMLElement | null, event: KeyboardEvent): void {
  const by = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  if (!by || !root) return;
  const hits = [...root.querySelectorAll<HTMLElement>(".hit")];
  const at = hits.indexOf(document.activeElement as HTMLElement);
  const next = at < 0 && by < 0 ? undefined : hits[at + by];
  if (next) next.focus();
  else if (at === 0) root.querySelector<HTMLElement>("input")?.focus();
  else return;
  event.preventDefault();
}
