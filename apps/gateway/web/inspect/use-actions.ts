// Hears the keys of the inspector wherever the focus is, except in what takes text.
import { useEffect, useRef } from "preact/hooks";
import { type Action, actionOf } from "./keys.ts";

/** What handles a key itself has prevented its default by then. */
export function useActions(act: (action: Action) => void, isOn: boolean): void {
  // Known at once: a key may be pressed before effects have run.
  const latest = useRef({ act, isOn });
  latest.current = { act, isOn };
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (!latest.current.isOn) return;
      const element = event.target as HTMLElement | null;
      if (event.defaultPrevented || element?.closest("input, textarea, select, dialog") != null)
        return;
      const action = actionOf(event);
      if (action === undefined) return;
      event.preventDefault();
      latest.current.act(action);
    };
    document.addEventListener("keydown", onKey);
    return () => document.removeEventListener("keydown", onKey);
  }, []);
}
