// Registers the views and the kinds of panes that are not terminals. Each is a chunk that loads when it is first shown.

import { Cpu, FileText, Folder, Logs } from "lucide";
import type { Registry } from "../frame/registry";

export function registerViews(registry: Registry): void {
  registry.addRail({
    id: "files",
    label: "Files",
    icon: Folder,
    keys: "$mod+Shift+E",
    load: async () => (await import("./files/files-view")).FilesView,
  });
  registry.addRail({
    id: "processes",
    label: "Processes",
    icon: Cpu,
    load: async () => (await import("./processes/processes-view")).ProcessesView,
  });
  registry.addPane({
    kind: "log",
    icon: Logs,
    load: async () => {
      const { LogPane } = await import("./processes/log-pane");
      return (app, state) => new LogPane(app, state);
    },
  });
  registry.addPane({
    kind: "editor",
    icon: FileText,
    load: async () => {
      const { EditorPane } = await import("./files/editor-pane");
      return (app, state) => new EditorPane(app, state);
    },
  });
}
