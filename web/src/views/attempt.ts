// Runs a button's action, and shows the error if the call fails.

import { errorText } from "../client/error-text";
import type { AppContext } from "../frame/pane";
import { HawseError } from "../wire/errors";

/** Returns whether `work` succeeded. Rethrows errors other than HawseError. */
export async function attempt(
  { toast }: Pick<AppContext, "toast">,
  work: () => Promise<unknown>,
): Promise<boolean> {
  try {
    await work();
    return true;
  } catch (error) {
    if (!(error instanceof HawseError)) throw error;
    if (error.code !== "cancelled") toast(errorText(error));
    return false;
  }
}
