// What the call was sent, item by item, in its order.
import { Fragment } from "preact";
import { memo } from "preact/compat";
import type { CallView, SentItem, SummaryRow } from "../../src/inspect/shapes.ts";
import { formatCount, formatNumberOf } from "../format.ts";
import { describeMark } from "./fates.ts";
import { isLinked, type Link, NO_LINK } from "./links.ts";
import { MARKS } from "./marks.ts";
import { ROW_HEIGHT } from "./transcript-column.tsx";
import { VirtualList } from "./virtual-list.tsx";
import { bandOfItem, wordOfItem } from "./words.ts";

export interface SentColumnProps {
  view: CallView;
  link: Link;
  /** Place in the list that must be in sight; null = none in particular. */
  reveal: number | null;
  onOpen(item: SentItem): void;
  onPoint(link: Link): void;
}

export const SentColumn = memo(function SentColumn(props: SentColumnProps) {
  const { view, link, reveal, onOpen, onPoint } = props;
  const { row, items } = view;
  const linkOf = (index: number | null) => {
    const item = index === null ? undefined : items[index];
    return item === undefined ? NO_LINK : linkOfItem(item);
  };
  const summaries = new Map(view.summaries.map((each) => [each.summaryId, each]));
  return (
    <section class="column-of" aria-label={`Call ${row.id} as sent`} id="column-2">
      <h3>
        Call {row.id} <span class="soft">as sent</span>
        <span class="group-tokens">{formatCount(row.tokens.total)}</span>
      </h3>
      <p class="column-fact">
        {formatNumberOf(items.length, "item")},{" "}
        {row.isCounted ? "counted by the provider" : "estimated"}.
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
        count={items.length}
        rowHeight={ROW_HEIGHT}
        listKey={row.id}
        reveal={reveal}
        row={(index) => <ItemLine item={items[index]} summaries={summaries} />}
        rowData={(index) => {
          const item = items[index];
          return {
            "data-band": item && bandOfItem(item),
            "data-linked": item && isLinked(link, linkOfItem(item)) ? "true" : undefined,
          };
        }}
        onOpen={(index) => {
          const item = items[index];
          if (item !== undefined) onOpen(item);
        }}
        onPoint={(index) => onPoint(linkOf(index))}
      />
    </section>
  );
});

export const linkOfItem = ({ entryId, summaryId }: SentItem): Link => ({ entryId, summaryId });

interface ItemLineProps {
  item: SentItem | undefined;
  summaries: ReadonlyMap<string, SummaryRow>;
}

function ItemLine({ item, summaries }: ItemLineProps) {
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
}
