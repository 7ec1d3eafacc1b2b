// What a person means by the words in the search box.

export type Sought =
  | { kind: "nothing" }
  | { kind: "call"; id: string }
  | { kind: "entry"; number: number }
  | { kind: "text"; text: string };

/**
 * Pure. "58.3" is a call, "#1241" an entry, anything else a text; in quotes it is always a text.
 */
export function soughtBy(words: string): Sought {
  const text = words.trim();
  if (text === "") return { kind: "nothing" };
  const call = /^(?:call\s+)?(\d+)\.(\d+)$/i.exec(text);
  if (call !== null) return { kind: "call", id: `${Number(call[1])}.${Number(call[2])}` };
  const inWords = /^call\s+(\d+)\s+of\s+turn\s+(\d+)$/i.exec(text);
  if (inWords !== null) return { kind: "call", id: `${Number(inWords[2])}.${Number(inWords[1])}` };
  const entry = /^(?:#|entry\s+)(\d+)$/i.exec(text);
  if (entry !== null) return { kind: "entry", number: Number(entry[1]) };
  const quoted = /^"(.+)"$/.exec(text);
  return { kind: "text", text: quoted?.[1] ?? text };
}
