// Follows the visual viewport, because a touch keyboard covers the page without resizing it.

import { type Disposable, DisposableList } from "../../base/disposables";

export function followViewport(): Disposable {
  const disposables = new DisposableList();
  const viewport = window.visualViewport;
  if (!viewport) return disposables;
  const follow = () => {
    // While the user is zoomed in, the page isn't shrunk to the visual viewport.
    const zoomed = viewport.scale > 1.01;
    const { style } = document.documentElement;
    style.setProperty("--visible-height", zoomed ? "100dvh" : `${viewport.height}px`);
    style.setProperty("--visible-top", zoomed ? "0px" : `${viewport.offsetTop}px`);
  };
  disposables.listen(viewport, "resize", follow);
  disposables.listen(viewport, "scroll", follow);
  follow();
  return disposables;
}
