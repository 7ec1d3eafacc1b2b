// How a shortened tool result looks to the model, and the entry that remembers it.
import { z } from "zod";
import type { AgentMessage, ToolResultBlock, ToolResultMessage } from "../contract/message.ts";
import { blocksOf, stringOf } from "../messages/blocks.ts";
import { createNotes } from "../notes.ts";
import type { CustomEntry, NewTranscriptEntry, TranscriptEntry } from "./entries.ts";
import { headOf, tailOf } from "./text.ts";

export const SESSION_PRUNE_ENTRY_TYPE = "clew.session-prune";

const SessionProjectionSchema = z.discriminatedUnion("kind", [
  z.object({
    kind: z.literal("soft"),
    entryId: z.string(),
    headChars: z.number(),
    tailChars: z.number(),
  }),
  z.object({ kind: z.literal("hard"), entryId: z.string(), placeholder: z.string() }),
]);

/**
 * How one tool result is shown; holds all it takes, so that a changed setting never changes
 * bytes a provider has cached.
 */
export type SessionProjection = z.infer<typeof SessionProjectionSchema>;

const RecordSchema = z.object({ v: z.literal(1), projections: z.array(SessionProjectionSchema) });

/** What is appended to remember the decisions of one prune. */
export function sessionPruneEntry(added: readonly SessionProjection[]): NewTranscriptEntry {
  return {
    type: "custom",
    customType: SESSION_PRUNE_ENTRY_TYPE,
    data: { v: 1, projections: added },
  };
}

/**
 * The entry with its decisions about entries under new ids; the very entry where none moved,
 * and for any other entry.
 */
export function moveSessionPrune(entry: CustomEntry, moved: (id: string) => string): CustomEntry {
  const record =
    entry.customType === SESSION_PRUNE_ENTRY_TYPE
      ? RecordSchema.safeParse(entry.data).data
      : undefined;
  if (record === undefined || record.projections.every(({ entryId }) => moved(entryId) === entryId))
    return entry;
  const projections = record.projections.map((projection) => ({
    ...projection,
    entryId: moved(projection.entryId),
  }));
  return { ...entry, data: { ...record, projections } };
}

/**
 * All decisions on `branch`, one per entry; of two the harder, of equal ones the first. Records of
 * another form decide nothing.
 */
export function sessionProjections(branch: readonly TranscriptEntry[]): SessionProjection[] {
  const decided = new Map<string, SessionProjection>();
  for (const entry of branch) {
    if (entry.type !== "custom" || entry.customType !== SESSION_PRUNE_ENTRY_TYPE) continue;
    for (const projection of RecordSchema.safeParse(entry.data).data?.projections ?? []) {
      const before = decided.get(projection.entryId);
      if (before === undefined || (before.kind === "soft" && projection.kind === "hard"))
        decided.set(projection.entryId, projection);
    }
  }
  return [...decided.values()];
}

/**
 * The messages as the decisions show them; the same array when none concerns them, the same
 * object for each message as long as its decision is the same. Calls and results stay paired;
 * nothing given is changed.
 */
export function applySessionPrune(
  messages: readonly AgentMessage[],
  projections: readonly SessionProjection[],
  entryIdOf: (message: AgentMessage) => string | undefined,
): readonly AgentMessage[] {
  if (projections.length === 0) return messages;
  const byEntry = new Map(projections.map((projection) => [projection.entryId, projection]));
  let changed = false;
  const view = messages.map((message) => {
    if (message.role !== "toolResult") return message;
    const projection = byEntry.get(entryIdOf(message) ?? "");
    if (projection === undefined) return message;
    const shown = projectResult(message, projection);
    changed ||= shown !== message;
    return shown;
  });
  return changed ? view : messages;
}

// Messages are never changed once made, so a view belongs to its message.
const known = createNotes<ToolResultMessage, { key: string; shown: ToolResultMessage }>();

/**
 * One result as `projection` shows it. A function of the two alone; the same object as
 * long as they are the same.
 */
export function projectResult(
  message: ToolResultMessage,
  projection: SessionProjection,
): ToolResultMessage {
  // A durable prune has cleared it already.
  if (message.prunedAt !== undefined) return message;
  const key = JSON.stringify(projection);
  const before = known.get(message);
  if (before?.key === key) return before.shown;
  const { details: _details, ...kept } = message;
  const text = projection.kind === "hard" ? projection.placeholder : trimmed(message, projection);
  const shown: ToolResultMessage = {
    ...kept,
    content: [{ type: "text", text }] satisfies ToolResultBlock[],
  };
  known.set(message, { key, shown });
  return shown;
}

/** True when the projection shows something else than the message. */
export const isProjected = (message: ToolResultMessage, projection: SessionProjection) =>
  projectResult(message, projection) !== message;

function trimmed(
  message: ToolResultMessage,
  { headChars, tailChars }: { headChars: number; tailChars: number },
): string {
  const text = blocksOf(message.content)
    .map((block) => (block.type === "image" ? "[image not shown]" : stringOf(block.text)))
    .join("\n");
  if (text.length <= headChars + tailChars) return text;
  const note = `[the first ${headChars} and last ${tailChars} of ${text.length} characters are shown]`;
  return `${headOf(text, headChars)}\n...\n${tailOf(text, tailChars)}\n\n${note}`;
}
