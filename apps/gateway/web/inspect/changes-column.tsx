// What became different since another call, with before and after of each change.
import type { ComponentChildren } from "preact";
import { memo } from "preact/compat";
import { useEffect, useRef } from "preact/hooks";
import { formatCount } from "../../src/conversation/format.ts";
import type { CallDiff, SentItem } from "../../src/inspect/shapes/one-call.ts";
import { signed } from "../../src/text/number.ts";
import { type ChangeRow, planChanges } from "./changes.ts";
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
  /** The call that was chosen to compare with; null = none was. */
  chosen: string | null;
  /** Whether there is such a call. */
  isBeforeThere: boolean;
  /** Why nobody can tell; null = it can be told, or is being read. */
  absence: string | null;
  link: Link;
  /** To compare with another call; null = with the one before. */
  onCompare(call: string | null): void;
  onOpen(item: SentItem, isOfBefore: boolean): void;
  onPoint(link: Link): void;
}

export const ChangesColumn = memo(function ChangesColumn(props: ChangesColumnProps) {
  const { diff, before, chosen, isBeforeThere, absence, link } = props;
  const { onCompare, onOpen, onPoint } = props;
  if (diff === null || absence !== null)
    return (
      <section class="column-of" aria-label="Changes" id="column-3">
        <Head {...{ before, chosen, onCompare }}>
          <h3>Changes</h3>
        </Head>
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
      <Head {...{ before, chosen, onCompare }}>
        <h3>
          Changes <span class="soft">since {diff.from.id}</span>
        </h3>
      </Head>
      {chosen === diff.to.id && (
        <p class="column-fact">Go to any other call: it is compared with this one.</p>
      )}
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

interface HeadProps extends Pick<ChangesColumnProps, "before" | "chosen" | "onCompare"> {
  children: ComponentChildren;
}

export const COMPARE_BOX = "compare-with";

/** What is compared, and a way to compare with any other call. */
function Head({ before, chosen, onCompare, children }: HeadProps) {
  const box = useRef<HTMLInputElement>(null);
  // What was typed for another call is no choice for this one.
  useEffect(() => {
    if (box.current !== null) box.current.value = "";
  }, [before, chosen]);
  return (
    <div class="column-head">
      {children}
      <form
        class="compare"
        aria-label="Compare"
        onSubmit={(event) => {
          event.preventDefault();
          const words = box.current?.value.trim() ?? "";
          if (words !== "") onCompare(words);
        }}
        onKeyDown={(event) => {
          if (event.key !== "Escape") return;
          event.preventDefault();
          event.stopPropagation();
          box.current?.blur();
        }}
      >
        {chosen !== null && (
          <button type="button" class="link" onClick={() => onCompare(null)}>
            since the call before
          </button>
        )}
        <input
          ref={box}
          id={COMPARE_BOX}
          aria-label="Compare with call"
          placeholder="since…"
          title="Compare with another call (v): 57.1, or t57 c1"
          size={7}
        />
      </form>
    </div>
  );
}

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
