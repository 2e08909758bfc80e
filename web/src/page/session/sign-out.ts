// Signs the user out. The user's drafts are deleted after confirmation, so that the next user of this browser can't
// find them.

import type { AppContext } from "../../frame/pane";
import { ask } from "../../frame/question";
import type { PageSession } from "./session";

/** Throws HawseError. */
export async function signOut(app: AppContext, session: PageSession): Promise<void> {
  // A page that has never been connected doesn't know its user. In that case, the user's drafts stay until the next
  // sign-in.
  const drafts = app.client.welcome && (await app.drafts());
  const unsaved = (await drafts?.count().catch(() => 0)) ?? 0;
  if (drafts && unsaved) {
    const { yes } = await ask({
      title: "Sign out and lose unsaved changes?",
      text: `Only this browser keeps the unsaved changes in ${unsaved === 1 ? "a file or notebook" : `${unsaved} files and notebooks`}.`,
      no: "Stay",
      yes: "Sign out",
      danger: true,
    });
    if (!yes) return;
    await drafts.clear();
  }
  await session.end();
  if (unsaved) location.reload(); // the open panes would otherwise keep showing the deleted texts
}
