// This page's drafts: which user they belong to, and which browser tabs are open.

import { browserDrafts } from "../../base/draft-database";
import { Drafts } from "../../base/drafts";

const LOCK = "hawse.tab.";
/** How long to wait for a tab's lock, in milliseconds, because after a reload the old page may still be holding it. */
const CLAIM = 1_000;
/** The tabs whose locks this page holds until the page is closed. */
const claimed = new Set<string>();
let ofPage: Drafts | undefined;

/** Returns the drafts of `identity`. A page has only one user at a time. */
export function pageDrafts(identity: string, tab: string): Drafts {
  if (ofPage?.identity === identity) return ofPage;
  if (ofPage) location.reload(); // another user has signed in, but the panes still show the previous user's texts
  ofPage?.dispose();
  ofPage = new Drafts({ database: browserDrafts(), identity, tab, claim, live });
  ofPage.guard(window);
  return ofPage;
}

/** Browsers support locks only on secure origins. Without locks, each draft's tab is assumed to be closed. */
function claim(tab: string): Promise<boolean> {
  if (!navigator.locks || claimed.has(tab)) return Promise.resolve(true);
  return new Promise(resolve => {
    const hold = () => {
      claimed.add(tab);
      resolve(true);
      return new Promise<never>(() => {}); // never resolved, so that the lock is held until the page is closed
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
