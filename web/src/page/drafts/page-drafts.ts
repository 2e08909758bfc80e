// The drafts of this page: whose they are, and which tabs of the browser are still there.

import { browserDrafts } from "../../base/draft-database";
import { Drafts } from "../../base/drafts";

const LOCK = "hawse.tab.";
/** Milliseconds to wait for the lock of a tab: a page that is reloaded may not have let it go yet. */
const CLAIM = 1_000;
/** The tabs whose locks this page holds, until it is left. */
const claimed = new Set<string>();
let ofPage: Drafts | undefined;

/** Returns the drafts of `identity`. There is one user in a page at a time. */
export function pageDrafts(identity: string, tab: string): Drafts {
  if (ofPage?.identity === identity) return ofPage;
  if (ofPage) location.reload(); // another user has signed in, and the panes still show the texts of the one before
  ofPage?.dispose();
  ofPage = new Drafts({ database: browserDrafts(), identity, tab, claim, live });
  ofPage.guard(window);
  return ofPage;
}

/** Browsers have locks only on secure origins. Without them, a draft counts as one of a tab that has gone. */
function claim(tab: string): Promise<boolean> {
  if (!navigator.locks || claimed.has(tab)) return Promise.resolve(true);
  return new Promise(resolve => {
    const hold = () => {
      claimed.add(tab);
      resolve(true);
      return new Promise<never>(() => {}); // until the page is left
    };
    navigator.locks
      .request(LOCK + tab, { signal: AbortSignal.timeout(CLAIM) }, hold)
      .catch(() => resolve(false));
  });
}

async function live(): Promise<ReadonlySet<string>> {
  const { held = [] } = (await navigator.locks?.query()) ?? {};
  const tabs = held.map(({ name = "" }) => name.slice(LOCK.length));
  return new Set(tabs.filter(tab => !claimed.has(tab)));
}
