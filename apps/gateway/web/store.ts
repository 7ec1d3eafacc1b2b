// Holds the page's state as one value and tells listeners when it is replaced.

export interface Store<State> {
  get(): State;
  /** Replaces the fields given. */
  set(change: Partial<State>): void;
  /** Returns how to stop listening. */
  subscribe(listener: () => void): () => void;
}

export function createStore<State extends object>(initial: State): Store<State> {
  let state = initial;
  const listeners = new Set<() => void>();
  return {
    get: () => state,
    set(change) {
      state = { ...state, ...change };
      for (const listener of [...listeners]) listener();
    },
    subscribe(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
  };
}
