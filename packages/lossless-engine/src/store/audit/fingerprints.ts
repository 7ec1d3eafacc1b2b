// Tells by two numbers for each message whether two indexes hold the same of it.

/** What is known of each message, by its number: sums of hashes, in whichever order they come. */
export interface Fingerprints {
  /** `one` and `other`: hashes of what the index holds of the message. */
  add(message: number, one: number, other: number): void;
  /** True: nothing was added, or what comes to nothing. */
  isEmpty(message: number): boolean;
  isSame(message: number, other: Fingerprints): boolean;
  /** Sums of a message. */
  of(message: number): readonly [number, number];
  /** Forgets a message. */
  clear(message: number): void;
  /** Numbers that no message can have, of which something was said. */
  readonly strays: ReadonlySet<number>;
}

/** For numbers from 1 to `newest`. */
export function createFingerprints(newest: number): Fingerprints {
  const ones = new Uint32Array(newest + 1);
  const others = new Uint32Array(newest + 1);
  const strays = new Set<number>();
  return {
    strays,
    add(message, one, other) {
      if (!(message >= 1 && message <= newest)) {
        strays.add(message);
        return;
      }
      ones[message]! += one;
      others[message]! += other;
    },
    isEmpty: (message) => ones[message] === 0 && others[message] === 0,
    isSame(message, { of }) {
      const [one, other] = of(message);
      return ones[message] === one && others[message] === other;
    },
    of: (message) => [ones[message]!, others[message]!],
    clear(message) {
      ones[message] = 0;
      others[message] = 0;
    },
  };
}

/** Pure: a number spread over 32 bits; `seed` makes it another. */
export function hashOf(value: number, seed: number): number {
  let mixed = Math.imul(value ^ seed, 0x9e3779b1) >>> 0;
  mixed = Math.imul(mixed ^ (mixed >>> 15), 0x85ebca6b) >>> 0;
  mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35) >>> 0;
  return (mixed ^ (mixed >>> 16)) >>> 0;
}

/** Pure: the same of a text. */
export function textHash(text: string, seed: number): number {
  let hash = seed;
  for (let at = 0; at < text.length; at++)
    hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193) >>> 0;
  return hashOf(hash, text.length);
}
