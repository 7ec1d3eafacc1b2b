// Everything that was said, and what became of each entry in the call.
import { memo } from "preact/compat";
import { formatCount } from "../../src/conversation/format.ts";
import type { CallRow } from "../../src/inspect/shapes/calls.ts";
import type { EntryRow } from "../../src/inspect/shapes/entries.ts";
import {
  describeFate,
  describeMark,
  describeMissing,
  type FateFilter,
  filterChoices,
} from "./fates.ts";
import { type Pages, rowAt } from "./inspect-state.ts";
import { isLinked, type Link, NO_LINK } from "./links.ts";
import type { Span } from "./virtual.ts";
import { VirtualList } from "./virtual-list.tsx";
import { bandOfEntry, wordOfRole } from "./words.ts";

export interface TranscriptColumnProps {
  session: string;
  /** Of whose call it is. */
  row: CallRow;
  entries: Pages<EntryRow>;
  filter: FateFilter;
  link: Link;
  /** Place in the list that must be in sight; null = none in particular. */
  reveal: number | null;
  onFilter(filter: FateFilter): void;
  onOpen(entry: EntryRow): void;
  onPoint(link: Link): void;
  onSpan(span: Span): void;
}

export const ROW_HEIGHT = 24;

export const TranscriptColumn = memo(function TranscriptColumn(props: TranscriptColumnProps) {
  const {
    session,
    row: call,
    entries,
    filter,
    link,
    reveal,
    onFilter,
    onOpen,
    onPoint,
    onSpan,
  } = props;
  const linkOf = (index: number | null) => {
    const entry = index === null ? undefined : rowAt(entries, index);
    return entry === undefined ? NO_LINK : linkOfEntry(entry);
  };
  const { fates } = call;
  return (
    <section class="column-of" aria-label="Transcript" id="column-1">
      <h3>
        Transcript <span class="soft">all entries of its branch</span>
      </h3>
      <p class="column-fact">
        {call.lost === null
          ? describeMissing(fates)
          : "What became of each entry cannot be told for this call."}
      </p>
      {call.lost === null && <Filters counts={fates} filter={filter} onFilter={onFilter} />}
      <VirtualList
        id="transcript"
        label="Transcript"
        count={entries.total}
        rowHeight={ROW_HEIGHT}
        listKey={`${call.id} ${filter}`}
        version={call}
        reveal={reveal ?? (filter === "all" ? entries.total - 1 : 0)}
        row={(index) => <EntryLine entry={rowAt(entries, index)} session={session} />}
        rowData={(index) => {
          const entry = rowAt(entries, index);
          return {
            "data-band": entry && bandOfEntry(entry),
            "data-fate": entry?.fate.kind,
            "data-linked": entry && isLinked(link, linkOfEntry(entry)) ? "true" : undefined,
          };
        }}
        isRead={(index) => rowAt(entries, index) !== undefined}
        onOpen={(index) => {
          const entry = rowAt(entries, index);
          if (entry !== undefined) onOpen(entry);
        }}
        onPoint={(index) => onPoint(linkOf(index))}
        onSpan={onSpan}
      />
    </section>
  );
});

interface EntryLineProps {
  entry: EntryRow | undefined;
  session: string;
}

const linkOfEntry = ({ entryId, fate }: EntryRow): Link => ({
  entryId,
  summaryId: fate.kind === "summary" ? fate.summaryId : null,
});

const EntryLine = memo(function EntryLine({ entry, session }: EntryLineProps) {
  if (entry === undefined) return <span class="soft">…</span>;
  const { number, role, preview, tokens, marks } = entry;
  const { glyph, label, why } = describeFate(entry, session);
  return (
    <>
      <span class="row-number">{formatCount(number)}</span>
      <span class="row-role">{wordOfRole(role)}</span>
      <span class="row-text" dir="auto">
        {preview === "" ? "(no text)" : preview}
      </span>
      {marks.map((mark) => (
        <span key={mark.kind} class="row-mark" title={describeMark(mark)}>
          {mark.kind}
        </span>
      ))}
      <span class="row-tokens">{formatCount(tokens)}</span>
      <span class="row-fate" title={why}>
        <span aria-hidden="true">{glyph}</span> {label}
      </span>
    </>
  );
});

interface FiltersProps {
  counts: CallRow["fates"];
  filter: FateFilter;
  onFilter(filter: FateFilter): void;
}

function Filters({ counts, filter, onFilter }: FiltersProps) {
  const isOfSummary = filter.startsWith("in:");
  return (
    <fieldset class="filters">
      <legend class="hidden">Entries shown here</legend>
      {filterChoices(counts)
        .filter((choice) => choice.count > 0 || choice.filter === filter || choice.filter === "all")
        .map((choice) => (
          <button
            key={choice.filter}
            type="button"
            aria-pressed={choice.filter === filter}
            onClick={() => onFilter(choice.filter)}
          >
            {choice.label} <b>{formatCount(choice.count)}</b>
          </button>
        ))}
      {isOfSummary && (
        <button type="button" aria-pressed={true} onClick={() => onFilter("all")}>
          in {filter.slice(3)} <span aria-hidden="true">×</span>
        </button>
      )}
    </fieldset>
  );
}
