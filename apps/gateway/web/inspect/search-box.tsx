// Finds a text in all that was said or sent, or the place that the words name.
import { Fragment } from "preact";
import { useRef, useState } from "preact/hooks";
import { formatCount, formatNumberOf } from "../../src/conversation/format.ts";
import { planRanges } from "../../src/inspect/found-ranges.ts";
import type { FoundText } from "../../src/inspect/shapes/found-text.ts";
import { describeFound } from "./found.ts";
import type { InspectApi } from "./inspect-api.ts";
import type { Place } from "./place.ts";
import { soughtBy } from "./search-words.ts";
import { wordOfRole } from "./words.ts";

/** So many entries that say it can be gone to; all are counted. */
const MOST_ENTRIES = 20;

const SEARCH_BOX = "inspect-search";

/** What stood in it is written over by what is typed. */
export function focusSearch(): void {
  const box = document.getElementById(SEARCH_BOX) as HTMLInputElement | null;
  box?.focus();
  box?.select();
}

const STEPS: Readonly<Record<string, 1 | -1>> = { ArrowDown: 1, ArrowUp: -1 };

/** From the box into what was found, and on in it; false = there is nothing to go to. */
function focusHit(form: HTMLElement, step: 1 | -1): boolean {
  const hits = [...form.querySelectorAll<HTMLElement>(`#${SEARCH_BOX}, .found button`)];
  const next = hits[hits.indexOf(document.activeElement as HTMLElement) + step];
  next?.focus();
  return next !== undefined;
}

export interface SearchBoxProps {
  api: InspectApi;
  session: string;
  onGo(change: Partial<Place>): void;
  /** To an entry by its number in the transcript, or by its id where that is known. */
  onEntry(number: number, entryId?: string): void;
}

type Shown =
  | { kind: "reading" }
  | { kind: "failed"; text: string }
  | { kind: "found"; found: FoundText };

export function SearchBox({ api, session, onGo, onEntry }: SearchBoxProps) {
  const [shown, setShown] = useState<Shown | null>(null);
  const asked = useRef(0);
  const close = () => {
    asked.current++;
    setShown(null);
  };
  const search = async (words: string) => {
    const sought = soughtBy(words);
    if (sought.kind === "nothing") return close();
    if (sought.kind === "call") {
      close();
      const { id, from } = sought;
      return onGo({ call: id, opened: null, ...(from !== null && { from }) });
    }
    if (sought.kind === "entry") {
      close();
      return onEntry(sought.number);
    }
    const mine = ++asked.current;
    const show = (next: Shown) => mine === asked.current && setShown(next);
    show({ kind: "reading" });
    try {
      const found = await api.find(session, sought.text, MOST_ENTRIES);
      show(
        found === null
          ? { kind: "failed", text: "Nothing was said in this session yet." }
          : { kind: "found", found },
      );
    } catch (error) {
      show({ kind: "failed", text: error instanceof Error ? error.message : String(error) });
    }
  };
  const go = (change: Partial<Place>) => {
    close();
    onGo(change);
  };
  const goToEntry = (number: number, entryId?: string) => {
    close();
    onEntry(number, entryId);
  };
  return (
    <form
      class="search"
      aria-label="Search"
      onSubmit={(event) => {
        event.preventDefault();
        const box = event.currentTarget.elements.namedItem(SEARCH_BOX) as HTMLInputElement;
        void search(box.value);
      }}
      onKeyDown={(event) => {
        const step = STEPS[event.key];
        if (step !== undefined && focusHit(event.currentTarget, step)) event.preventDefault();
        if (event.key !== "Escape") return;
        event.preventDefault();
        event.stopPropagation();
        close();
        (document.activeElement as HTMLElement | null)?.blur();
      }}
    >
      <label class="hidden" for={SEARCH_BOX}>
        Search everything, or go to a call or turn
      </label>
      <input
        id={SEARCH_BOX}
        name={SEARCH_BOX}
        type="search"
        placeholder="/  search, t58 c3"
        title="A text, a call (58.3 or t58 c3), a turn (t58), two calls (57.1..58.3), or an entry (#1241)"
        // What was found is no answer to other words.
        onInput={close}
      />
      {shown !== null && (
        <section class="found" aria-label="Found">
          {shown.kind === "reading" && <p class="soft">Looking through every call…</p>}
          {shown.kind === "failed" && <p role="alert">{shown.text}</p>}
          {shown.kind === "found" && <Found found={shown.found} onGo={go} onEntry={goToEntry} />}
        </section>
      )}
    </form>
  );
}

interface FoundProps extends Pick<SearchBoxProps, "onGo" | "onEntry"> {
  found: FoundText;
}

function Found({ found, onGo, onEntry }: FoundProps) {
  const { entries, matching, left, summaries } = found;
  const saying = summaries.filter(({ says }) => says);
  return (
    <>
      <p role="status">{describeFound(found)}</p>
      <ul>
        {entries.map(({ entryId, number, role, preview }) => (
          <li key={entryId}>
            <button type="button" onClick={() => onEntry(number, entryId)}>
              {formatCount(number)} {wordOfRole(role)} <span class="soft">{preview}</span>
            </button>
          </li>
        ))}
        {matching > entries.length && (
          <li class="soft">and {formatCount(matching - entries.length)} more</li>
        )}
        {left.map(({ entryId, role, preview, why }) => (
          <li key={entryId}>
            {wordOfRole(role)} <span class="soft">{preview}</span> — {why}
          </li>
        ))}
        {planRanges(found).map(({ from, to, gone }) => (
          <Fragment key={`shown ${from}`}>
            <li>
              <button type="button" onClick={() => onGo({ call: to, from: null, opened: null })}>
                Last seen in call {to} <span class="soft">first in {from}</span>
              </button>
            </li>
            {gone !== null && (
              <li>
                <button
                  type="button"
                  class="gone"
                  onClick={() => onGo({ call: gone.id, from: null, opened: null })}
                >
                  Gone in call {gone.id} <span class="soft">{gone.why}</span>
                </button>
              </li>
            )}
          </Fragment>
        ))}
        {saying.map(({ summaryId }) => (
          <li key={`summary ${summaryId}`}>
            <button
              type="button"
              onClick={() => onGo({ opened: { kind: "summary", id: summaryId } })}
            >
              Summary {summaryId} <span class="soft">says it</span>
            </button>
          </li>
        ))}
        {saying.length < summaries.length && (
          <li class="soft">
            {formatNumberOf(summaries.length - saying.length, "summary", "summaries")} that stood in
            calls without it
          </li>
        )}
      </ul>
    </>
  );
}
