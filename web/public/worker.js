// The service worker. If the gateway doesn't answer when a page is opened or reloaded, the worker shows a page that
// explains this and reloads itself, instead of the browser's error page. The worker stores nothing.

/** The gateway's pages, relative to the worker's scope. Other addresses, such as previews, are not handled. */
const PAGES = /^(home|(index|home|recording)\.html)?$/;
/** HTTP statuses that a proxy sends if the gateway doesn't answer. */
const NO_GATEWAY = [502, 503, 504];
/** Number of seconds after which the page reloads itself. */
const RELOAD = 5;

/**
 * When the gateway stopped answering; undefined if it answered the last request. The time is lost when the browser
 * restarts the worker.
 */
let since;

addEventListener("install", () => skipWaiting());
addEventListener("activate", event => {
  // The browser then sends the request while it is starting the worker, so that the worker doesn't delay the page.
  event.waitUntil(registration.navigationPreload?.enable());
});
addEventListener("fetch", event => {
  const { request } = event;
  const { origin, pathname } = new URL(request.url);
  const scope = new URL(registration.scope);
  const handled = request.mode === "navigate" && request.method === "GET" && origin === scope.origin;
  if (handled && pathname.startsWith(scope.pathname) && PAGES.test(pathname.slice(scope.pathname.length)))
    event.respondWith(answer(event));
});

async function answer(event) {
  try {
    const response = (await event.preloadResponse) ?? (await fetch(event.request));
    if (NO_GATEWAY.includes(response.status)) throw new Error("no gateway");
    since = undefined;
    return response;
  } catch {
    since ??= new Date();
    return new Response(pageText(since.toLocaleTimeString([], { hour: "2-digit", minute: "2-digit" })), {
      status: 503,
      headers: {
        "content-type": "text/html; charset=utf-8",
        "content-security-policy": "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'self'",
        "cache-control": "no-store",
      },
    });
  }
}

function pageText(time) {
  return `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8" />
    <meta name="viewport" content="width=device-width, initial-scale=1" />
    <meta name="color-scheme" content="dark light" />
    <meta http-equiv="refresh" content="${RELOAD}" />
    <title>No answer · hawse</title>
    <style>
      :root { --page: #0b0f14; --card: #151b23; --line: #2a333f; --text: #dfe6ee; --quiet: #97a3b1; }
      @media (prefers-color-scheme: light) {
        :root { --page: #eceff3; --card: #fff; --line: #d5dbe2; --text: #1b2530; --quiet: #586472; }
      }
      body {
        display: grid; place-items: center; min-height: 100vh; margin: 0; padding: 0 20px; box-sizing: border-box;
        background: var(--page); color: var(--text); font: 14px/1.5 system-ui, sans-serif;
      }
      main {
        max-width: 380px; padding: 24px 26px; border: 1px solid var(--line); border-radius: 14px;
        background: var(--card);
      }
      h1 { margin: 0 0 8px; font-size: 18px; font-weight: 650; }
      p { margin: 0 0 10px; color: var(--quiet); }
      a { color: var(--text); font-weight: 600; }
    </style>
  </head>
  <body>
    <main>
      <h1>The gateway does not answer</h1>
      <p>No answer since ${time}. This page tries again every ${RELOAD} seconds. Unsaved changes are kept in this
        browser.</p>
      <p>Check your network, and whether the gateway is running.</p>
      <a href="">Retry now</a>
    </main>
  </body>
</html>
`;
}
