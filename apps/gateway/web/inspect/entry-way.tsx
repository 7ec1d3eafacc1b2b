// When an entry left the view, by what and in which call, and how it came back.
import { useState } from "preact/hooks";
import { formatCount } from "../../src/conversation/format.ts";
import type { EntryTrace } from "../../src/inspect/shapes/entries.ts";
import { Pending } from "./detail-parts.tsx";
import type { InspectApi } from "./inspect-api.ts";
import { useRead } from "./use-read.ts";

/** All calls are gone through for it: of more it is asked for by a click. */
const MOST_UNASKED = 2000;

export interface EntryWayProps {
  api: InspectApi;
  session: string;
  entryId: string;
  /** The call that is shown. */
  call: string;
  /** How many there are. */
  calls: number;
  onCall(id: string): void;
}

export function EntryWay({ api, session, entryId, call, calls, onCall }: EntryWayProps) {
  const [asked, ask] = useState<string | null>(null);
  const isAsked = calls <= MOST_UNASKED || asked === entryId;
  const key = isAsked ? `${session} ${entryId} ${call}` : null;
  const { value, problem } = useRead(key, () => api.trace(session, entryId));
  if (!isAsked)
    return (
      <button type="button" class="link" onClick={() => ask(entryId)}>
        Tell its way through all {formatCount(calls)} calls
      </button>
    );
  if (value === undefined) return <Pending problem={problem} />;
  if (value === null) return null;
  return (
    <ol class="way" aria-label="Its way from call to call">
      {planWay(value).map(({ word, from, span, why, before }) => (
        <li key={from}>
          {word}{" "}
          <button type="button" class="link" onClick={() => onCall(from)}>
            {from}
          </button>
          {span}: {why}
          {before !== null && <span class="soft"> {before}</span>}
        </li>
      ))}
    </ol>
  );
}

export interface WayStep {
  /** "Shown from call", "Left in call", "Back in call", "Otherwise from call". */
  word: string;
  from: string;
  /** " to 7.1 (7 calls)", or "". */
  span: string;
  why: string;
  /** When, and what happened before it; null = it was so from the first call on. */
  before: string | null;
}

/** Pure. Oldest first. */
export function planWay({ ranges }: Pick<EntryTrace, "ranges">): WayStep[] {
  return ranges.map(({ from, to, calls, fate, why, at, happened }, index) => {
    const isShown = fate.kind === "shown";
    const earlier = ranges[index - 1];
    const wasShown = earlier?.fate.kind === "shown";
    const word =
      earlier === undefined
        ? isShown
          ? "Shown from call"
          : "Not shown from call"
        : isShown === wasShown
          ? "Otherwise from call"
          : isShown
            ? "Back in call"
            : "Left in call";
    const when = `(${at.slice(0, 19).replace("T", " ")} UTC${happened.map((what) => `; ${what}`).join("")})`;
    return {
      ...{ word, from, why, before: earlier === undefined ? null : when },
      span: calls === 1 ? "" : ` to ${to} (${formatCount(calls)} calls)`,
    };
  });
}
