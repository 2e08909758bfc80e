// The line at the bottom. It shows where the user is and whatever needs attention, and leaves out anything that is as
// expected.

import type { ReadonlySignal } from "@preact/signals";
import { Box, Circle, Folder, GitBranch, PanelLeft } from "lucide";
import { visible } from "../base/visible";
import { Icon } from "../frame/icon";
import type { GitStatusResult, OpenPort } from "../wire/methods";
import type { Status } from "./status";
import type { ForeignSize } from "./terminal/terminal-options";

export interface StatusLineProps {
  sandbox: string;
  isolation: ReadonlySignal<string>;
  directory: ReadonlySignal<string>;
  git: ReadonlySignal<GitStatusResult | undefined>;
  ports: ReadonlySignal<readonly OpenPort[]>;
  /** Undefined if the terminal isn't being recorded. `input` is true if typed input is recorded as well. */
  recording: ReadonlySignal<{ input: boolean } | undefined>;
  /** The size of the active terminal if it doesn't fit here, and the viewer that determines it. */
  size: ReadonlySignal<ForeignSize | undefined>;
  status: ReadonlySignal<Status>;
  railOpen: ReadonlySignal<boolean>;
  toggleRail: () => void;
  showSandboxes: () => void;
  preview: (port: number) => void;
  useMySize: () => void;
}

/** Maximum number of ports to show; any others are shown as a number. */
const SHOWN_PORTS = 3;

export function StatusLine(props: StatusLineProps) {
  return (
    <>
      <button
        type="button"
        aria-pressed={props.railOpen.value}
        title="Show the rail"
        onClick={props.toggleRail}
      >
        <Icon icon={PanelLeft} size={14} />
        <span class="unseen">Rail</span>
      </button>
      <button type="button" title="Sandbox and its isolation" onClick={props.showSandboxes}>
        <Icon icon={Box} size={14} />
        <span>{props.sandbox}</span>
        {props.isolation.value && (
          <small class={props.isolation.value === "none" ? "warn" : ""}>
            {isolationText(props.isolation.value)}
          </small>
        )}
      </button>
      {props.directory.value && (
        <span class="fact directory" title="Directory of the shell">
          <Icon icon={Folder} size={14} />
          <bdi>{visible(props.directory.value)}</bdi>
        </span>
      )}
      <Branch {...props} />
      <span class="spring" />
      <Ports {...props} />
      <SizeFact {...props} />
      <Recording {...props} />
      <Connection {...props} />
    </>
  );
}

export function isolationText(isolation: string): string {
  return isolation === "none" ? "not isolated" : isolation;
}

function Branch({ git }: StatusLineProps) {
  const status = git.value;
  if (!status?.branch && !status?.commit) return null;
  const changes = status.entries?.length ?? 0;
  return (
    <span class="fact branch" title={changes ? `${changes} files differ from the last commit` : "No changes"}>
      <Icon icon={GitBranch} size={14} />
      {visible(status.branch ?? status.commit?.slice(0, 8) ?? "")}
      {changes > 0 && <small>±{changes}</small>}
      {!!status.ahead && <small>↑{status.ahead}</small>}
      {!!status.behind && <small>↓{status.behind}</small>}
    </span>
  );
}

function Ports({ ports, preview }: StatusLineProps) {
  const all = ports.value;
  if (all.length === 0) return null;
  return (
    <span class="ports-fact">
      {all.slice(0, SHOWN_PORTS).map(({ port, process }) => (
        <button
          key={port}
          type="button"
          title={`Open the preview of ${visible(process)}`}
          onClick={() => preview(port)}
        >
          {port} ↗
        </button>
      ))}
      {all.length > SHOWN_PORTS && <small>+{all.length - SHOWN_PORTS}</small>}
    </span>
  );
}

function SizeFact({ size, useMySize }: StatusLineProps) {
  const shown = size.value;
  if (!shown) return null;
  return (
    <span class="fact size">
      {shown.cols}×{shown.rows}
      <small>{shown.of ? `${visible(shown.of.name)}'s size` : "another size"}</small>
      {shown.mayUse && (
        <button type="button" onClick={useMySize}>
          Use mine
        </button>
      )}
    </span>
  );
}

function Recording({ recording }: StatusLineProps) {
  const on = recording.value;
  return (
    <span
      id="recording"
      class="recording"
      role="status"
      hidden={!on}
      title={
        on?.input ? "This terminal is being recorded, including all input" : "This terminal is being recorded"
      }
    >
      <i aria-hidden="true" />
      REC
    </span>
  );
}

function Connection({ status }: StatusLineProps) {
  const { kind, label, text } = status.value;
  return (
    <span id="pill" class={`fact pill ${kind}`} title={text} hidden={kind === "live"}>
      <Icon icon={Circle} size={10} />
      {label}
    </span>
  );
}
