// Signing out: the drafts of the user go, after a question, as the next user of this browser must not find them.

import type { AppContext } from "../../frame/pane";
import { ask } from "../question";
import type { PageSession } from "../session";

/** Throws HawseError. */
export async function signOut(app: AppContext, session: PageSession): Promise<void> {
  const drafts = await app.drafts();
  const notebooks = Object.keys(localStorage).filter(key => key.startsWith("hawse.notebook."));
  const unsaved = notebooks.length + (await drafts.count().catch(() => 0));
  if (unsaved) {
    const { yes } = await ask({
      title: "Sign out and lose unsaved changes?",
      text: `Unsaved changes in ${unsaved === 1 ? "a file" : `${unsaved} files`} are kept in this browser only.`,
      no: "Stay",
      yes: "Sign out",
      danger: true,
    });
    if (!yes) return;
    await drafts.clear();
    for (const key of notebooks) localStorage.removeItem(key);
  }
  await session.end();
  if (unsaved) location.reload(); // the panes still show the texts
}
