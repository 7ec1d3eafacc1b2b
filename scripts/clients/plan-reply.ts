// Decides what a scripted model replies, from nothing but the request before it.
import { ASKED_AT, type PlantedFact } from "../../apps/bench/src/gateway/door-facts.ts";
import type { Client, ModelCall } from "./clients.ts";
import { type Schema, type Seen, textsIn } from "./see-request.ts";
import { finalWords, newestFile, PART_MARK, type Part, pathOf, type Task } from "./task.ts";

/**
 * "step": it calls tools of the client · "look": tools of the door · "final": a conversation is
 * at its end · "summary": its client compacts · "side": a title, or a check.
 */
export interface PlannedReply {
  kind: "step" | "look" | "final" | "summary" | "side";
  part: Part;
  /** Which file is read next; 0: none. */
  file: number;
  text: string;
  calls: readonly ModelCall[];
  /** Those it could answer by. Absent: it was not asked. */
  known?: readonly PlantedFact[];
}

export const SEARCH = "session_search";
/** In the id of each call of the door's own tools. */
export const LOOK = "look_";

/** A client that compacts gets so much of what it had, in characters, from the end on. */
const SUMMARY_CHARS = 4_000;
/** Shorter requests without tools are for titles. */
const LEAST_COMPACTED = 8_000;
const ASKS_FOR_SUMMARY = /summar|compact|hand-?off/i;

export function planReply(seen: Seen, { read, subagents }: Client, task: Task): PlannedReply {
  const part = (PART_MARK.exec(seen.text)?.[1] ?? "main") as Part;
  const said = { part, file: 0, calls: [], text: "" };
  if (seen.schema !== undefined)
    return { ...said, kind: "side", text: JSON.stringify(fill(seen.schema)) };
  const files = task.parts.get(part) ?? [];
  const done = newestFile(seen.text, task.folder, part);
  if (!seen.tools.has(read("").name) || isCompaction(seen))
    return seen.text.length < LEAST_COMPACTED
      ? { ...said, kind: "side", text: "Files are read" }
      : { ...said, kind: "summary", text: summaryOf(seen, { task, part, done }) };
  if (part === "main" && subagents !== undefined && task.delegated.length > 0) {
    const calls = delegate(seen, subagents, task);
    return calls.length > 0
      ? { ...said, kind: "step", calls }
      : { ...said, kind: "final", text: finalWords(part, 0) };
  }
  const file = done + 1;
  if (file > files.length) return { ...said, kind: "final", text: finalWords(part, files.length) };
  const step = { part, file, kind: "step", text: files[done]!.text } as const;
  const call = read(pathOf(task.folder, part, file));
  if (file !== ASKED_AT || task.facts.length === 0) return { ...step, calls: [call] };
  const known = task.facts.filter(({ answer }) => seen.text.includes(answer));
  const missing = task.facts.filter((fact) => !known.includes(fact));
  if (missing.length > 0 && seen.tools.has(SEARCH) && !seen.text.includes(LOOK)) {
    const calls = missing.map(({ query }) => ({ name: SEARCH, args: { query } }));
    return { ...step, kind: "look", text: "", calls };
  }
  return { ...step, calls: [call], known };
}

const isCompaction = ({ lastWords }: Seen) =>
  lastWords !== null && !PART_MARK.test(lastWords) && ASKS_FOR_SUMMARY.test(lastWords);

function summaryOf(
  { messages, lastWords }: Seen,
  { task, part, done }: { task: Task; part: Part; done: number },
): string {
  const before = textsIn(lastWords === null ? messages : messages.slice(0, -1)).join("\n");
  const order = part === "main" ? task.prompt : `TASK ${part}:`;
  const last = done === 0 ? "" : `\nRead last: ${pathOf(task.folder, part, done)}`;
  return `${order}\nSummary: ${before.slice(-SUMMARY_CHARS)}${last}`;
}

/** Starts them once, waits for them, and ends when each has said its last words. */
function delegate(
  { text }: Seen,
  { start, wait }: NonNullable<Client["subagents"]>,
  { delegated, parts }: Task,
): readonly ModelCall[] {
  if (!delegated.every((order) => text.includes(order))) return start(delegated);
  const areDone = [...parts].every(([part, { length }]) => text.includes(finalWords(part, length)));
  if (areDone || wait === undefined) return [];
  const names = text.matchAll(/agent_id[\\":\s]+([\w-]{36})/g);
  return [wait([...new Set([...names].map(([, name]) => name!))])];
}

function fill({ type, enum: choices, properties }: Schema): unknown {
  if (choices !== undefined) return choices[0];
  if (properties !== undefined)
    return Object.fromEntries(
      Object.entries(properties).map(([name, schema]) => [name, fill(schema)]),
    );
  const kind = type?.toLowerCase();
  if (kind === "number" || kind === "integer") return 0;
  if (kind === "boolean") return false;
  return kind === "array" ? [] : "none";
}
