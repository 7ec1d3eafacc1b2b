// Hears the keys of the inspector wherever the focus is, except in what takes text.
import { useEffect, useRef } from "preact/hooks";
import { type Action, actionOf } from "./keys.ts";

/** What handles a key itself has prevented its default by then. */
export function useActions(act: (action: Action) => void): void {
  // Known at once: a key may be pressed before effects have run.
  const latest = useRef(act);
  latest.current = act;
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      // As the browser has it: what it closed is told later, and a key may be pressed before.
      if (document.querySelector("dialog[open]") !== null) return;
      const element = event.target as HTMLElement | null;
      if (event.defaultPrevented || element?.closest("input, textarea, select") != null) return;
      const action = actionOf(event);
      if (action === undefined) return;
      event.preventDefault();
      latest.current(action);
    };
    document.addEventListener("keydown", onKey);
    return () => document.removeEventListener("keydown", onKey);
  }, []);
}
