// A summary that stood in a call, with what it covers and what it was made from.

import { formatCount, formatNumberOf } from "../../src/conversation/format.ts";
import type { CallView } from "../../src/inspect/shapes/one-call.ts";
import { Fact, Facts, Pending, Text } from "./detail-parts.tsx";
import type { InspectApi } from "./inspect-api.ts";
import type { Opened } from "./place.ts";
import { describeMissingFacts } from "./summary-words.ts";
import { useRead } from "./use-read.ts";

export interface SummaryDetailProps {
  api: InspectApi;
  session: string;
  view: CallView;
  id: string;
  onOpen(opened: Opened): void;
  onCovered(summaryId: string): void;
}

export function SummaryDetail({ api, session, view, id, onOpen, onCovered }: SummaryDetailProps) {
  const inCall = view.summaries.find(({ summaryId }) => summaryId === id);
  // One that others were made from stood in earlier calls; what each holds is counted when asked.
  const read = useRead(`${session} ${id}`, () => api.summary(session, id));
  const summary = inCall ?? read.value;
  if (summary === undefined || summary === null)
    return <Pending problem={summary === null ? "No call showed this summary." : read.problem} />;
  const { by, tokens, covers, sources, text } = summary;
  const facts = read.value?.facts ?? null;
  const standsHere = inCall !== undefined;
  return (
    <>
      <h3>
        Summary <span class="soft">{id}</span>
      </h3>
      <Facts>
        <Fact label="Made by">{by}</Fact>
        <Fact label="Size">{formatCount(tokens)} tokens</Fact>
        <Fact label="Covers">
          {covers === null
            ? "its engine does not say"
            : `${formatCount(covers.from)}–${formatCount(covers.to)}: ${covers.entries === 1 ? "1 entry" : `${formatCount(covers.entries)} entries`}`}{" "}
          {standsHere && covers !== null && (
            <button type="button" class="link" onClick={() => onCovered(id)}>
              Show them in the transcript
            </button>
          )}
        </Fact>
        {facts !== null && facts.all > 0 && (
          <Fact label="Holds">
            {formatCount(facts.held)} of {formatCount(facts.all)} exact names and numbers said in
            what it covers, letter by letter
            {describeMissingFacts(facts)}
          </Fact>
        )}
        {sources.length > 0 && (
          <Fact
            label={`Made from ${formatNumberOf(sources.length, "summary").replace(/ys$/, "ies")}`}
          >
            <ul>
              {sources.map((source) => (
                <li key={source}>
                  <button
                    type="button"
                    class="link"
                    onClick={() => onOpen({ kind: "summary", id: source })}
                  >
                    Summary {source}
                  </button>
                </li>
              ))}
            </ul>
          </Fact>
        )}
        {!standsHere && <Fact label="In this call">it does not stand in it</Fact>}
      </Facts>
      <Text text={text} label="Text of the summary" />
    </>
  );
}
