// The tab strip. Each tab is a link, so it can be opened in a browser tab with Ctrl+click, and its address can be
// copied.

import type { ReadonlySignal } from "@preact/signals";
import { ChevronDown, Plus, X } from "lucide";
import { useEffect, useRef } from "preact/hooks";
import { visible } from "../../base/visible";
import { Icon } from "../../frame/icon";
import type { PaneStatus } from "../../frame/pane";
import { leavesOf } from "../../frame/tree";
import { type Tab, terminalOf, type Workspace } from "../../frame/workspace";
import type { TerminalInfo } from "../../wire/methods";
import { asks, labelsOf } from "./terminal-list";

export interface TabStripProps {
  workspace: Workspace;
  terminals: ReadonlySignal<readonly TerminalInfo[]>;
  readOnly: ReadonlySignal<boolean>;
  /** Returns a tab's address. */
  href: (tab: Tab) => string;
  open: () => void;
  /** Shows a menu below an element, listing the other things that can be opened. */
  more: (from: HTMLElement) => void;
  close: (tab: Tab) => void;
  menu: (tab: Tab, event: MouseEvent) => void;
}

export function TabStrip(props: TabStripProps) {
  const { workspace, terminals, readOnly, open, more } = props;
  const current = workspace.current.value?.key;
  const labels = labelsOf(terminals.value);
  return (
    <>
      <ul id="tab-list">
        {workspace.tabs.value.map(tab => (
          <TabItem key={tab.key} tab={tab} current={tab.key === current} labels={labels} {...props} />
        ))}
      </ul>
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
  labels: ReadonlyMap<string, string>;
}

/** Returns the status of a terminal whose pane isn't open. */
function statusOf(info: TerminalInfo | undefined): PaneStatus {
  if (asks(info?.waiting)) return "attention";
  return info?.state === "running" ? "running" : "idle";
}

function TabItem({ tab, current, labels, workspace, terminals, readOnly, href, close, menu }: ItemProps) {
  const item = useRef<HTMLLIElement>(null);
  useEffect(() => {
    if (current) item.current?.scrollIntoView({ block: "nearest", inline: "nearest" });
  }, [current]);
  const leaves = leavesOf(tab.tree);
  const leaf = leaves.find(({ id }) => id === tab.active) ?? leaves[0];
  const pane = workspace.panes.value.get(leaf?.id ?? 0);
  const terminal = leaf?.kind === "terminal" ? leaf.state.id : undefined;
  const info = terminals.value.find(({ id }) => id === terminal);
  const label = visible(
    (terminal && labels.get(terminal)) || pane?.title.value || terminal || leaf?.kind || "",
  );
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
        aria-current={current ? "page" : undefined}
        onContextMenu={event => menu(tab, event)}
        onClick={event => {
          if (event.ctrlKey || event.metaKey || event.shiftKey || event.button !== 0) return;
          event.preventDefault();
          workspace.select(tab.key);
          workspace.active.peek()?.focus(); // a tab that has been shown before doesn't focus its pane by itself
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
