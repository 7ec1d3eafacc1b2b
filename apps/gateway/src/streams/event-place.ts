// Names a place in the stream of a turn, so that a client can come back to it anywhere.

/** What a client has heard. */
export interface EventPlace {
  /** The ring that told it; "0" = nothing of a turn was told. */
  ring: string;
  /** Number of its last event in this ring; Infinity: the turn's end. */
  number: number;
  /** The last stored entry that it was told; null: none. */
  entryId: string | null;
}

export const NOTHING_HEARD: EventPlace = { ring: "0", number: 0, entryId: null };

const END = "end";
const ID = /^([\da-z]{1,32})\.(\d{1,15}|end)\.(\S{0,4096})$/;

/** As the `id` of an event, in one line of ASCII. */
export function formatPlace({ ring, number, entryId }: EventPlace): string {
  const last = number === Number.POSITIVE_INFINITY ? END : number;
  return `${ring}.${last}.${encodeURIComponent(entryId ?? "")}`;
}

/** Undefined: it is no id of such an event. */
export function parsePlace(id: string): EventPlace | undefined {
  const [, ring, number, entry] = ID.exec(id) ?? [];
  if (ring === undefined || number === undefined || entry === undefined) return undefined;
  try {
    return {
      ring,
      number: number === END ? Number.POSITIVE_INFINITY : Number(number),
      entryId: entry === "" ? null : decodeURIComponent(entry),
    };
  } catch {
    return undefined;
  }
}

export const hasHeardEnd = ({ number }: EventPlace): boolean => number === Number.POSITIVE_INFINITY;

export const hasHeardNothing = ({ ring }: EventPlace): boolean => ring === NOTHING_HEARD.ring;
