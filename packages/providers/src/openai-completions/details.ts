// Puts the pieces of `reasoning_details` together.
import { isRecord } from "@clew/plugin-sdk/host";

/** Texts that arrive in pieces; every other field is told whole, by the last piece that has it. */
const GROWING = ["text", "summary", "data"] as const;

/**
 * The details of one reply, as they must be sent back. Pieces belong together by index, or by id
 * where a server counts nothing; a piece without either stands for itself.
 */
export class DetailAssembler {
  readonly #details: Record<string, unknown>[] = [];
  readonly #places = new Map<string, number>();

  push(pieces: unknown): void {
    if (!Array.isArray(pieces)) return;
    for (const piece of pieces) if (isRecord(piece)) this.#add(piece);
  }

  /** In the order in which they began; empty when there were none. */
  finish(): readonly unknown[] {
    return this.#details;
  }

  #add(piece: Record<string, unknown>): void {
    const key = keyOf(piece);
    const place = key === undefined ? undefined : this.#places.get(key);
    const begun = place === undefined ? undefined : this.#details[place];
    if (place === undefined || begun === undefined) {
      if (key !== undefined) this.#places.set(key, this.#details.length);
      this.#details.push({ ...piece });
      return;
    }
    const told = Object.entries(piece).filter(([, value]) => value !== null);
    this.#details[place] = { ...begun, ...Object.fromEntries(told), ...grown(begun, piece) };
  }
}

/** A text and its encrypted form may share an index. */
function keyOf({ index, id, type }: Record<string, unknown>): string | undefined {
  if (typeof index === "number") return JSON.stringify([type, index]);
  return typeof id === "string" && id !== "" ? JSON.stringify([type, id]) : undefined;
}

function grown(begun: Record<string, unknown>, piece: Record<string, unknown>) {
  return Object.fromEntries(
    GROWING.flatMap((field) => {
      const [before, more] = [begun[field], piece[field]];
      return typeof before === "string" && typeof more === "string" ? [[field, before + more]] : [];
    }),
  );
}
