// Texts of given sizes and kinds for benches, the same in every run.

/** A small deterministic generator of numbers in [0, 1). */
export function random(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 32;
  };
}

const SENTENCES = [
  "The build failed because the lock file was out of date, so I ran the install again and committed the result.",
  "Could you check whether the customer's second payment was refunded before the end of March?",
  "A context engine decides what the model sees; everything else stays where it is and can be read again later.",
  "We agreed not to change the public names, to keep the old flag for one release, and to write a note about it.",
];

const CODE = `  for (let index = items.length - 1; index >= 0; index--) {
    const item = items[index]!;
    if (used + item.tokens > budget) break;
    kept.unshift({ ...item, reason: "fits", at: Date.now() });
  }
`;

const BASE64 = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
const EMOJI = ["😀", "🚀", "🎉", "🔥", "🤖", "📦", "👍", "🌍"];

export type TextKind = "x" | "emoji" | "base64" | "english" | "code";

/** About `bytes` bytes of UTF-8, never more. */
export function textOfSize(kind: TextKind, bytes: number): string {
  const next = random(bytes);
  const pick = <T>(values: ArrayLike<T>): T => values[Math.floor(next() * values.length)]!;
  switch (kind) {
    case "x":
      return "x".repeat(bytes);
    case "emoji":
      return Array.from({ length: Math.floor(bytes / 4) }, () => pick(EMOJI)).join("");
    case "base64":
      return Array.from({ length: bytes }, () => pick(BASE64)).join("");
    case "english":
      return fill(bytes, () => `${pick(SENTENCES)} `);
    case "code":
      return fill(bytes, () => CODE);
  }
}

function fill(length: number, make: () => string): string {
  const parts: string[] = [];
  for (let size = 0; size < length; ) {
    const part = make();
    parts.push(part);
    size += part.length;
  }
  return parts.join("").slice(0, length);
}
