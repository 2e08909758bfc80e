// Asks what to do if a file already exists.

import { useEffect, useRef } from "preact/hooks";
import { visible } from "../../base/visible";
import type { Answer, Conflict } from "./uploads";

export function ConflictDialog({ conflict }: { conflict: Conflict | undefined }) {
  const dialog = useRef<HTMLDialogElement>(null);
  const all = useRef<HTMLInputElement>(null);
  useEffect(() => {
    if (conflict) dialog.current?.showModal();
    else dialog.current?.close();
  }, [conflict]);
  const answer = (given: Answer) => conflict?.answer(given, all.current?.checked ?? false);
  return (
    <dialog
      ref={dialog}
      class="question"
      aria-labelledby="conflict-title"
      onCancel={event => {
        event.preventDefault();
        answer("skip");
      }}
    >
      <h2 id="conflict-title">This file already exists</h2>
      <p>
        <code>{visible(conflict?.path ?? "")}</code>
      </p>
      <label>
        <input ref={all} type="checkbox" /> The same for the other files of this upload
      </label>
      <div class="answers">
        <button type="button" onClick={() => answer("skip")}>
          Skip
        </button>
        <button type="button" onClick={() => answer("both")}>
          Keep both
        </button>
        <button type="button" class="primary" onClick={() => answer("replace")}>
          Replace
        </button>
      </div>
    </dialog>
  );
}
