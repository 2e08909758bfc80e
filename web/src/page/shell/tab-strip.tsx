// The tab strip. Each tab is a link, so it can be opened in a browser tab with Ctrl+click, and its address can be
// copied. The strip is one Tab stop: arrow keys, Home and End move between the tabs, and Delete closes one.

import type { ReadonlySignal } from "@preact/signals";
import { ChevronDown, List, Plus, X } from "lucide";
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { visible } from "../../base/visible";
import { Icon } from "../../frame/icon";
import type { MenuItem } from "../../frame/menu";
import type { PaneStatus } from "../../frame/pane";
import { leavesOf } from "../../frame/tree";
import { type Tab, terminalOf, type Workspace } from "../../frame/workspace";
import type { TerminalInfo } from "../../wire/methods";
import { asks, labelsOf } from "./terminal-list";

type Labels = ReadonlyMap<string, string>;

export interface TabStripProps {
  workspace: Workspace;
  terminals: ReadonlySignal<readonly TerminalInfo[]>;
  readOnly: ReadonlySignal<boolean>;
  /** Returns a tab's address. */
  href: (tab: Tab) => string;
  open: () => void;
  /** Shows a menu below an element, listing the other things that can be opened. */
  more: (from: HTMLElement) => void;
  /** Shows a menu below an element, listing the tabs. */
  list: (from: HTMLElement, tabs: MenuItem[]) => void;
  close: (tab: Tab) => void;
  menu: (tab: Tab, event: MouseEvent) => void;
}

export function TabStrip(props: TabStripProps) {
  const { workspace, terminals, readOnly, open, more, list } = props;
  const current = workspace.current.value?.key;
  const labels = labelsOf(terminals.value);
  const strip = useRef<HTMLUListElement>(null);
  const [overflows, setOverflows] = useState(false);
  const measure = () => setOverflows(isOverflowing(strip.current));
  useLayoutEffect(measure);
  useEffect(() => {
    const observer = new ResizeObserver(() => {
      measure();
      reveal(strip.current?.querySelector(".current"));
    });
    if (strip.current) observer.observe(strip.current);
    return () => observer.disconnect();
  }, []);
  const items = () =>
    workspace.tabs.value.map(tab => ({
      label: labelOf(tab, props, labels),
      checked: tab.key === current,
      run: () => select(workspace, tab),
    }));
  return (
    <>
      <ul id="tab-list" ref={strip} onKeyDown={move}>
        {workspace.tabs.value.map(tab => (
          <TabItem key={tab.key} tab={tab} current={tab.key === current} labels={labels} {...props} />
        ))}
      </ul>
      {overflows && (
        <button
          id="tabs-all"
          class="icon"
          type="button"
          title="All tabs"
          aria-label="All tabs"
          aria-haspopup="menu"
          onClick={event => list(event.currentTarget, items())}
        >
          <Icon icon={List} size={16} />
        </button>
      )}
      {!readOnly.value && (
        <span class="new">
          <button
            id="terminal-new"
            class="icon"
            type="button"
            title="New terminal"
            aria-label="New terminal"
            onClick={open}
          >
            <Icon icon={Plus} size={16} />
          </button>
          <button
            id="new-menu"
            class="icon"
            type="button"
            title="New…"
            aria-label="New…"
            aria-haspopup="menu"
            onClick={event => more(event.currentTarget)}
          >
            <Icon icon={ChevronDown} size={12} />
          </button>
        </span>
      )}
    </>
  );
}

interface ItemProps extends TabStripProps {
  tab: Tab;
  current: boolean;
  labels: Labels;
}

/** Returns the status of a terminal whose pane isn't open. */
function statusOf(info: TerminalInfo | undefined): PaneStatus {
  if (asks(info?.waiting)) return "attention";
  return info?.state === "running" ? "running" : "idle";
}

function activeIn(tab: Tab, workspace: Workspace) {
  const leaves = leavesOf(tab.tree);
  const leaf = leaves.find(({ id }) => id === tab.active) ?? leaves[0];
  const pane = workspace.panes.value.get(leaf?.id ?? 0);
  const terminal = leaf?.kind === "terminal" ? leaf.state.id : undefined;
  return { leaves, leaf, pane, terminal };
}

function labelOf(tab: Tab, { workspace }: TabStripProps, labels: Labels): string {
  const { leaf, pane, terminal } = activeIn(tab, workspace);
  const title = (terminal && labels.get(terminal)) || pane?.title.value || terminal;
  // The file's name is shown until the pane has been loaded and has a title.
  const file = leaf?.state.path?.split("/").at(-1);
  return visible(title || file || leaf?.kind || "");
}

function isOverflowing(list: HTMLElement | null): boolean {
  return list !== null && list.scrollWidth > list.clientWidth + 1;
}

function reveal(tab: Element | null | undefined): void {
  tab?.scrollIntoView({ block: "nearest", inline: "nearest" });
}

function select(workspace: Workspace, tab: Tab): void {
  workspace.select(tab.key);
  workspace.active.peek()?.focus(); // if the pane is already loaded, selecting its tab doesn't focus it
}

/** Moves the focus between the tabs. */
function move(event: KeyboardEvent): void {
  const tabs = [...(event.currentTarget as HTMLElement).querySelectorAll("a")];
  const at = tabs.indexOf(event.target as HTMLAnchorElement);
  const to: Record<string, number> = {
    ArrowLeft: Math.max(0, at - 1),
    ArrowRight: Math.min(tabs.length - 1, at + 1),
    Home: 0,
    End: tabs.length - 1,
  };
  const next = to[event.key];
  if (at < 0 || next === undefined || event.ctrlKey || event.altKey || event.metaKey) return;
  event.preventDefault();
  tabs[next]?.focus();
}

function TabItem(props: ItemProps) {
  const { tab, current, labels, workspace, terminals, readOnly, href, close, menu } = props;
  const item = useRef<HTMLLIElement>(null);
  const { leaves, pane, terminal } = activeIn(tab, workspace);
  const info = terminals.value.find(({ id }) => id === terminal);
  const label = labelOf(tab, props, labels);
  const count = workspace.tabs.value.length;
  useEffect(() => {
    if (current) reveal(item.current);
  }, [current, label, count]);
  const status: PaneStatus = pane?.status.value ?? statusOf(info);
  const progress = pane?.progress?.value;
  const name = terminalOf(tab.tree) ?? tab.key;
  return (
    <li
      ref={item}
      class={current ? "current" : ""}
      title={info ? `${info.id} in ${visible(info.cwd)}` : label}
      data-progress={progress?.kind}
      style={{ "--progress": progress?.percent }}
    >
      <a
        id={`tab-of-${name}`}
        href={href(tab)}
        tabIndex={current ? 0 : -1}
        aria-current={current ? "page" : undefined}
        onContextMenu={event => menu(tab, event)}
        onClick={event => {
          if (event.ctrlKey || event.metaKey || event.shiftKey || event.button !== 0) return;
          event.preventDefault();
          select(workspace, tab);
        }}
        onKeyDown={event => {
          if (event.key !== "Delete" || readOnly.value) return;
          event.preventDefault();
          close(tab);
        }}
        onAuxClick={event => {
          if (event.button !== 1 || readOnly.value) return;
          event.preventDefault();
          close(tab);
        }}
      >
        <i class={`status ${status}`} />
        <span>{label}</span>
        {leaves.length > 1 && <small title={`${leaves.length} panes`}>{leaves.length}</small>}
      </a>
      {!readOnly.value && (
        <button
          id={`close-of-${name}`}
          class="icon"
          type="button"
          tabIndex={-1}
          title="Close"
          aria-label={`Close ${label}`}
          onClick={() => close(tab)}
        >
          <Icon icon={X} size={14} />
        </button>
      )}
    </li>
  );
}
