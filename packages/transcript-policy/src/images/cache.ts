// Remembers what became of an image, by its content, within a fixed amount of memory.
import { sha256Hex } from "../hash.ts";

/** The block an image became, and roughly how many bytes remembering it takes. */
interface Entry<T> {
  value: T;
  bytes: number;
}

/**
 * A least-recently-used cache keyed by content; keys are hashes, so that inputs are not kept alive.
 */
export class ContentCache<T> {
  readonly #entries = new Map<string, Entry<T>>();
  readonly #maxBytes: number;
  #bytes = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  /**
   * The remembered value for this content and these settings, or else `make`'s, remembered when it
   * fits.
   */
  async get(
    content: string,
    settings: string,
    make: () => Promise<T>,
    bytesOf: (value: T) => number,
  ): Promise<T> {
    const key = `${sha256Hex(content)}:${settings}`;
    const known = this.#entries.get(key);
    if (known !== undefined) {
      this.#entries.delete(key);
      this.#entries.set(key, known);
      return known.value;
    }
    const value = await make();
    this.#put(key, { value, bytes: bytesOf(value) + key.length });
    return value;
  }

  #put(key: string, entry: Entry<T>): void {
    if (entry.bytes > this.#maxBytes || this.#entries.has(key)) return;
    this.#entries.set(key, entry);
    this.#bytes += entry.bytes;
    for (const [oldest, { bytes }] of this.#entries) {
      if (this.#bytes <= this.#maxBytes) break;
      this.#entries.delete(oldest);
      this.#bytes -= bytes;
    }
  }

  /** Bytes currently remembered. */
  get bytes(): number {
    return this.#bytes;
  }
}
