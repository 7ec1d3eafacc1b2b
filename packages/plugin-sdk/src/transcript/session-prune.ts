// Which old tool results a host shortens once the provider's prompt cache is cold.
import type { AgentMessage, ToolResultMessage } from "../contract/message.ts";
import { messageParts } from "../tokens/parts.ts";
import { isProjected, projectResult, type SessionProjection } from "./session-projection.ts";
import { isUserTurn } from "./turns.ts";

/** `agents.defaults.contextPruning` (spec "compaction" §4.3). Lengths in characters. */
export interface SessionPruneSettings {
  /**
   * "cache-ttl": once the time to live of the provider's cache has passed
   * since it was last touched.
   */
  mode: "off" | "cache-ttl";
  /** How long the provider's cache lives after its last use, ms. */
  ttlMs: number;
  /**
   * Tool names, `*` stands for anything, upper and lower case alike; an empty `allow` is
   * every tool; `deny` wins.
   */
  tools: { allow: readonly string[]; deny: readonly string[] };
  /** Whether the oldest may be cleared, and what they say then. */
  hardClear: { enabled: boolean; placeholder: string };
  /** From which length a result is cut, and how much of both ends stays. */
  softTrim: { maxChars: number; headChars: number; tailChars: number };
  /** Newest assistant messages from whose first on nothing is touched. */
  keepLastAssistants: number;
  /** Share of the window, at 4 characters per token, from which on results are shortened. */
  softTrimRatio: number;
  /** Share from which on they are cleared. */
  hardClearRatio: number;
  /** Below this much in clearable results, nothing is cleared. */
  minPrunableToolChars: number;
}

/** What holds for a setting that is not given. */
export const DEFAULT_SESSION_PRUNE: SessionPruneSettings = Object.freeze({
  mode: "cache-ttl",
  ttlMs: 5 * 60_000,
  tools: { allow: [], deny: [] },
  hardClear: { enabled: true, placeholder: "[Old tool result content cleared]" },
  softTrim: { maxChars: 4_000, headChars: 1_500, tailChars: 1_500 },
  keepLastAssistants: 3,
  softTrimRatio: 0.3,
  hardClearRatio: 0.5,
  minPrunableToolChars: 50_000,
});

/** What a prune of the view is decided by. */
export interface SessionPruneInput {
  /** The view, oldest first. */
  messages: readonly AgentMessage[];
  /** The transcript entry of a message; undefined for one that has none: it is not touched. */
  entryIdOf: (message: AgentMessage) => string | undefined;
  /** ms since the epoch. */
  now: number;
  /**
   * When the provider's cache was last read or written, ms since the epoch. Absent or null: never,
   * so nothing is in it.
   */
  lastCacheTouchAt?: number | null | undefined;
  /** Tokens. */
  contextWindow: number;
  /** Absent, in whole or in part: DEFAULT_SESSION_PRUNE. */
  settings?: Partial<SessionPruneSettings> | undefined;
  /** What was decided before on this branch. Absent: nothing. */
  previous?: readonly SessionProjection[] | undefined;
}

/** What a prune of the view decided. */
export interface SessionPrunePlan {
  /** All that hold now: one per entry, what was decided before included. */
  projections: readonly SessionProjection[];
  /** What is new or has become harder; to be recorded. Empty = nothing changed. */
  added: readonly SessionProjection[];
  /**
   * Why it came out so: "pruned" when there is something in `added`, else what stood against it.
   */
  reason: "off" | "cache-warm" | "too-short" | "below-ratio" | "nothing-to-prune" | "pruned";
}

const CHARS_PER_TOKEN = 4;

/**
 * Plans one prune of the view (spec "compaction" §4.3): nothing before the first user message and
 * nothing in the last assistant turns; long results keep head and tail; if that is not enough the
 * oldest are cleared until it is. A decision never softens. Pure; linear.
 */
export function planSessionPrune(input: SessionPruneInput): SessionPrunePlan {
  const settings = { ...DEFAULT_SESSION_PRUNE, ...input.settings } satisfies SessionPruneSettings;
  const projections = new Map(
    (input.previous ?? []).map((projection) => [projection.entryId, projection]),
  );
  const keep = (reason: SessionPrunePlan["reason"]): SessionPrunePlan => ({
    projections: [...projections.values()],
    added: [],
    reason,
  });
  if (settings.mode === "off") return keep("off");
  if (
    typeof input.lastCacheTouchAt === "number" &&
    input.now - input.lastCacheTouchAt < settings.ttlMs
  )
    return keep("cache-warm");
  const zone = prunableZone(input.messages, settings.keepLastAssistants);
  if (zone === undefined) return keep("too-short");

  const view = new View(input, projections);
  const windowChars = Math.max(1, input.contextWindow * CHARS_PER_TOKEN);
  if (view.chars / windowChars < settings.softTrimRatio) return keep("below-ratio");

  const candidates = view.candidates(zone, toolFilter(settings.tools));
  const added = new Map<string, SessionProjection>();
  const project = (candidate: Candidate, projection: SessionProjection) => {
    if (view.project(candidate, projection)) added.set(projection.entryId, projection);
  };
  const { headChars, tailChars, maxChars } = settings.softTrim;
  for (const candidate of candidates)
    if (!projections.has(candidate.entryId) && candidate.chars > maxChars)
      project(candidate, { entryId: candidate.entryId, kind: "soft", headChars, tailChars });

  const clearable = candidates.filter(({ entryId }) => projections.get(entryId)?.kind !== "hard");
  const clearableChars = clearable.reduce((sum, { chars }) => sum + chars, 0);
  if (settings.hardClear.enabled && clearableChars >= settings.minPrunableToolChars)
    for (const candidate of clearable) {
      if (view.chars / windowChars < settings.hardClearRatio) break;
      project(candidate, {
        entryId: candidate.entryId,
        kind: "hard",
        placeholder: settings.hardClear.placeholder,
      });
    }
  if (added.size === 0) return keep("nothing-to-prune");
  for (const [entryId, projection] of added) projections.set(entryId, projection);
  return { projections: [...projections.values()], added: [...added.values()], reason: "pruned" };
}

/**
 * "5m", "1h", "90s", "250ms", "1d"; a bare number is minutes. Milliseconds;
 * undefined for anything else.
 */
export function parsePruneTtl(value: string | number): number | undefined {
  const [, amount, unit = "m"] =
    /^\s*(\d+(?:\.\d+)?)\s*(ms|s|m|h|d)?\s*$/.exec(String(value)) ?? [];
  if (amount === undefined) return undefined;
  const unitMs = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 }[unit];
  return unitMs === undefined ? undefined : Number(amount) * unitMs;
}

interface Candidate {
  entryId: string;
  message: ToolResultMessage;
  /** Of what the model sees of it now. */
  chars: number;
}

/** The messages as projected so far, and how much they hold. */
class View {
  chars = 0;
  readonly #input: SessionPruneInput;
  readonly #shown: AgentMessage[];

  constructor(input: SessionPruneInput, projections: ReadonlyMap<string, SessionProjection>) {
    this.#input = input;
    this.#shown = input.messages.map((message) => {
      if (message.role !== "toolResult") return message;
      const projection = projections.get(input.entryIdOf(message) ?? "");
      return projection === undefined ? message : projectResult(message, projection);
    });
    for (const message of this.#shown) this.chars += charsOf(message);
  }

  candidates(
    { start, end }: { start: number; end: number },
    isAllowed: (toolName: string) => boolean,
  ): Candidate[] {
    return this.#input.messages.slice(start, end).flatMap((message, offset) => {
      if (
        message.role !== "toolResult" ||
        message.pruneProtect === true ||
        message.prunedAt !== undefined
      )
        return [];
      const entryId = this.#input.entryIdOf(message);
      if (entryId === undefined || !isAllowed(message.toolName ?? "")) return [];
      return [{ entryId, message, chars: charsOf(this.#shown[start + offset]!) }];
    });
  }

  /** False, and nothing done, when it would not make the message shorter. */
  project(candidate: Candidate, projection: SessionProjection): boolean {
    const chars = charsOf(projectResult(candidate.message, projection));
    if (chars >= candidate.chars || !isProjected(candidate.message, projection)) return false;
    this.chars -= candidate.chars - chars;
    candidate.chars = chars;
    return true;
  }
}

/**
 * From the first user message up to the first of the newest assistant messages; undefined when
 * there are not that many.
 */
function prunableZone(
  messages: readonly AgentMessage[],
  keepLastAssistants: number,
): { start: number; end: number } | undefined {
  const start = messages.findIndex(isUserTurn);
  if (start < 0) return undefined;
  if (keepLastAssistants <= 0) return { start, end: messages.length };
  let assistants = 0;
  for (let end = messages.length - 1; end > start; end--)
    if (messages[end]!.role === "assistant" && ++assistants === keepLastAssistants)
      return { start, end };
  return undefined;
}

/** As the model sees it; an image counts as 4,800. */
function charsOf(message: AgentMessage): number {
  const parts = messageParts(message);
  return parts === undefined
    ? 0
    : parts.texts.reduce((sum, text) => sum + text.length, parts.images * 4_800);
}

function toolFilter({ allow, deny }: SessionPruneSettings["tools"]): (toolName: string) => boolean {
  const [allowed, denied] = [allow.map(globPattern), deny.map(globPattern)];
  return (name) =>
    !denied.some((glob) => glob.test(name)) &&
    (allowed.length === 0 || allowed.some((glob) => glob.test(name)));
}

function globPattern(glob: string): RegExp {
  const parts = glob
    .trim()
    .split(/\*+/)
    .map((part) => part.replace(/[.+?^${}()|[\]\\]/g, "\\$&"));
  return new RegExp(`^${parts.join(".*")}$`, "is");
}
