// Registers the views and the kinds of panes other than terminals, and shows the rail. This chunk is loaded when the
// user first opens one of them; each view is a separate chunk.

import "./style/rail.css";
import { Cpu, Folder, Globe, ListVideo, Monitor, Search, Users } from "lucide";
import { h, render } from "preact";
import type { AppContext } from "../frame/pane";
import { Rail, type RailState } from "../frame/rail";
import type { Registry } from "../frame/registry";

/** `host` is the rail's element. */
export function addViews(registry: Registry, host: HTMLElement, rail: RailState, app: AppContext): void {
  registerViews(registry);
  for (const { id, label, icon } of registry.rail.value)
    registry.commands.push({ id: `view.${id}`, label: `Show ${label}`, icon, run: () => app.show(id) });
  registry.commands.push({
    id: "pane.desktop",
    label: "Open the desktop",
    icon: Monitor,
    run: () => app.open("desktop", {}, "tab"),
  });
  render(h(Rail, { registry, state: rail, app }), host);
}

export function registerViews(registry: Registry): void {
  registry.addRail({
    id: "files",
    label: "Files",
    icon: Folder,
    load: async () => (await import("./files/files-view")).FilesView,
  });
  registry.addRail({
    id: "search",
    label: "Search",
    icon: Search,
    load: async () => (await import("./search/search-view")).SearchView,
  });
  registry.addRail({
    id: "processes",
    label: "Processes",
    icon: Cpu,
    load: async () => (await import("./processes/processes-view")).ProcessesView,
  });
  registry.addRail({
    id: "ports",
    label: "Ports",
    icon: Globe,
    load: async () => (await import("./ports/ports-view")).PortsView,
  });
  registry.addRail({
    id: "recordings",
    label: "Recordings",
    icon: ListVideo,
    load: async () => (await import("./recordings/recordings-view")).RecordingsView,
  });
  registry.addRail({
    id: "people",
    label: "People",
    icon: Users,
    load: async () => (await import("./people/people-view")).PeopleView,
  });
  registry.addPane({
    kind: "desktop",
    load: async () => {
      const { DesktopPane } = await import("./desktop/desktop-pane");
      return (app, state) => new DesktopPane(app, state);
    },
  });
  registry.addPane({
    kind: "log",
    load: async () => {
      const { LogPane } = await import("./processes/log-pane");
      return (app, state) => new LogPane(app, state);
    },
  });
  registry.addPane({
    kind: "editor",
    load: async () => {
      const { EditorPane } = await import("./files/editor-pane");
      return (app, state) => new EditorPane(app, state);
    },
  });
  registry.addPane({
    kind: "notebook",
    load: async () => {
      const { NotebookPane } = await import("./notebook/notebook-pane");
      return (app, state) => new NotebookPane(app, state);
    },
  });
  registry.addPane({
    kind: "recording",
    load: async () => {
      const { RecordingPane } = await import("./recordings/recording-pane");
      return (app, state) => new RecordingPane(app, state);
    },
  });
  registry.addPane({
    kind: "preview",
    load: async () => {
      const { PreviewPane } = await import("./ports/preview-pane");
      return (app, state) => new PreviewPane(app, state);
    },
  });
}
