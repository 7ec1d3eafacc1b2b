// Remembers what was found out about objects, on the objects where that is possible.

/** What was found out about objects, each for as long as it lives. */
export interface Notes<About extends object, Value> {
  /** Undefined: nothing was noted. */
  get(about: About): Value | undefined;
  /** In place of what was noted before. */
  set(about: About, value: Value): void;
}

/**
 * Under this key an object bears its notes. Without them a session of 80,000 messages would have
 * weak maps of as many members, and V8 looks at each of them in the pause of a large collection.
 */
const NOTES = Symbol("notes");

interface Bearer {
  [NOTES]?: NotePad;
}

/** A list, because few things are noted about an object. */
class NotePad {
  readonly about: object;
  first: Note | undefined;

  constructor(about: object) {
    this.about = about;
  }
}

interface Note {
  readonly by: object;
  value: unknown;
  readonly next: Note | undefined;
}

/** Undefined of a copy that got the key as well. */
function padOf(about: Bearer): NotePad | undefined {
  const pad = about[NOTES];
  return pad?.about === about ? pad : undefined;
}

/**
 * Says of plain data that it is frozen for good, to the last part, and lets it bear notes. To be
 * called by whoever freezes it, right before.
 */
export function markAsFixed(value: object): void {
  Object.defineProperty(value, NOTES, { value: new NotePad(value) });
}

/** True of what was marked so; never of a copy. */
export const isFixed = (value: object): boolean => padOf(value) !== undefined;

/**
 * Notes that nobody else can read: like a weak map, and cheaper where the objects are fixed.
 * @example
 * ```ts
 * import { createNotes, markAsFixed } from "@clew/plugin-sdk/host";
 *
 * const lengths = createNotes<{ text: string }, number>();
 * const message = { text: "Hello." };
 * markAsFixed(message);
 * Object.freeze(message);
 * lengths.set(message, 6);
 * console.log(lengths.get(message), lengths.get({ ...message }));
 * ```
 *
 * ```text
 * 6 undefined
 * ```
 */
export function createNotes<About extends object, Value>(): Notes<About, Value> {
  const others = new WeakMap<About, Value>();
  const find = (pad: NotePad): Note | undefined => {
    let note = pad.first;
    while (note !== undefined && note.by !== others) note = note.next;
    return note;
  };
  return {
    get(about) {
      const pad = padOf(about);
      return pad === undefined ? others.get(about) : (find(pad)?.value as Value | undefined);
    },
    set(about, value) {
      const pad = padOf(about);
      if (pad === undefined) {
        others.set(about, value);
        return;
      }
      const note = find(pad);
      if (note === undefined) pad.first = { by: others, value, next: pad.first };
      else note.value = value;
    },
  };
}
