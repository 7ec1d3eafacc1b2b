// Hears the keys of the inspector wherever the focus is, except in what takes text.
import { useEffect, useRef } from "preact/hooks";
import { type Action, actionOf } from "./keys.ts";

/** What handles a key itself has prevented its default by then. */
export function useActions(act: (action: Action) => void, isOn: boolean): void {
  const latest = useRef(act);
  latest.current = act;
  useEffect(() => {
    if (!isOn) return;
    const onKey = (event: KeyboardEvent) => {
      const element = event.target as HTMLElement | null;
      if (event.defaultPrevented || element?.closest("input, textarea, select, dialog") != null)
        return;
      const action = actionOf(event);
      if (action === undefined) return;
      event.preventDefault();
      latest.current(action);
    };
    document.addEventListener("keydown", onKey);
    return () => document.removeEventListener("keydown", onKey);
  }, [isOn]);
}
