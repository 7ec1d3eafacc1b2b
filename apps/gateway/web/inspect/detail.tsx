// What is open beside a call, in full.

import { formatCount, formatNumberOf } from "../../src/conversation/format.ts";
import type { EntryRow } from "../../src/inspect/shapes/entries.ts";
import type { CallDiff, CallView } from "../../src/inspect/shapes/one-call.ts";
import { BeforeAfter } from "./before-after.tsx";
import { Fact, Facts, Pending, Text } from "./detail-parts.tsx";
import { EntryWay } from "./entry-way.tsx";
import { describeFate, describeMark, explainReason } from "./fates.ts";
import type { InspectApi } from "./inspect-api.ts";
import { callOfItem, idOfItem, itemBefore, whyOfChange } from "./item-ids.ts";
import type { Opened } from "./place.ts";
import { SummaryDetail } from "./summary-detail.tsx";
import { useRead } from "./use-read.ts";
import { wordOfItem, wordOfRole } from "./words.ts";

export interface DetailProps {
  api: InspectApi;
  session: string;
  view: CallView;
  /** Since the call before; null = there is none. */
  diff: CallDiff | null;
  opened: Opened;
  /** How many calls the session has. */
  calls: number;
  onOpen(opened: Opened | null): void;
  /** Shows the same in another call. */
  onCall(id: string): void;
  /** Narrows the transcript to what a summary covers. */
  onCovered(summaryId: string): void;
}

export function Detail(props: DetailProps) {
  const { opened, onOpen } = props;
  return (
    <section class="column-of detail" aria-label="Opened" id="column-3" tabIndex={-1}>
      <button type="button" class="close" onClick={() => onOpen(null)}>
        <span aria-hidden="true">×</span> Close
      </button>
      {opened.kind === "summary" ? (
        <SummaryDetail {...props} id={opened.id} />
      ) : opened.kind === "item" ? (
        <ItemDetail {...props} id={opened.id} />
      ) : (
        <EntryDetail {...props} id={opened.id} />
      )}
    </section>
  );
}

function readItem(api: InspectApi, session: string, id: string) {
  const [call = "", part = "", index = ""] = id.split("/");
  return api.item(session, call, part, Number(index));
}

function ItemDetail({ api, session, diff, id, onOpen }: DetailProps & { id: string }) {
  const call = callOfItem(id);
  const { value, problem } = useRead(`${session} ${id}`, () => readItem(api, session, id));
  if (value === undefined || value === null)
    return <Pending problem={value === null ? "There is no such item." : problem} />;
  const { item, text, before } = value;
  const earlier = itemBefore(diff, id);
  const why = whyOfChange(diff, id);
  const { source, entryId, reason, engineReason, tokens, hash, marks, chars } = item;
  return (
    <>
      <h3>
        {item.number === null ? "" : `${formatCount(item.number)} `}
        {wordOfItem(item)} <span class="soft">as sent in call {call}</span>
      </h3>
      <Facts>
        <Fact label="Why it is there">
          {explainReason(reason)}
          {engineReason === null ? "" : `: ${engineReason}`}
        </Fact>
        {why !== null && <Fact label={`Since ${diff?.from.id}`}>{why}</Fact>}
        <Fact label="From">
          {source.kind} {source.name}{" "}
          {entryId !== null && (
            <button
              type="button"
              class="link"
              onClick={() => onOpen({ kind: "entry", id: entryId })}
            >
              As stored, and its way from call to call
            </button>
          )}
        </Fact>
        <Fact label="Size">
          {formatCount(tokens)} tokens, {formatNumberOf(chars, "character")}
        </Fact>
        {marks.map((mark) => (
          <Fact key={mark.kind} label="Not as stored">
            {describeMark(mark)}
          </Fact>
        ))}
        <Fact label="Hash">{hash}</Fact>
      </Facts>
      {before !== null && (
        <BeforeAfter names={["as stored", "as sent"]} before={before} after={text} />
      )}
      {earlier !== null && <SinceBefore {...{ api, session, call, text, before }} id={earlier} />}
      <Text text={text} label="Text as sent" />
    </>
  );
}

interface SinceBeforeProps {
  api: InspectApi;
  session: string;
  /** The item in the call before. */
  id: string;
  /** The call shown, and what it was sent instead. */
  call: string;
  text: string;
  /** What is stored, where that is another text. */
  before: string | null;
}

function SinceBefore({ api, session, id, call, text, before }: SinceBeforeProps) {
  const { value } = useRead(`${session} ${id}`, () => readItem(api, session, id));
  if (value === undefined || value === null) return null;
  // The call before was sent it as it is stored, which stands beside it already.
  if (value.text === before) return null;
  const names = [`in call ${callOfItem(id)}`, `in call ${call}`] as const;
  return <BeforeAfter names={names} before={value.text} after={text} />;
}

/** What stands in a call instead of what is stored; nothing where it was sent as it is. */
function AsSent({ api, session, id }: { api: InspectApi; session: string; id: string }) {
  const { value } = useRead(`${session} ${id}`, () => readItem(api, session, id));
  if (value === undefined || value === null || value.before === null) return null;
  return <BeforeAfter names={["as stored", "as sent"]} before={value.before} after={value.text} />;
}

function EntryDetail(props: DetailProps & { id: string }) {
  const { api, session, view, calls, id, onOpen, onCall } = props;
  const call = view.row.id;
  const { value, problem } = useRead(`${session} ${call} ${id}`, () =>
    api.entry(session, call, id),
  );
  if (value === undefined || value === null)
    return <Pending problem={value === null ? "There is no such entry in the call." : problem} />;
  const { entry, text, sentAt } = value;
  const isSentOtherwise = entry.marks.length > 0 && sentAt !== null;
  return (
    <>
      <h3>
        {formatCount(entry.number)} {wordOfRole(entry.role)} <span class="soft">as stored</span>
      </h3>
      <Fate entry={entry} session={session} call={call} onOpen={onOpen} />
      <EntryWay {...{ api, session, call, calls, onCall }} entryId={entry.entryId} />
      {isSentOtherwise && (
        <AsSent {...{ api, session }} id={idOfItem(call, { part: "messages", index: sentAt })} />
      )}
      <Text text={text} label="Text as stored" />
    </>
  );
}

interface FateProps {
  entry: EntryRow;
  session: string;
  call: string;
  onOpen(opened: Opened): void;
}

function Fate({ entry, session, call, onOpen }: FateProps) {
  const { label, why, back } = describeFate(entry, session);
  const { fate, marks, at, tokens } = entry;
  return (
    <Facts>
      <Fact label={`In call ${call}`}>{label}</Fact>
      <Fact label="Why">
        {why}{" "}
        {fate.kind === "summary" && (
          <button
            type="button"
            class="link"
            onClick={() => onOpen({ kind: "summary", id: fate.summaryId })}
          >
            Open the summary
          </button>
        )}
      </Fact>
      {back !== null && <Fact label="To get it back">{back}</Fact>}
      {marks.map((mark) => (
        <Fact key={mark.kind} label="Not as stored">
          {describeMark(mark)}
        </Fact>
      ))}
      <Fact label="Size">{formatCount(tokens)} tokens</Fact>
      {at !== null && <Fact label="Said">{at.replace("T", " ").slice(0, 19)}</Fact>}
    </Facts>
  );
}
