// Writes messages otherwise than they were said, as some clients do.
import type { Said } from "./conversation.ts";

/** As Gemini CLI shows old calls to a check. */
export function renamed(said: Said): Said {
  const rename = <T extends { id: string; name: string }>(one: T): T => ({
    ...{ ...one, id: `${one.name}__${one.id}` },
  });
  if (said.by === "model") return { ...said, calls: said.calls.map(rename) };
  return said.by === "tools" ? { ...said, results: said.results.map(rename) } : said;
}

/** With what was looked up beside the person's newest words alone. */
export function withFound(
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
