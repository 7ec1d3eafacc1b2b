// Writes messages otherwise than they were said, as some clients do.
import { contentHash } from "../../text/content-hash.ts";
import type { Said } from "./conversation.ts";
import type { Habits } from "./habits.ts";

/** As Gemini CLI shows old calls to a check. */
export const renamed = (said: Said): Said => withIds(said, ({ id, name }) => `${name}__${id}`);

/** As an agent of such habits sends it. */
export function toldBy(
  { habits, label }: { habits: Pick<Habits, "ownIds" | "looksUp">; label: string },
  said: readonly Said[],
  next: () => number,
): readonly Said[] {
  const { ownIds, looksUp } = habits;
  if (ownIds !== undefined) return withOwnIds(said, ownIds === "kept" ? label : `${next()}`);
  return looksUp === undefined ? said : withFound(said, looksUp, `Found: number ${next()}.`);
}

/** As programs do that put ids of their own on calls. */
export const withOwnIds = (said: readonly Said[], own: string): readonly Said[] =>
  said.map((one) => withIds(one, ({ id }) => `own_${contentHash(own + id).slice(0, 20)}`));

function withIds(said: Said, idFor: (one: { id: string; name: string }) => string): Said {
  const rename = <T extends { id: string; name: string }>(one: T): T => ({
    ...{ ...one, id: idFor(one) },
  });
  if (said.by === "model") return { ...said, calls: said.calls.map(rename) };
  return said.by === "tools" ? { ...said, results: said.results.map(rename) } : said;
}

/** With what was looked up beside the person's newest words alone. */
function withFound(
  said: readonly Said[],
  where: "before" | "behind",
  found: string,
): readonly Said[] {
  const at = said.findLastIndex(({ by, uid }) => by === "person" && uid !== null);
  const words = said[at];
  if (words?.by !== "person") return said;
  const text = where === "before" ? `${found}\n${words.text}` : `${words.text}\n${found}`;
  return said.with(at, { ...words, text });
}
