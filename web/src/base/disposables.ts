// Listeners and what undoes them. Whoever subscribes keeps the Disposable; a DisposableList undoes a whole life at once.

export interface Disposable {
  dispose(): void;
}

export class DisposableList implements Disposable {
  readonly #list: Disposable[] = [];

  add(...disposables: Disposable[]): void {
    this.#list.push(...disposables);
  }

  /** Runs `undo` at the end. */
  defer(undo: () => void): void {
    this.#list.push({ dispose: undo });
  }

  /** A DOM listener that goes when the list does. */
  listen<E extends Event = Event>(
    target: EventTarget,
    type: string,
    listener: (event: E) => void,
    options?: AddEventListenerOptions,
  ): void {
    target.addEventListener(type, listener as EventListener, options);
    this.defer(() => target.removeEventListener(type, listener as EventListener, options));
  }

  dispose(): void {
    for (const disposable of this.#list.splice(0).reverse()) disposable.dispose();
  }
}

export class Emitter<T> {
  readonly #listeners = new Set<(value: T) => void>();

  /** Subscribes. Bound, so that it can be handed out as a property of its own. */
  readonly on = (listener: (value: T) => void): Disposable => {
    this.#listeners.add(listener);
    return { dispose: () => this.#listeners.delete(listener) };
  };

  emit(value: T): void {
    for (const listener of [...this.#listeners]) listener(value);
  }
}
