// Writes small numbers in few bytes.

/** Bytes that are written one after the other, again and again into the same room. */
export class ByteWriter {
  #buffer = new Uint8Array(1 << 16);
  #length = 0;

  /** Below 256. */
  byte(value: number): void {
    if (this.#length === this.#buffer.length) this.#grow();
    this.#buffer[this.#length++] = value;
  }

  /** Below 2 ** 31, in as few bytes as it takes, seven bits each. */
  number(value: number): void {
    let rest = value;
    for (; rest > 127; rest >>>= 7) this.byte((rest & 127) | 128);
    this.byte(rest);
  }

  /** Four bytes. */
  mask(value: number): void {
    for (let shift = 0; shift < 32; shift += 8) this.byte((value >>> shift) & 255);
  }

  /** All that was written since the last time. */
  take(): Uint8Array {
    const bytes = this.#buffer.slice(0, this.#length);
    this.#length = 0;
    return bytes;
  }

  #grow(): void {
    const larger = new Uint8Array(2 * this.#buffer.length);
    larger.set(this.#buffer);
    this.#buffer = larger;
  }
}

/** Reads what a `ByteWriter` wrote. */
export class ByteReader {
  readonly #bytes: Uint8Array;
  #at = 0;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
  }

  byte(): number {
    return this.#bytes[this.#at++]!;
  }

  number(): number {
    let next = this.#bytes[this.#at++]!;
    let value = next & 127;
    for (let shift = 7; next > 127; shift += 7) {
      next = this.#bytes[this.#at++]!;
      value |= (next & 127) << shift;
    }
    return value;
  }

  mask(): number {
    return this.byte() | (this.byte() << 8) | (this.byte() << 16) | (this.byte() << 24);
  }

  skip(bytes: number): void {
    this.#at += bytes;
  }

  isAtEnd(): boolean {
    return this.#at >= this.#bytes.length;
  }
}
