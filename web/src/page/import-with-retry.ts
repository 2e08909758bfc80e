// Loads a module that the page needs. It retries because browsers abort all requests when the network changes.

/** Milliseconds between attempts. */
const PAUSE = 1_000;
const ATTEMPTS = 30;

/** Resolves to the module; rejects with the error from the last attempt. */
export async function persistently<T>(load: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await load();
    } catch (error) {
      if (attempt === ATTEMPTS) throw error;
      await new Promise(resolve => setTimeout(resolve, PAUSE));
    }
  }
}
