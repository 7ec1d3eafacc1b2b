// Finds in a request what the offline model is to summarise.
import type { AgentMessage } from "@clew/plugin-sdk/core";
import { extractiveSummary, SUMMARY_HEADINGS } from "@clew/plugin-sdk/transcript";

/** What shall be summarised. */
export interface SummaryMaterial {
  messages: AgentMessage[];
  previousSummaries: string[];
}

/** Tokens of a summary for which no limit is asked. */
const DEFAULT_TOKENS = 1000;
/** Tokens of the headings under which there is nothing to say. */
const FORM_TOKENS = 50;

export function summarise(
  { messages, previousSummaries }: SummaryMaterial,
  maxTokens: number | undefined,
): string {
  const previousSummary = previousSummaries.join("\n\n");
  const summary = extractiveSummary({
    messages,
    maxTokens: Math.max(0, (maxTokens ?? DEFAULT_TOKENS) - FORM_TOKENS),
    ...(previousSummary !== "" && { previousSummary }),
  });
  return inForm(summary);
}

/** With every heading that a summary is asked for, in order. */
function inForm(summary: string): string {
  const sections = summary.split(/\n\n(?=## )/).filter((section) => section !== "");
  const isOf = (heading: string) => (section: string) => section.startsWith(`${heading}\n`);
  const required = SUMMARY_HEADINGS.map(
    (heading) => sections.find(isOf(heading)) ?? `${heading}\n- (none)`,
  );
  const others = sections.filter(
    (section) => !SUMMARY_HEADINGS.some((heading) => isOf(heading)(section)),
  );
  return [...required, ...others].join("\n\n");
}

/** Messages of a session; summaries among them are carried on. */
export function sessionMaterial(messages: readonly AgentMessage[]): SummaryMaterial {
  return {
    messages: messages.filter(
      ({ role }) => role !== "compactionSummary" && role !== "branchSummary",
    ),
    previousSummaries: messages.flatMap((message) =>
      message.role === "compactionSummary" || message.role === "branchSummary"
        ? [message.summary]
        : [],
    ),
  };
}

/**
 * A conversation as text: parts that begin with "[User]: ", "[Assistant]: " or "[Tool result]: "
 * (spec "compaction" §2.4), or plain paragraphs. A part that is itself a summary is carried on;
 * thinking and calls are nothing a summary tells.
 */
export function textMaterial(text: string, previousSummary?: string): SummaryMaterial {
  const earlier = previousSummary === undefined ? [] : [previousSummary];
  const labelled = text.split(LABEL);
  if (labelled.length === 1 && isSummary(text))
    return { messages: [], previousSummaries: [...earlier, text] };
  const parts =
    labelled.length > 1
      ? pairs(labelled)
      : text.split(/\n{2,}/).map((body) => ({ label: "User", body }));
  return {
    messages: parts.flatMap(({ label, body }) =>
      isSummary(body) || body.trim() === "" ? [] : toMessage(label, body.trim()),
    ),
    previousSummaries: [
      ...earlier,
      ...parts.flatMap(({ body }) =>
        isSummary(body) ? [body.slice(body.indexOf(FIRST_HEADING))] : [],
      ),
    ],
  };
}

function toMessage(label: string, content: string): AgentMessage[] {
  const blocks = [{ type: "text" as const, text: content }];
  if (label === "User") return [{ role: "user", content }];
  if (label === "Assistant") return [{ role: "assistant", content: blocks, stopReason: "stop" }];
  return label === "Tool result"
    ? [{ role: "toolResult", toolCallId: "", toolName: "", content: blocks, isError: false }]
    : [];
}

const FIRST_HEADING = SUMMARY_HEADINGS[0];
const isSummary = (text: string) => text.includes(FIRST_HEADING);
const LABEL =
  /^\[(User|Assistant thinking|Assistant tool calls|Assistant|Tool result)(?: [^\n]*?)?\]: /m;

/** `split` with one group gives text before the first label, then label and body in turns. */
function pairs(pieces: readonly string[]): { label: string; body: string }[] {
  return Array.from({ length: (pieces.length - 1) / 2 }, (_, index) => ({
    label: pieces[index * 2 + 1] ?? "",
    body: pieces[index * 2 + 2] ?? "",
  }));
}
