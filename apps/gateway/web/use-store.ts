// Shows a store's state in a component, at most once per frame however often it changes.
import { useEffect, useState } from "preact/hooks";
import type { Store } from "./store.ts";

export function useStore<State extends object>(store: Store<State>): State {
  const [state, setState] = useState(store.get);
  useEffect(() => {
    let frame = 0;
    const show = () => {
      frame = 0;
      setState(store.get());
    };
    const unsubscribe = store.subscribe(() => {
      if (frame === 0) frame = requestAnimationFrame(show);
    });
    show();
    return () => {
      unsubscribe();
      cancelAnimationFrame(frame);
    };
  }, [store]);
  return state;
}
