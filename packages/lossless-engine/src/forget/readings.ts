// Reads a text also as the JSON, or the JSON in JSON, that it may be a part of.

/** A text in a line of JSON, which a tool gave back as JSON, which is kept as JSON. */
const MOST_LEVELS = 3;
const ESCAPE = /\\(?:u([0-9a-fA-F]{4})|(["\\/bfnrt]))/g;
const SIGNS: Readonly<Record<string, string>> = {
  ...{ b: "\b", f: "\f", n: "\n", r: "\r", t: "\t" },
};

/** Pure. The text as it stands, and as often as that makes another one, without its escapes. */
export function readingsOf(text: string): string[] {
  const readings = [text];
  for (let level = 0; level < MOST_LEVELS; level++) {
    const last = readings.at(-1)!;
    if (!last.includes("\\")) break;
    const next = last.replaceAll(ESCAPE, (_all, code: string | undefined, sign: string) =>
      code === undefined ? (SIGNS[sign] ?? sign) : String.fromCharCode(Number.parseInt(code, 16)),
    );
    if (next === last) break;
    readings.push(next);
  }
  return readings;
}
