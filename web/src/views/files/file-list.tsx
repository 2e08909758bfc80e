// The rows of the tree. Only visible rows are in the document, so a directory can have 50,000 entries.

import { type ReadonlySignal, type Signal, useSignal } from "@preact/signals";
import { ChevronDown, ChevronRight, File, FileSymlink, Folder, FolderOpen, HardDrive } from "lucide";
import { useEffect, useRef } from "preact/hooks";
import { visible } from "../../base/visible";
import { Icon } from "../../frame/icon";
import type { MenuPlace } from "../../frame/menu";
import type { MountInfo } from "../../wire/methods";
import { LETTERS } from "./git-marks";
import { describeMount, type Mounts, stateOf } from "./mounts";
import { type FileTree, parentOf, type Row } from "./tree";

/** Height of a row in pixels, for a mouse and for a touch screen. */
const HEIGHT = matchMedia("(pointer: coarse)").matches ? 44 : 26;
/** Number of rows to draw above and below the visible ones. */
const MARGIN = 8;

interface Props {
  tree: FileTree;
  mounts: ReadonlySignal<Mounts>;
  selected: Signal<Row | undefined>;
  /** `beside` opens the file in a new pane instead of replacing the file that is shown. */
  open: (row: Row, beside: boolean) => void;
  rename: (row: Row) => void;
  remove: (row: Row) => void;
  /** Shows the menu for a row. */
  menu: (row: Row, where: MenuPlace) => void;
  readOnly: boolean;
}

export function FileList({ tree, mounts, selected, open, rename, remove, menu, readOnly }: Props) {
  const list = useRef<HTMLDivElement>(null);
  const top = useSignal(0);
  const height = useSignal(600);
  useEffect(() => {
    const element = list.current;
    if (!element) return;
    const observer = new ResizeObserver(() => {
      height.value = element.clientHeight;
    });
    observer.observe(element);
    return () => observer.disconnect();
  }, []);

  const rows = tree.rows.value;
  const at = rows.findIndex(({ path }) => path === selected.value?.path);
  const first = Math.max(0, Math.floor(top.value / HEIGHT) - MARGIN);
  const last = Math.min(rows.length, Math.ceil((top.value + height.value) / HEIGHT) + MARGIN);

  const select = (index: number) => {
    const row = rows[Math.min(rows.length - 1, Math.max(0, index))];
    if (!row) return;
    selected.value = row;
    const element = list.current;
    if (!element) return;
    const y = rows.indexOf(row) * HEIGHT;
    if (y < element.scrollTop) element.scrollTop = y;
    else if (y + HEIGHT > element.scrollTop + element.clientHeight)
      element.scrollTop = y + HEIGHT - element.clientHeight;
  };
  const activate = (row: Row, beside = false) => {
    if (row.entry.type !== "directory") open(row, beside);
    else if (row.expanded) tree.collapse(row.path);
    else void tree.expand(row.path);
  };
  const keys: Record<string, (row: Row) => void> = {
    ArrowDown: () => select(at + 1),
    ArrowUp: () => select(at - 1),
    Home: () => select(0),
    End: () => select(rows.length - 1),
    PageDown: () => select(at + Math.floor(height.value / HEIGHT)),
    PageUp: () => select(at - Math.floor(height.value / HEIGHT)),
    Enter: row => activate(row),
    ArrowRight: row => (row.expanded ? select(at + 1) : row.entry.type === "directory" && activate(row)),
    ArrowLeft: row =>
      row.expanded
        ? tree.collapse(row.path)
        : select(rows.findIndex(({ path }) => path === parentOf(row.path))),
    ...(readOnly ? {} : { F2: rename, Delete: remove }),
  };

  return (
    <>
      {/* A tree may contain only tree items. */}
      {rows.length === 0 && <p class="empty">Nothing here yet. Drop files to upload them.</p>}
      <div
        ref={list}
        class="tree"
        role="tree"
        aria-label="Files"
        aria-activedescendant={at >= first && at < last ? `file-${at}` : undefined}
        tabIndex={0}
        onScroll={({ currentTarget }) => {
          top.value = currentTarget.scrollTop;
        }}
        onFocus={() => at < 0 && select(0)}
        onContextMenu={event => {
          // If the menu was requested with the keyboard, the target is the tree, so the menu is for the active row.
          const id = event.target === list.current ? `file-${at}` : closestRow(event.target);
          const row = rows[Number(id?.slice("file-".length))];
          if (!row) return;
          event.preventDefault();
          selected.value = row;
          const { left = 0, bottom = 0 } = document.getElementById(id ?? "")?.getBoundingClientRect() ?? {};
          const byPointer = event.target !== list.current;
          menu(row, byPointer ? { x: event.clientX, y: event.clientY } : { x: left, y: bottom });
        }}
        onKeyDown={event => {
          const row = rows[at];
          const key = keys[event.key];
          const modified = event.ctrlKey || event.metaKey;
          if (!key || !row || event.altKey || (modified && event.key !== "Enter")) return;
          event.preventDefault();
          if (modified) activate(row, true);
          else key(row);
        }}
      >
        <div role="presentation" style={{ height: `${rows.length * HEIGHT}px` }}>
          {rows.slice(first, last).map((row, index) => (
            <FileRow
              key={row.path}
              row={row}
              mount={mounts.value.get(row.path)}
              id={`file-${first + index}`}
              y={(first + index) * HEIGHT}
              selected={first + index === at}
              onClick={beside => {
                selected.value = row;
                activate(row, beside);
              }}
            />
          ))}
        </div>
      </div>
    </>
  );
}

function closestRow(target: EventTarget | null): string | undefined {
  return target instanceof Element ? target.closest(".file-row")?.id : undefined;
}

interface RowProps {
  row: Row;
  mount: MountInfo | undefined;
  id: string;
  y: number;
  selected: boolean;
  onClick: (beside: boolean) => void;
}

function FileRow({ row, mount, id, y, selected, onClick }: RowProps) {
  const directory = row.entry.type === "directory";
  const [letter, meaning] = row.mark ? LETTERS[row.mark] : ["", ""];
  const about = mount && visible(describeMount(mount));
  const icon = mount
    ? HardDrive
    : directory
      ? row.expanded
        ? FolderOpen
        : Folder
      : row.entry.type === "symlink"
        ? FileSymlink
        : File;
  return (
    // biome-ignore lint/a11y/useFocusableInteractive: the tree has the focus, and names its active row
    // biome-ignore lint/a11y/useKeyWithClickEvents: the tree handles the keys
    <div
      id={id}
      class="file-row"
      role="treeitem"
      aria-level={row.depth + 1}
      aria-selected={selected}
      aria-expanded={directory ? row.expanded : undefined}
      data-folder={directory ? row.path : parentOf(row.path)}
      data-mark={row.mark}
      data-hidden={row.name.startsWith(".") || undefined}
      data-mount={mount && (mount.state ?? "waiting")}
      title={about ? `${visible(row.path)}\n${about}` : visible(row.path)}
      style={{
        height: `${HEIGHT}px`,
        transform: `translateY(${y}px)`,
        paddingInlineStart: `${6 + row.depth * 14}px`,
      }}
      onClick={event => onClick(event.ctrlKey || event.metaKey)}
    >
      <span class="twist">
        {directory && <Icon icon={row.expanded ? ChevronDown : ChevronRight} size={14} />}
      </span>
      <Icon icon={icon} size={15} />
      <span class="name">{visible(row.name)}</span>
      {mount && (
        <span class="mount">
          <span aria-hidden="true">{stateOf(mount)}</span>
          <span class="unseen">{about}</span>
        </span>
      )}
      {letter && (
        <span class="mark" title={meaning}>
          {directory ? "•" : letter}
          <span class="unseen">{meaning}</span>
        </span>
      )}
    </div>
  );
}
