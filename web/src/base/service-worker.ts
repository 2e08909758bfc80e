// Registers the service worker, which explains why a page can't be loaded (public/worker.js).

/** Browsers support service workers only on secure origins. Without one, they show their own error page. */
export function registerWorker(): void {
  navigator.serviceWorker?.register("worker.js").catch(() => {});
}
