// Files in the rail: a tree that follows changes live, uploads by dropping, and file actions.

import { visible } from "../../base/visible";
import { errorText } from "../../client/error-text";
import { sandboxHandle } from "../../client/sandbox";
import "../style/views.css";
import "../style/files.css";
import { signal } from "@preact/signals";
import { Download, Ellipsis, FilePlus, FolderPlus, RefreshCw, Upload } from "lucide";
import { useEffect, useMemo, useRef } from "preact/hooks";
import { Icon } from "../../frame/icon";
import { type MenuPlace, openMenu } from "../../frame/menu";
import type { AppContext, RailProps } from "../../frame/pane";
import { ask } from "../../frame/question";
import { HawseError } from "../../wire/errors";
import { saveBlob } from "../save";
import { FileList } from "./file-list";
import { MountList } from "./mounts";
import { openFile } from "./open-file";
import { FileTree, join, parentOf, type Row } from "./tree";
import { uploadHost } from "./upload-host";
import type { UploadFile } from "./uploads";

/** The last state, kept because the view is rebuilt each time it's shown. */
const remembered = { expanded: [] as readonly string[], selected: signal<Row | undefined>(undefined) };

export function FilesView({ app }: RailProps) {
  const box = useMemo(() => sandboxHandle(app.client, app.sandbox), [app]);
  const tree = useMemo(() => new FileTree(box), [box]);
  const uploads = useMemo(() => uploadHost(app), [app]);
  const mounts = useMemo(
    () =>
      new MountList(
        async () => (await app.client.call("mount.list", { sandbox: app.sandbox }, { timeout: 10 })).mounts,
      ),
    [app],
  );
  const { selected } = remembered;
  const picker = useRef<HTMLInputElement>(null);
  useEffect(() => {
    for (const path of ["", ...remembered.expanded]) void tree.expand(path);
    void mounts.start();
    return () => {
      remembered.expanded = tree.expanded;
      tree.dispose();
      mounts.dispose();
    };
  }, [tree, mounts]);

  const directory = () => {
    const row = selected.value;
    if (!row) return "";
    return row.entry.type === "directory" ? row.path : parentOf(row.path);
  };
  const upload = async (into: string, files: readonly UploadFile[]) => {
    if (into) void tree.expand(into);
    await uploads.upload(into, files);
    await tree.reload(into);
  };
  const create = async (kind: "file" | "directory") => {
    const name = prompt(kind === "file" ? "Name of the new file" : "Name of the new directory");
    if (!name) return;
    const path = join(directory(), name);
    if (kind === "file") await box.write(path, "", { if_version: "" });
    else await box.file.mkdir({ path, parents: true });
    await tree.reload(parentOf(path));
    if (kind === "file") openFile(app, path);
  };
  const download = async () => {
    const row = selected.value;
    if (row && row.entry.type !== "directory") return saveBlob(row.name, box.read(row.path));
    const stream = box.file.archive({ path: row?.path ?? ".", format: "tar.gz" });
    await saveBlob(`${row?.name ?? app.sandbox}.tar.gz`, bytesOf(stream));
  };
  const menu = (row: Row, where: MenuPlace | HTMLElement) => {
    const file = row.entry.type !== "directory";
    const open = (beside: boolean) => openFile(app, row.path, { beside });
    const shown = [
      ...(file ? [{ label: "Open", run: () => open(false) }] : []),
      ...(file ? [{ label: "Open in a new pane", hint: "Ctrl+Enter", run: () => open(true) }] : []),
      { label: "Download", run: () => act(download) },
    ];
    const changes = [
      { label: "Rename", hint: "F2", run: () => act(() => rename(row)) },
      { label: "Delete", hint: "Delete", run: () => act(() => remove(row)) },
    ];
    openMenu(row.name, [shown, app.readOnly.value ? [] : changes], where);
  };
  const act = (work: () => Promise<unknown>) => void reported(app, work);
  const button = (label: string, icon: typeof Upload, work: () => void) => (
    <button type="button" class="tool" title={label} aria-label={label} onClick={work}>
      <Icon icon={icon} size={16} />
    </button>
  );

  return (
    <div class="view files" data-folder="">
      <div class="toolbar" role="toolbar" aria-label="Files">
        {!app.readOnly.value && button("New file", FilePlus, () => act(() => create("file")))}
        {!app.readOnly.value && button("New directory", FolderPlus, () => act(() => create("directory")))}
        {!app.readOnly.value && button("Upload files", Upload, () => picker.current?.click())}
        {button("Download the selection", Download, () => act(download))}
        {selected.value && (
          <button
            type="button"
            class="tool"
            title="Actions for the selection"
            aria-label="Actions for the selection"
            aria-haspopup="menu"
            onClick={({ currentTarget }) => selected.value && menu(selected.value, currentTarget)}
          >
            <Icon icon={Ellipsis} size={16} />
          </button>
        )}
        {button("Reload", RefreshCw, () =>
          act(() => Promise.all([tree.reload(directory()), mounts.start()])),
        )}
      </div>
      <input
        ref={picker}
        type="file"
        multiple
        hidden
        onChange={({ currentTarget }) => {
          const files = [...(currentTarget.files ?? [])].map(file => ({ path: file.name, content: file }));
          currentTarget.value = "";
          if (files.length > 0) act(() => upload(directory(), files));
        }}
      />
      {tree.error.value && (
        <p role="alert" class="problem">
          {visible(tree.error.value)}
        </p>
      )}
      <FileList
        tree={tree}
        mounts={mounts.mounts}
        selected={selected}
        open={(row, beside) => openFile(app, row.path, { beside })}
        rename={row => act(() => rename(row))}
        remove={row => act(() => remove(row))}
        menu={menu}
        readOnly={app.readOnly.value}
      />
    </div>
  );

  async function rename(row: Row): Promise<void> {
    const name = prompt("New name", row.name);
    if (!name || name === row.name) return;
    await box.file.move({ path: row.path, to: join(parentOf(row.path), name) });
    await tree.reload(parentOf(row.path));
  }

  async function remove(row: Row): Promise<void> {
    const directory = row.entry.type === "directory";
    const { yes } = await ask({
      title: `Delete ${visible(row.name)}?`,
      text: directory ? "Everything in this directory is deleted too." : "The file cannot be restored.",
      quote: row.path,
      no: "Cancel",
      yes: "Delete",
      danger: true,
    });
    if (!yes) return;
    await box.file.delete({ path: row.path, recursive: directory });
    selected.value = undefined;
    await tree.reload(parentOf(row.path));
  }
}

/** Shows any HawseError thrown by `work` as a message. */
async function reported(app: AppContext, work: () => Promise<unknown>): Promise<void> {
  try {
    await work();
  } catch (error) {
    if (!(error instanceof HawseError)) throw error;
    app.toast(errorText(error));
  }
}

async function* bytesOf(stream: AsyncIterable<{ event: string }>): AsyncGenerator<Uint8Array, void> {
  for await (const item of stream) {
    if (item.event === "data") yield (item as unknown as { bytes: Uint8Array }).bytes;
  }
}
