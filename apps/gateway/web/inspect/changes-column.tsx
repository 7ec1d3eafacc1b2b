// What became different since another call, with before and after of each change.
import { memo } from "preact/compat";
import { formatCount } from "../../src/conversation/format.ts";
import type { CallDiff, SentItem } from "../../src/inspect/shapes.ts";
import { type ChangeRow, planChanges, signed } from "./changes.ts";
import { isLinked, type Link, NO_LINK } from "./links.ts";
import { linkOfItem } from "./sent-column.tsx";
import { ROW_HEIGHT } from "./transcript-column.tsx";
import { VirtualList } from "./virtual-list.tsx";
import { bandOfItem, wordOfItem } from "./words.ts";

export interface ChangesColumnProps {
  /** Null: there is none to compare with, or it is not read yet. */
  diff: CallDiff | null;
  /** The call to compare with; null = the call shown is the first. */
  before: string | null;
  /** Whether there is such a call. */
  isBeforeThere: boolean;
  /** Why nobody can tell; null = it can be told, or is being read. */
  absence: string | null;
  link: Link;
  onOpen(item: SentItem, isOfBefore: boolean): void;
  onPoint(link: Link): void;
}

export const ChangesColumn = memo(function ChangesColumn(props: ChangesColumnProps) {
  const { diff, before, isBeforeThere, absence, link, onOpen, onPoint } = props;
  if (diff === null || absence !== null)
    return (
      <section class="column-of" aria-label="Changes" id="column-3">
        <h3>Changes</h3>
        <p class="column-fact">
          {before === null
            ? "It is the first call: there is none before it to compare with."
            : isBeforeThere
              ? (absence ?? "Reading…")
              : `There is no call ${before} to compare with.`}
        </p>
      </section>
    );
  const { facts, rows } = planChanges(diff);
  const itemAt = (index: number | null) => {
    const row = index === null ? undefined : rows[index];
    return row === undefined || row.kind === "heading" ? undefined : row;
  };
  return (
    <section class="column-of" aria-label={`Changes since ${diff.from.id}`} id="column-3">
      <h3>
        Changes <span class="soft">since {diff.from.id}</span>
      </h3>
      <ul class="column-facts">
        {facts.map(({ text, isBad }) => (
          <li key={text} data-bad={isBad}>
            {text}
          </li>
        ))}
      </ul>
      {rows.length > 0 && (
        <VirtualList
          id="changes"
          label={`Changes since call ${diff.from.id}`}
          count={rows.length}
          rowHeight={ROW_HEIGHT}
          listKey={`${diff.from.id} ${diff.to.id}`}
          reveal={null}
          row={(index) => <ChangeLine row={rows[index]} />}
          rowData={(index) => {
            const row = itemAt(index);
            return {
              "data-band": row && bandOfItem(row.item),
              "data-change": rows[index]?.kind,
              "data-linked": row && isLinked(link, linkOfItem(row.item)) ? "true" : undefined,
            };
          }}
          onOpen={(index) => {
            const row = itemAt(index);
            if (row !== undefined) onOpen(row.item, row.kind === "removed");
          }}
          onPoint={(index) => {
            const row = itemAt(index);
            onPoint(row === undefined ? NO_LINK : linkOfItem(row.item));
          }}
        />
      )}
    </section>
  );
});

const SIGNS = { added: "+", removed: "−", changed: "~" } as const;

function ChangeLine({ row }: { row: ChangeRow | undefined }) {
  if (row === undefined) return <span />;
  if (row.kind === "heading")
    return (
      <>
        <strong class="row-text">{row.label}</strong>
        <span class="row-tokens">{signed(row.tokens)}</span>
      </>
    );
  const { item, why, tokens } = row;
  return (
    <>
      <span class="row-sign">{SIGNS[row.kind]}</span>
      <span class="row-number">{item.number === null ? "" : formatCount(item.number)}</span>
      <span class="row-role">{wordOfItem(item)}</span>
      <span class="row-text" dir="auto">
        {item.preview || item.source.name}
      </span>
      <span class="row-fate" title={why}>
        {why}
      </span>
      <span class="row-tokens">{signed(tokens)}</span>
    </>
  );
}
