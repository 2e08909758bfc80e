// The palette and the list of shortcuts, with their styles and icons. They're in a separate chunk because they aren't
// needed before the first prompt.

import "../style/action-lists.css";
import "../style/sheet.css";
import {
  AArrowDown,
  AArrowUp,
  CircleDot,
  Columns2,
  FileSearch,
  Flag,
  House,
  type IconNode,
  Keyboard,
  Link,
  ListVideo,
  Lock,
  LogOut,
  NotebookPen,
  PanelLeft,
  PersonStanding,
  Plus,
  Rows2,
  Search,
  Settings2,
  Share2,
  SunMoon,
  Terminal as TerminalIcon,
  X,
} from "lucide";

export { openPalette } from "../../frame/palette";
export { showShortcuts } from "../../frame/shortcuts";

/** Icons for the actions in `page-actions.ts`, keyed by action id. */
export const ACTION_ICONS: Readonly<Record<string, IconNode>> = {
  palette: Keyboard,
  "quick-open": FileSearch,
  "terminal.new": Plus,
  "notebook.new": NotebookPen,
  "split.right": Columns2,
  "split.below": Rows2,
  "pane.close": X,
  find: Search,
  clear: TerminalIcon,
  record: CircleDot,
  mark: Flag,
  recordings: ListVideo,
  lease: Lock,
  share: Share2,
  "link.view": Link,
  link: Link,
  rail: PanelLeft,
  larger: AArrowUp,
  smaller: AArrowDown,
  theme: SunMoon,
  reader: PersonStanding,
  shortcuts: Keyboard,
  settings: Settings2,
  home: House,
  "sign-out": LogOut,
};
