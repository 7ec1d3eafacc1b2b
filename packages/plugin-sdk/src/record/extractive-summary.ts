// Makes a summary of messages by code, without a model.
import type { AgentMessage } from "../contract/message.ts";
import { splitRecord } from "../messages/record-text.ts";
import { estimateText } from "../tokens/estimate.ts";
import { parseSections } from "../transcript/sections.ts";
import { requestTextOf } from "../transcript/speaker.ts";
import { headOf, oneLine, tailOf, textOf } from "../transcript/text.ts";
import { fileOperations, formatToolFailure, toolFailures } from "../transcript/tool-facts.ts";
import { isUserTurn } from "../transcript/turns.ts";
import { forceOf, isBinding } from "./cues.ts";
import { namesIn } from "./names.ts";
import { sentencesOf, sentencesSaid } from "./speech.ts";

/** What `extractiveSummary` makes a summary of, and how long. */
export interface ExtractiveSummaryOptions {
  /** Oldest first. */
  messages: readonly AgentMessage[];
  /** The summary's estimate stays within this; room for the headings alone takes about 40. */
  maxTokens: number;
  /** The summary of the history before `messages`; what it lists is carried on. Absent: none. */
  previousSummary?: string;
}

/** What a model's summary holds, in this order, each once (spec "compaction" §2.7). */
export const SUMMARY_HEADINGS = [
  "## Decisions",
  "## Open TODOs",
  "## Constraints/Rules",
  "## Pending user asks",
  "## Exact identifiers",
] as const;

const EXTRA_HEADINGS = [
  "## Earlier requests",
  "## Progress",
  "## Tool Failures",
  "## Files",
] as const;
type Heading = (typeof SUMMARY_HEADINGS)[number] | (typeof EXTRA_HEADINGS)[number];

/** A line that says nothing: an empty list, a heading of another form, a rule. */
const EMPTY_LINE =
  /^(?:[-*]\s*)?(?:\(?none(?: found)?\)?\.?|[-=*_]{3,}|#{1,6}\s.*|\*\*[^*]*\*\*:?)$/i;
const MAX_PENDING_CHARS = 800;
const MAX_ITEM_CHARS = 240;
const MAX_FAILURES = 8;
const RECENT_MESSAGES = 10;

/** What could be said under each heading, oldest first. */
type Findings = Record<Heading, string[]>;

/**
 * A summary of `messages` in a fixed form, deterministic: of `SUMMARY_HEADINGS` and a few more
 * those under which there is something to say. The newest request comes first into the budget,
 * then, in turns, the newest item of each heading. It quotes and never interprets: what it leaves
 * out is lost to a reader, what it says was said. For those who have messages only; of a
 * transcript's entries `renderRecord` makes more in less room.
 */
export function extractiveSummary({
  messages,
  maxTokens,
  previousSummary,
}: ExtractiveSummaryOptions): string {
  const findings = merge(readPrevious(previousSummary), collect(messages));
  return render(choose(findings, maxTokens));
}

function collect(messages: readonly AgentMessage[]): Findings {
  const findings = emptyFindings();
  const pending = messages.findLastIndex(isUserTurn);
  messages.forEach((message, index) => {
    const text = textOf(message);
    if (message.role === "user") {
      if (index === pending)
        findings["## Pending user asks"].push(`- ${headAndTail(requestTextOf(message))}`);
      else findings["## Earlier requests"].push(item(requestTextOf(message)));
      findings["## Constraints/Rules"].push(
        ...sentencesSaid(message)
          .filter((sentence) => isBinding(forceOf(sentence)))
          .map(item),
      );
    }
    const sentences = message.role === "user" ? sentencesSaid(message) : sentencesOf(text);
    if (message.role === "assistant" || message.role === "user")
      findings["## Decisions"].push(
        ...sentences.filter((sentence) => forceOf(sentence) === "wish").map(item),
      );
    if (
      message.role === "assistant" &&
      (index + 1 === messages.length || isUserTurn(messages[index + 1]!))
    ) {
      findings["## Progress"].push(...sentencesOf(text).slice(0, 1).map(item));
    }
    // Old tool output names a thousand things; the newest messages' are what the work is about.
    const names =
      message.role === "toolResult"
        ? index >= messages.length - RECENT_MESSAGES
          ? exactNames(text).slice(0, 12)
          : []
        : exactNames(text);
    findings["## Exact identifiers"].push(...names.map(item));
  });
  const failures = toolFailures(messages).map(formatToolFailure);
  const more = failures.length - MAX_FAILURES;
  findings["## Tool Failures"] =
    more > 0 ? [...failures.slice(0, MAX_FAILURES), `- ...and ${more} more`] : failures;
  const { readFiles, modifiedFiles } = fileOperations(messages);
  findings["## Files"] = [
    ...readFiles.map((path) => `- read: ${path}`),
    ...modifiedFiles.map((path) => `- modified: ${path}`),
  ];
  const listed = new Set([...readFiles, ...modifiedFiles].map(item));
  findings["## Exact identifiers"] = findings["## Exact identifiers"].filter(
    (name) => !listed.has(name),
  );
  return findings;
}

/**
 * The newest of equal items stays, so that what is still talked about counts as new. A new request
 * makes the old one an earlier one.
 */
function merge(before: Findings, now: Findings): Findings {
  const superseded =
    now["## Pending user asks"].length > 0
      ? before["## Pending user asks"].map((ask) => item(ask.slice(2)))
      : [];
  const merged = emptyFindings();
  for (const heading of HEADINGS)
    merged[heading] = newestOnce([...before[heading], ...now[heading]]);
  if (superseded.length > 0) {
    merged["## Pending user asks"] = now["## Pending user asks"];
    merged["## Earlier requests"] = newestOnce([
      ...before["## Earlier requests"],
      ...superseded,
      ...now["## Earlier requests"],
    ]);
  }
  return merged;
}

function readPrevious(summary: string | undefined): Findings {
  const findings = emptyFindings();
  for (const { heading, lines } of parseSections(splitRecord(summary ?? "").summary)) {
    // Text of another form is carried as progress: better in the wrong place than lost.
    const target = HEADINGS.find((known) => known === heading) ?? "## Progress";
    findings[target].push(
      ...lines
        .filter((line) => !EMPTY_LINE.test(line))
        .map((line) => (line.startsWith("- ") ? line : item(line))),
    );
  }
  return findings;
}

/**
 * Takes items newest first, one per heading and round, while they fit; returns them oldest first.
 */
function choose(findings: Findings, maxTokens: number): Findings {
  const chosen = emptyFindings();
  const rest = Object.fromEntries(
    HEADINGS.map((heading) => [heading, findings[heading].slice()]),
  ) as Findings;
  let left = maxTokens;
  const take = (heading: Heading) => {
    const line = rest[heading].pop();
    if (line === undefined) return false;
    const extra = chosen[heading].length === 0 ? cost(`\n\n${heading}\n`) : 0;
    const price = cost(`${line}\n`) + extra;
    if (price <= left) {
      left -= price;
      chosen[heading].unshift(line);
    }
    return true;
  };
  while (take("## Pending user asks")) {}
  for (let more = true; more && left > 0; ) more = ROUND.filter(take).length > 0;
  return chosen;
}

const render = (findings: Findings) =>
  HEADINGS.filter((heading) => findings[heading].length > 0)
    .map((heading) => [heading, ...findings[heading]].join("\n"))
    .join("\n\n");

const HEADINGS: readonly Heading[] = [...SUMMARY_HEADINGS, ...EXTRA_HEADINGS];
// Identifiers are short: three for each item of another heading.
const ROUND: readonly Heading[] = [...HEADINGS, "## Exact identifiers", "## Exact identifiers"];
const emptyFindings = () =>
  Object.fromEntries(HEADINGS.map((heading) => [heading, []])) as unknown as Findings;
const newestOnce = (lines: readonly string[]) => [...new Set([...lines].reverse())].reverse();
const exactNames = (text: string) => namesIn(text).map(({ name }) => name);
const item = (text: string) => `- ${oneLine(text, MAX_ITEM_CHARS)}`;
const cost = (text: string) => estimateText(text).high;

function headAndTail(text: string): string {
  const line = text.replace(/\s+/g, " ").trim();
  if (line.length <= MAX_PENDING_CHARS) return line;
  return `${headOf(line, MAX_PENDING_CHARS / 2)} … ${tailOf(line, MAX_PENDING_CHARS / 2 - 3)}`;
}
