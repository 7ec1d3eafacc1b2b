// Shows how the session would go with another engine or window.
import { useEffect, useRef, useState } from "preact/hooks";
import { formatCount } from "../../src/conversation/format.ts";
import type { WhatIf } from "../../src/lab/shapes.ts";
import type { InspectApi } from "./inspect-api.ts";
import { describeWhatIf } from "./what-if.ts";

export interface WhatIfPanelProps {
  api: InspectApi;
  session: string;
  /** Ids of the engines that are loaded. */
  engines: readonly string[];
  /** What was played last; null = nothing yet. */
  whatIf: WhatIf | null;
  onPlayed(whatIf: WhatIf | null): void;
}

interface Shown {
  kind: "progress" | "failed";
  text: string;
}

/** Tokens; more is a slip. */
const MOST_WINDOW = 100_000_000;

/** They are there for a play also where nobody enabled them. */
const BUNDLED = ["legacy", "lossless"];

export function WhatIfPanel({ api, session, engines, whatIf, onPlayed }: WhatIfPanelProps) {
  const [shown, setShown] = useState<Shown | null>(null);
  const stopping = useRef<AbortController | null>(null);
  useEffect(() => () => stopping.current?.abort(), []);
  const play = async (form: FormData) => {
    const [engine, window] = [String(form.get("engine")), Number(form.get("window"))];
    const ask = {
      ...(engine !== "" && { engine }),
      ...(window > 0 && { contextWindow: Math.round(window) }),
    };
    const stop = new AbortController();
    stopping.current = stop;
    onPlayed(null);
    setShown({ kind: "progress", text: "It begins…" });
    try {
      for await (const event of api.whatIf(session, ask, stop.signal)) {
        if (event.type === "progress")
          setShown({
            kind: "progress",
            text: `Turn ${formatCount(event.turn)} of ${formatCount(event.turns)}…`,
          });
        else if (event.type === "error") setShown({ kind: "failed", text: event.error.message });
        else {
          onPlayed(event.whatIf);
          setShown(null);
        }
      }
    } catch (error) {
      const text = error instanceof Error ? error.message : String(error);
      setShown({ kind: "failed", text: stop.signal.aborted ? "Stopped." : text });
    }
  };
  return (
    <div class="actions what-if">
      <form
        class="buttons"
        onSubmit={(event) => {
          event.preventDefault();
          void play(new FormData(event.currentTarget));
        }}
      >
        <label>
          Engine{" "}
          <select name="engine">
            <option value="">the same</option>
            {[...new Set([...engines, ...BUNDLED])].map((id) => (
              <option key={id} value={id}>
                {id}
              </option>
            ))}
          </select>
        </label>
        <label>
          Window{" "}
          <input
            name="window"
            type="number"
            {...{ min: 1000, max: MOST_WINDOW, step: 1000 }}
            placeholder="the same"
          />
        </label>
        {shown?.kind === "progress" ? (
          // Two elements: one that became the other during its click would send the form again.
          <button key="stop" type="button" onClick={() => stopping.current?.abort()}>
            Stop
          </button>
        ) : (
          <button key="play" type="submit">
            Play it
          </button>
        )}
      </form>
      <div role="status" aria-label="Answer: What if">
        {shown !== null ? (
          <p data-bad={shown.kind === "failed"}>{shown.text}</p>
        ) : whatIf !== null ? (
          <ul>
            {describeWhatIf(whatIf).map((line) => (
              <li key={line}>{line}</li>
            ))}
          </ul>
        ) : (
          <p class="soft">
            Choose an engine or a window and play the whole session again with its recorded replies:
            no model is called, and nothing of it changes. A second curve is laid over the session's
            own.
          </p>
        )}
      </div>
    </div>
  );
}
