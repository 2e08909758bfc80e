// Takes files that are dropped anywhere on the page. Without it, the browser would leave the page and show the file.

import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { DisposableList } from "../../base/disposables";

interface Props {
  /** Returns the directory into which a drop goes. */
  label: () => string;
  onDrop: (data: DataTransfer) => void;
}

export function DropTarget({ label, onDrop }: Props) {
  const over = useSignal(false);
  useEffect(() => {
    const disposables = new DisposableList();
    const holdsFiles = (event: DragEvent) => event.dataTransfer?.types.includes("Files") ?? false;
    disposables.listen<DragEvent>(document, "dragover", event => {
      if (!holdsFiles(event)) return;
      event.preventDefault();
      over.value = true;
    });
    disposables.listen<DragEvent>(document, "dragleave", event => {
      if (!event.relatedTarget) over.value = false;
    });
    disposables.listen<DragEvent>(document, "drop", event => {
      over.value = false;
      if (!holdsFiles(event) || !event.dataTransfer) return;
      event.preventDefault();
      onDrop(event.dataTransfer);
    });
    return () => disposables.dispose();
  }, []);
  if (!over.value) return null;
  return (
    <div class="drop" role="status">
      <p>
        Drop to upload into <code>{label()}</code>
      </p>
    </div>
  );
}
