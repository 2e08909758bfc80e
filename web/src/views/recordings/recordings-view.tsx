// Recordings in the rail: the sandbox's recordings with their titles, recordings in progress, and a field for starting
// one.

import { errorText } from "../../client/error-text";
import { sandboxHandle } from "../../client/sandbox";
import "../style/views.css";
import "../style/rail-list.css";
import "../style/recordings.css";
import { signal, useSignal } from "@preact/signals";
import { CircleDot, CircleStop, Download, ExternalLink, Trash2 } from "lucide";
import { useEffect, useMemo } from "preact/hooks";
import { Icon } from "../../frame/icon";
import type { RailProps } from "../../frame/pane";
import { downloadRecording } from "../../player/download";
import type { RecordingInfo } from "../../wire/methods";
import { attempt } from "../attempt";
import { follow } from "../follow";
import { describe, findRecordings, titleOf } from "./describe";

export function RecordingsView({ app }: RailProps) {
  const box = useMemo(() => sandboxHandle(app.client, app.sandbox), [app]);
  const list = useMemo(() => signal<readonly RecordingInfo[] | undefined>(undefined), [box]);
  const text = useSignal("");
  const act = (work: () => Promise<unknown>) => void attempt(app, work);
  const refresh = async () => {
    list.value = (await box.recording.list({})).recordings;
  };
  useEffect(() => {
    // Each event reports the start or the end of a recording.
    const following = follow({
      open: () => box.recording.watch({}),
      item: () => act(refresh),
      failed: error => app.toast(errorText(error)),
    });
    return () => following.dispose();
  }, [box]);

  const all = list.value;
  const found = all && findRecordings(all, text.value);
  const terminal = app.terminal.value;
  const active = all?.some(info => info.state === "recording" && info.terminal === terminal);
  return (
    <div class="view rail-list recordings">
      {!app.readOnly.value && (
        <form
          onSubmit={event => {
            event.preventDefault();
            const field = event.currentTarget.elements.namedItem("title") as HTMLInputElement;
            const title = field.value.trim();
            field.value = "";
            act(async () => {
              await box.recording.start({ terminal, ...(title ? { title } : {}) });
              app.toast("Recording started. All viewers can see that.");
            });
          }}
        >
          <input
            name="title"
            maxLength={200}
            placeholder="Title"
            title={`Records the terminal ${terminal}`}
            aria-label="Title of a new recording"
            autocomplete="off"
          />
          <button type="submit" disabled={active} title={active ? `${terminal} is already recorded` : ""}>
            <Icon icon={CircleDot} size={15} />
            Record
          </button>
        </form>
      )}
      {all && all.length > 0 && (
        <input
          type="search"
          placeholder="Find a recording"
          aria-label="Find a recording"
          value={text.value}
          onInput={({ currentTarget }) => {
            text.value = currentTarget.value;
          }}
        />
      )}
      {found?.length === 0 && (
        <p class="empty" role="status">
          {all?.length ? "No recording has this title." : "There are no recordings yet."}
        </p>
      )}
      <ul aria-label="Recordings">
        {found?.map(info => (
          <Recording
            key={info.id}
            info={info}
            page={pageOf(app.sandbox, info.id)}
            open={() => app.open("recording", { id: info.id }, "right")}
            download={() => act(() => downloadRecording(app.sandbox, info.id, app.ticket))}
            {...(app.readOnly.value
              ? {}
              : {
                  stop: () => act(() => box.recording.stop({ id: info.id })),
                  remove: () => {
                    if (!confirm(`Delete the recording "${titleOf(info)}"?`)) return;
                    act(async () => {
                      await box.recording.delete({ id: info.id });
                      await refresh();
                    });
                  },
                })}
          />
        ))}
      </ul>
    </div>
  );
}

/** The address of a page that shows only this recording. */
function pageOf(sandbox: string, id: string): string {
  const url = new URL(".", document.baseURI);
  url.searchParams.set("recording", id);
  url.searchParams.set("sandbox", sandbox);
  return url.href;
}

interface Props {
  info: RecordingInfo;
  page: string;
  open: () => void;
  download: () => void;
  stop?: () => void;
  remove?: () => void;
}

function Recording({ info, page, open, download, stop, remove }: Props) {
  const title = titleOf(info);
  const running = info.state === "recording";
  const tool = (label: string, icon: typeof Download, run: () => void) => (
    <button type="button" class="tool" title={label} aria-label={`${label}: ${title}`} onClick={run}>
      <Icon icon={icon} size={16} />
    </button>
  );
  return (
    <li data-state={info.state}>
      <i class="dot" aria-hidden="true" />
      <button type="button" class="what" title={`Play ${title}`} onClick={open}>
        <strong>{title}</strong>
        <span>{describe(info)}</span>
      </button>
      <div class="tools">
        {running && stop && tool("Stop recording", CircleStop, stop)}
        <a class="tool" href={page} title="Open as a page" aria-label={`Open as a page: ${title}`}>
          <Icon icon={ExternalLink} size={16} />
        </a>
        {tool("Download", Download, download)}
        {!running && remove && tool("Delete", Trash2, remove)}
      </div>
    </li>
  );
}
