// The command `/think`, which says how hard a session's models think.
import { THINKING_LEVELS, type ThinkingLevel, ThinkingLevelSchema } from "../config/params.ts";
import { nearestOf } from "../text/nearest.ts";
import type { CommandAnswer, CommandSession } from "./answer.ts";

export type ThinkRequest =
  | { kind: "show" }
  | { kind: "set"; level: ThinkingLevel | null }
  | { kind: "unknown"; word: string };

/** Pure. "default" leaves it to the settings again. */
export function parseThink(args: string): ThinkRequest {
  const word = args.trim().toLowerCase();
  if (word === "") return { kind: "show" };
  if (word === "default") return { kind: "set", level: null };
  const { data } = ThinkingLevelSchema.safeParse(word);
  return data === undefined ? { kind: "unknown", word } : { kind: "set", level: data };
}

export async function runThink(
  request: ThinkRequest,
  session: Pick<CommandSession, "think">,
): Promise<Omit<CommandAnswer, "command">> {
  if (request.kind === "unknown") {
    const nearest = nearestOf(request.word, [...THINKING_LEVELS]);
    const guess = nearest === null ? "" : ` Did you mean "${nearest}"?`;
    const text = `There is no level "${request.word}".${guess} Levels: ${THINKING_LEVELS.join(", ")}, and "default", which leaves it to the settings.`;
    return { ok: false, text };
  }
  const { because } = await session.think(request.kind === "set" ? request.level : undefined);
  const thinking = because.find((text) => text.startsWith("thinking "));
  const text =
    thinking === undefined
      ? "Thinking: as the provider does by default. “/think high” changes it for this session."
      : `Thinking: ${thinking.slice("thinking ".length)}.`;
  return { ok: true, text, data: { because } };
}
