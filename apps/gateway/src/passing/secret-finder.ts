// Finds secrets in bytes that come piece by piece, however each of their letters is written.
import type { Place, SecretReader, State } from "./secret-reader.ts";

export interface Found {
  /** Bytes from the first of all pieces on. */
  start: number;
  end: number;
}

export class SecretFinder {
  readonly #reader: SecretReader;
  #state: State;
  /** What may have the beginning of a secret in it, and where it starts. */
  #open: Uint8Array = new Uint8Array();
  #openFrom = 0;

  constructor(reader: SecretReader) {
    this.#reader = reader;
    this.#state = reader.nothing;
  }

  /** Before this there is no beginning of a secret that is not read. */
  get openFrom(): number {
    return this.#openFrom;
  }

  /** So many bytes, of which nobody asks; only where nothing is open. */
  skip(bytes: number): void {
    this.#openFrom += bytes;
  }

  /** In the order of their ends. */
  push(piece: Uint8Array): Found[] {
    const { step, longest } = this.#reader;
    const all = this.#open.length === 0 ? piece : Buffer.concat([this.#open, piece]);
    const found: Found[] = [];
    /** Before this nothing is open, and nothing is to be found. */
    let emptyAt = 0;
    for (let at = this.#open.length; at < all.length; at++) {
      const { state, ends } = step(this.#state, all[at]!);
      this.#state = state;
      if (ends) {
        const end = at + 1;
        const from = Math.max(emptyAt, end - longest);
        const start = from + startOf(this.#reader, all.subarray(from, end));
        found.push({ start: this.#openFrom + start, end: this.#openFrom + end });
      }
      if (state.places.length === 0) emptyAt = at + 1;
    }
    const open = Math.max(emptyAt, all.length - longest);
    this.#open = all.slice(open);
    this.#openFrom += open;
    return found;
  }
}

/** Where the secret began that ends with the last byte; of several the first. */
function startOf({ begins, behind }: SecretReader, bytes: Uint8Array): number {
  let open = new Map<Place, number>();
  let found = 0;
  for (const [at, byte] of bytes.entries()) {
    const next = new Map<Place, number>();
    found = at;
    const goOn = (place: Place, start: number) => {
      const read = behind(place, byte);
      if (read?.ends) found = Math.min(found, start);
      for (const to of read?.places ?? []) next.set(to, Math.min(next.get(to) ?? start, start));
    };
    for (const [place, start] of open) goOn(place, start);
    for (const place of begins(byte)) goOn(place, at);
    open = next;
  }
  return found;
}
