// What the call was sent, item by item, in its order.
import { Fragment } from "preact";
import { memo } from "preact/compat";
import { useMemo } from "preact/hooks";
import { formatCount, formatNumberOf } from "../../src/conversation/format.ts";
import type { CallView, SentItem, SummaryRow } from "../../src/inspect/shapes/one-call.ts";
import { describeMark } from "./fates.ts";
import { type Pages, rowAt } from "./inspect-state.ts";
import { isLinked, type Link, NO_LINK } from "./links.ts";
import { MARKS } from "./marks.ts";
import { ROW_HEIGHT } from "./transcript-column.tsx";
import type { Span } from "./virtual.ts";
import { VirtualList } from "./virtual-list.tsx";
import { bandOfItem, wordOfItem } from "./words.ts";

export interface SentColumnProps {
  view: CallView;
  items: Pages<SentItem>;
  /** Why nobody can tell what it was sent; null = it can be told. */
  absence: string | null;
  link: Link;
  /** Place in the list that must be in sight; null = none in particular. */
  reveal: number | null;
  onOpen(item: SentItem): void;
  onPoint(link: Link): void;
  onSpan(span: Span): void;
}

export const SentColumn = memo(function SentColumn(props: SentColumnProps) {
  const { view, items, absence, link, reveal, onOpen, onPoint, onSpan } = props;
  const { row } = view;
  const linkOf = (index: number | null) => {
    const item = index === null ? undefined : rowAt(items, index);
    return item === undefined ? NO_LINK : linkOfItem(item);
  };
  const summaries = useMemo(
    () => new Map(view.summaries.map((each) => [each.summaryId, each])),
    [view.summaries],
  );
  return (
    <section class="column-of" aria-label={`Call ${row.id} as sent`} id="column-2">
      <h3>
        Call {row.id} <span class="soft">as sent</span>
        <span class="group-tokens">
          {row.lost === null ? formatCount(row.tokens.total) : "not known"}
        </span>
      </h3>
      <p class="column-fact">
        {row.lost === null
          ? `${formatNumberOf(items.total, "item")}, ${row.isCounted ? "counted by the provider" : "estimated"}.`
          : absence}
        {row.running !== null && (
          <span class="call-mark">
            {" "}
            {row.running === "call" ? "running: not answered yet" : "running: its turn goes on"}
          </span>
        )}
        {row.marks.map((mark) => (
          <Fragment key={mark}>
            {" "}
            <span class="call-mark" data-bad={MARKS[mark].isBad}>
              {MARKS[mark].glyph} {MARKS[mark].label}
            </span>
          </Fragment>
        ))}
      </p>
      <VirtualList
        id="sent"
        label={`Items of call ${row.id}`}
        count={items.total}
        rowHeight={ROW_HEIGHT}
        listKey={row.id}
        reveal={reveal}
        row={(index) => <ItemLine item={rowAt(items, index)} summaries={summaries} />}
        rowData={(index) => {
          const item = rowAt(items, index);
          return {
            "data-band": item && bandOfItem(item),
            "data-linked": item && isLinked(link, linkOfItem(item)) ? "true" : undefined,
          };
        }}
        isRead={(index) => rowAt(items, index) !== undefined}
        onOpen={(index) => {
          const item = rowAt(items, index);
          if (item !== undefined) onOpen(item);
        }}
        onPoint={(index) => onPoint(linkOf(index))}
        onSpan={onSpan}
      />
    </section>
  );
});

export const linkOfItem = ({ entryId, summaryId }: SentItem): Link => ({ entryId, summaryId });

interface ItemLineProps {
  item: SentItem | undefined;
  summaries: ReadonlyMap<string, SummaryRow>;
}

const ItemLine = memo(function ItemLine({ item, summaries }: ItemLineProps) {
  if (item === undefined) return <span class="soft">…</span>;
  const { number, tokens, preview, marks, isFromCache, reason, summaryId, source, part } = item;
  const covers = summaryId === null ? undefined : summaries.get(summaryId)?.covers;
  return (
    <>
      <span class="row-number">{number === null ? "" : formatCount(number)}</span>
      <span class="row-role">{wordOfItem(item)}</span>
      <span class="row-text" dir="auto" title={item.engineReason ?? reason}>
        {covers == null
          ? part === "messages"
            ? preview || "(no text)"
            : `${source.name} ${preview}`
          : `covers ${formatCount(covers.from)}–${formatCount(covers.to)}: ${preview}`}
      </span>
      {marks.map((mark) => (
        <span key={mark.kind} class="row-mark" title={describeMark(mark)}>
          {mark.kind}
        </span>
      ))}
      <span class="row-tokens">{formatCount(tokens)}</span>
      <span
        class="row-fate"
        title={isFromCache === true ? "read from the provider’s cache" : reason}
      >
        {isFromCache === true ? (
          <>
            <span aria-hidden="true">■</span> cached
          </>
        ) : (
          item.reason
        )}
      </span>
    </>
  );
});
