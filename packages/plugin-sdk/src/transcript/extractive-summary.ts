// Makes a summary of messages by code, without a model.
import type { AgentMessage } from "../contract/message.ts";
import { estimateText } from "../tokens/estimate.ts";
import { identifiersOf, isDecision, isOpenItem, isRule, sentencesOf } from "./extract.ts";
import { parseSections } from "./sections.ts";
import { headOf, oneLine, tailOf, textOf } from "./text.ts";
import { fileOperations, formatToolFailure, toolFailures } from "./tool-facts.ts";
import { isUserTurn } from "./turns.ts";

/** What `extractiveSummary` makes a summary of, and how long. */
export interface ExtractiveSummaryOptions {
  /** Oldest first. */
  messages: readonly AgentMessage[];
  /** The summary's estimate stays within this; room for the headings alone takes about 40. */
  maxTokens: number;
  /** The summary of the history before `messages`; what it lists is carried on. Absent: none. */
  previousSummary?: string;
}

/** Always there, in this order, once (spec "compaction" §2.7). */
export const SUMMARY_HEADINGS = [
  "## Decisions",
  "## Open TODOs",
  "## Constraints/Rules",
  "## Pending user asks",
  "## Exact identifiers",
] as const;

// There when there is something to say.
const EXTRA_HEADINGS = [
  "## Earlier requests",
  "## Progress",
  "## Tool Failures",
  "## Files",
] as const;
type Heading = (typeof SUMMARY_HEADINGS)[number] | (typeof EXTRA_HEADINGS)[number];

const NOTHING_FOUND = "- (none found)";
const MAX_PENDING_CHARS = 800;
const MAX_ITEM_CHARS = 240;
const MAX_FAILURES = 8;
const RECENT_MESSAGES = 10;

/** What could be said under each heading, oldest first. */
type Findings = Record<Heading, string[]>;

/**
 * A summary of `messages` in a fixed form, deterministic. The newest request comes first into the
 * budget, then, in turns, the newest item of each heading. It quotes and never interprets: what it
 * leaves out is lost to a reader, what it says was said.
 */
export function extractiveSummary({
  messages,
  maxTokens,
  previousSummary,
}: ExtractiveSummaryOptions): string {
  const findings = merge(readPrevious(previousSummary), collect(messages));
  return render(choose(findings, maxTokens), maxTokens);
}

function collect(messages: readonly AgentMessage[]): Findings {
  const findings = emptyFindings();
  const pending = messages.findLastIndex(isUserTurn);
  messages.forEach((message, index) => {
    const text = textOf(message);
    if (message.role === "user") {
      if (index === pending) findings["## Pending user asks"].push(`- ${headAndTail(text)}`);
      else findings["## Earlier requests"].push(item(text));
      findings["## Constraints/Rules"].push(...sentencesOf(text).filter(isRule).map(item));
    }
    if (message.role === "assistant")
      findings["## Open TODOs"].push(...sentencesOf(text).filter(isOpenItem).map(item));
    if (message.role === "assistant" || message.role === "user")
      findings["## Decisions"].push(...sentencesOf(text).filter(isDecision).map(item));
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
          ? identifiersOf(text).slice(0, 12)
          : []
        : identifiersOf(text);
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
  for (const { heading, lines } of parseSections(summary ?? "")) {
    // Text of another form is carried as progress: better in the wrong place than lost.
    const target = HEADINGS.find((known) => known === heading) ?? "## Progress";
    findings[target].push(
      ...lines
        .filter((line) => line !== NOTHING_FOUND)
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
  let left = maxTokens - cost(render(chosen, Infinity));
  const take = (heading: Heading) => {
    const line = rest[heading].pop();
    if (line === undefined) return false;
    const extra = isExtra(heading) && chosen[heading].length === 0 ? cost(`\n\n${heading}\n`) : 0;
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

function render(findings: Findings, maxTokens: number): string {
  const required = SUMMARY_HEADINGS.map((heading) =>
    [heading, ...or(findings[heading], NOTHING_FOUND)].join("\n"),
  );
  const extra = EXTRA_HEADINGS.filter((heading) => findings[heading].length > 0).map((heading) =>
    [heading, ...findings[heading]].join("\n"),
  );
  const summary = [...required, ...extra].join("\n\n");
  if (estimateText(summary).estimate <= maxTokens) return summary;
  // Not even the headings fit: as much of them as does.
  let shorter = summary;
  while (shorter !== "" && estimateText(shorter).estimate > maxTokens)
    shorter = headOf(shorter, Math.floor(shorter.length * 0.8));
  return shorter;
}

const HEADINGS: readonly Heading[] = [...SUMMARY_HEADINGS, ...EXTRA_HEADINGS];
// Identifiers are short: three for each item of another heading.
const ROUND: readonly Heading[] = [...HEADINGS, "## Exact identifiers", "## Exact identifiers"];
const isExtra = (heading: Heading) => EXTRA_HEADINGS.some((extra) => extra === heading);
const emptyFindings = () =>
  Object.fromEntries(HEADINGS.map((heading) => [heading, []])) as unknown as Findings;
const newestOnce = (lines: readonly string[]) => [...new Set([...lines].reverse())].reverse();
const or = (lines: readonly string[], fallback: string) =>
  lines.length === 0 ? [fallback] : lines;
const item = (text: string) => `- ${oneLine(text, MAX_ITEM_CHARS)}`;
const cost = (text: string) => estimateText(text).high;

function headAndTail(text: string): string {
  const line = text.replace(/\s+/g, " ").trim();
  if (line.length <= MAX_PENDING_CHARS) return line;
  return `${headOf(line, MAX_PENDING_CHARS / 2)} … ${tailOf(line, MAX_PENDING_CHARS / 2 - 3)}`;
}
