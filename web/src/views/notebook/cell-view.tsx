// One cell: its editor, its output and its actions.

import { useComputed, useSignalEffect } from "@preact/signals";
import { ArrowDown, ArrowUp, Code, Play, Square, Text, Trash2 } from "lucide";
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { Icon } from "../../frame/icon";
import type { CodeInputRequest } from "../../wire/methods";
import { Markdown } from "../markdown/markdown";
import type { Cell, CellState } from "./cell";
import { CellEditor } from "./cell-editor";
import type { Notebook } from "./notebook";
import { OutputView } from "./output-view";

export interface FocusTarget {
  readonly element: HTMLElement;
  focus(at: "start" | "end" | "keep"): void;
}

/** Moves the focus between cells. */
export interface CellFocus {
  /** Sets the element that receives a cell's focus; undefined if the cell was removed. */
  register(id: string, target: FocusTarget | undefined): void;
  /** Focuses the cell's editor, or the cell itself if it has no editor. */
  enter(id: string): void;
  /** Moves the focus by `by` cells. Returns false at either end. */
  step(cell: Cell, by: 1 | -1, into: "editor" | "cell"): boolean;
}

export interface CellProps {
  notebook: Notebook;
  cell: Cell;
  index: number;
  readOnly: boolean;
  active: boolean;
  activate(): void;
  focus: CellFocus;
}

export function CellView(props: CellProps) {
  const { notebook, cell, index, readOnly, active, activate, focus } = props;
  const element = useRef<HTMLElement>(null);
  const [editing, setEditing] = useState(() => !cell.source.peek().trim());
  const kind = cell.kind.value;
  const state = cell.state.value;
  const label = `cell ${index + 1}`;
  const rendered = kind === "text" && !editing && cell.source.value.trim() !== "";

  const run = (then: "next" | "stay" | "insert") => {
    if (kind === "text") setEditing(false);
    else void notebook.run(cell);
    if (then === "stay") return kind === "text" ? element.current?.focus() : undefined;
    const at = notebook.cells.peek().indexOf(cell) + 1;
    const next = then === "insert" ? undefined : notebook.cells.peek()[at];
    focus.enter((next ?? notebook.insert(at)).id);
  };
  const remove = () => {
    if (!focus.step(cell, 1, "cell")) focus.step(cell, -1, "cell");
    notebook.remove(cell);
  };

  useEffect(() => {
    if (!element.current) return;
    const own = element.current;
    if (rendered) focus.register(cell.id, { element: own, focus: () => own.focus() });
  }, [cell, rendered]);
  useEffect(() => {
    return () => focus.register(cell.id, undefined);
  }, [cell]);

  const press = (event: KeyboardEvent) => {
    if (event.target !== event.currentTarget || event.ctrlKey || event.metaKey || event.altKey) return;
    if (keyed(event.key, event.shiftKey)) event.preventDefault();
  };
  const keyed = (key: string, shift: boolean): boolean => {
    const at = notebook.cells.peek().indexOf(cell);
    if (key === "Enter" && shift) run("next");
    else if (key === "Enter") {
      setEditing(true);
      if (!rendered) focus.enter(cell.id);
    } else if (key === "ArrowUp" || key === "k") focus.step(cell, -1, "cell");
    else if (key === "ArrowDown" || key === "j") focus.step(cell, 1, "cell");
    else if (readOnly) return false;
    else if (key === "a") focus.enter(notebook.insert(at).id);
    else if (key === "b") focus.enter(notebook.insert(at + 1).id);
    else if (key === "m") notebook.convert(cell, "text");
    else if (key === "y") notebook.convert(cell, "code");
    else if (key === "Delete") remove();
    else return false;
    return true;
  };

  return (
    <section
      ref={element}
      class={`cell ${kind}${active ? " active" : ""}`}
      data-phase={state.phase}
      data-status={state.status}
      aria-label={`Cell ${index + 1}`}
      // biome-ignore lint/a11y/noNoninteractiveTabindex: Escape leads to the cell, where letters are commands
      tabIndex={0}
      onKeyDown={press}
      onFocusIn={activate}
      onPointerDown={activate}
    >
      <Gutter {...props} run={() => run("stay")} />
      <div class="body">
        {cell.by.value && (
          <p class="by">
            Run by <b>{cell.by.value}</b>
          </p>
        )}
        {rendered ? (
          // biome-ignore lint/a11y/noStaticElementInteractions: Enter on the cell does the same
          <div class="rendered" onDblClick={() => !readOnly && setEditing(true)}>
            <Markdown text={cell.source.value} />
          </div>
        ) : (
          <Editor
            {...props}
            label={label}
            run={run}
            takesFocus={kind === "text" && editing && active}
            leave={() => {
              if (kind === "text") setEditing(false);
              element.current?.focus();
            }}
          />
        )}
        {kind === "code" && <Results notebook={notebook} cell={cell} label={label} readOnly={readOnly} />}
      </div>
      {!readOnly && (
        <div class="cell-tools" role="toolbar" aria-label={`Actions of ${label}`}>
          <Tool label="Move up" icon={ArrowUp} run={() => notebook.move(cell, -1)} />
          <Tool label="Move down" icon={ArrowDown} run={() => notebook.move(cell, 1)} />
          {kind === "code" ? (
            <Tool label="Change to text" icon={Text} run={() => notebook.convert(cell, "text")} />
          ) : (
            <Tool label="Change to code" icon={Code} run={() => notebook.convert(cell, "code")} />
          )}
          <Tool label="Delete the cell" icon={Trash2} run={remove} />
        </div>
      )}
    </section>
  );
}

interface ToolProps {
  label: string;
  icon: typeof Play;
  run: () => void;
}

function Tool({ label, icon, run }: ToolProps) {
  return (
    <button type="button" class="tool" title={label} aria-label={label} onClick={run}>
      <Icon icon={icon} size={15} />
    </button>
  );
}

function Gutter({ notebook, cell, index, readOnly, run }: CellProps & { run: () => void }) {
  if (cell.kind.value === "text") return <div class="gutter" />;
  const { phase, count } = cell.state.value;
  const busy = phase === "running" || phase === "queued";
  const label = phase === "running" ? `Interrupt cell ${index + 1}` : `Run cell ${index + 1}`;
  return (
    <div class="gutter">
      {!readOnly && (
        <button
          type="button"
          class="tool run"
          title={phase === "running" ? "Interrupt" : "Run (Shift+Enter)"}
          aria-label={label}
          disabled={phase === "queued"}
          onClick={phase === "running" ? () => void notebook.context.interrupt() : run}
        >
          {busy && <i class="spin" aria-hidden="true" />}
          <Icon icon={phase === "running" ? Square : Play} size={phase === "running" ? 11 : 15} />
        </button>
      )}
      <span class="count">{phase === "queued" ? "waits" : count === undefined ? "" : `[${count}]`}</span>
    </div>
  );
}

interface EditorProps extends CellProps {
  label: string;
  run(then: "next" | "stay" | "insert"): void;
  leave(): void;
  takesFocus: boolean;
}

function Editor({ notebook, cell, focus, readOnly, label, run, leave, activate, takesFocus }: EditorProps) {
  const host = useRef<HTMLDivElement>(null);
  const editor = useRef<CellEditor | undefined>(undefined);
  const actions = useRef({ run, leave });
  actions.current = { run, leave };
  const kind = cell.kind.value;
  const language = useComputed(() =>
    cell.kind.value === "text" ? "markdown" : notebook.context.language.value,
  );
  useLayoutEffect(() => {
    if (!host.current) return;
    const made = new CellEditor(host.current, {
      text: cell.source.peek(),
      label: `Source of ${label}`,
      hint: kind === "text" ? "Markdown" : "",
      readOnly,
      changed: text => notebook.edit(cell, text),
      run: then => actions.current.run(then),
      leave: to => {
        if (to === "cell") actions.current.leave();
        else focus.step(cell, to === "up" ? -1 : 1, "editor");
      },
      focused: activate,
      complete: async (text, cursor) =>
        cell.kind.peek() === "code" ? notebook.context.complete(text, cursor) : undefined,
    });
    editor.current = made;
    void made.highlight(language.peek());
    const element = host.current.closest<HTMLElement>(".cell");
    if (element) focus.register(cell.id, { element, focus: at => made.focus(at) });
    if (takesFocus) made.focus("end");
    return () => {
      made.dispose();
      editor.current = undefined;
    };
  }, [cell, kind, readOnly]);
  useLayoutEffect(() => editor.current?.rename(`Source of ${label}`), [label]);
  useSignalEffect(() => {
    const text = cell.source.value;
    editor.current?.show(text);
  });
  useSignalEffect(() => {
    const name = language.value;
    void editor.current?.highlight(name);
  });
  return <div ref={host} class="source" />;
}

interface ResultsProps {
  notebook: Notebook;
  cell: Cell;
  label: string;
  readOnly: boolean;
}

function Results({ notebook, cell, label, readOnly }: ResultsProps) {
  const outputs = cell.outputs.value;
  const state = cell.state.value;
  const note = noteOf(state);
  if (outputs.length === 0 && !state.input && !note) return null;
  return (
    // biome-ignore lint/a11y/useSemanticElements: an `output` element is a live region of forms
    <div class="outputs" role="group" aria-label={`Output of ${label}`}>
      {outputs.map((output, index) => (
        <OutputView key={`${output.kind} ${index}`} output={output} label={label} />
      ))}
      {state.input && !readOnly && (
        <InputLine
          key={state.input.request}
          request={state.input}
          send={line => void notebook.answer(cell, line)}
        />
      )}
      {note && <p class={`run-end ${state.status ?? ""}`}>{note}</p>}
    </div>
  );
}

/** Returns the note shown below the output about how a run ended. Most runs don't need one. */
function noteOf({ phase, status, duration = 0, problem }: CellState): string {
  if (phase !== "ended") return "";
  const words = {
    interrupted: "Interrupted",
    timed_out: "Timed out",
    crashed: "The executor has ended",
    stopped: "Stopped",
  };
  const how = status === undefined || status === "ok" || status === "error" ? "" : words[status];
  const time = duration >= 1 ? durationText(duration) : "";
  return [how, problem, time].filter(Boolean).join(" · ");
}

export function durationText(seconds: number): string {
  if (seconds < 60) return `${seconds.toFixed(1)} s`;
  const minutes = Math.floor(seconds / 60);
  return `${minutes} min ${Math.round(seconds - minutes * 60)} s`;
}

function InputLine({ request, send }: { request: CodeInputRequest; send: (line: string) => void }) {
  const field = useRef<HTMLInputElement>(null);
  useEffect(() => field.current?.focus(), []);
  const prompt = request.prompt || "Input";
  return (
    <form
      class="input-line"
      onSubmit={event => {
        event.preventDefault();
        send(field.current?.value ?? "");
      }}
    >
      <label>
        <span>{prompt}</span>
        <input
          ref={field}
          {...(request.password ? { type: "password" } : { type: "text" })}
          autocomplete="off"
          spellcheck={false}
          maxLength={65_536}
        />
      </label>
      <button type="submit" class="plain">
        Send
      </button>
    </form>
  );
}
