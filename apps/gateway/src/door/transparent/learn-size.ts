// Learns of a provider's counts and refusals how large a session's requests really are.
import type { ModelError } from "@clew/plugin-sdk/host";
import type { SessionNotes } from "../memory/journal-lines.ts";
import type { MadeView } from "../view/make-view.ts";

/** Small requests say little about large ones. */
const LEAST_TOKENS = 2_000;
const LEAST_SCALE = 0.5;
const MOST_SCALE = 2.5;
/** Of what a refused request was estimated at, where nobody says how much is allowed. */
const CUT = 0.8;
const LEAST_WINDOW = 1_024;

export function learnUsage(
  notes: SessionNotes,
  { plan }: Pick<MadeView, "plan">,
  promptTokens: number,
): SessionNotes {
  const estimate = plan.tokens / notes.scale;
  if (estimate < LEAST_TOKENS || promptTokens <= 0) return notes;
  return { ...notes, scale: between(promptTokens / estimate) };
}

export function learnOverflow(
  notes: SessionNotes,
  { error, view, window }: { error: ModelError; view: Pick<MadeView, "plan">; window: number },
): SessionNotes {
  const known = Math.min(window, notes.window ?? window);
  const { promptTokens, windowTokens } = error.kind === "overflow" ? error : NOTHING_TOLD;
  const estimate = view.plan.tokens / notes.scale;
  const scale =
    promptTokens === undefined ? notes.scale : between((promptTokens / estimate) * 1.02);
  if (windowTokens !== undefined && windowTokens < known)
    return { ...notes, scale, window: Math.max(LEAST_WINDOW, windowTokens) };
  // It was counted to be more than thought: that alone makes the next view smaller.
  if (scale * estimate > known) return { ...notes, scale };
  const cut = Math.floor(Math.min(known, scale * estimate) * CUT);
  return { ...notes, scale, window: Math.max(LEAST_WINDOW, cut) };
}

const NOTHING_TOLD: { promptTokens?: number; windowTokens?: number } = {};

const between = (scale: number): number => Math.min(MOST_SCALE, Math.max(LEAST_SCALE, scale));
