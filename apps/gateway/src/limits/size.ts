// How people read a number of bytes.

/** In MiB where it is at least one, else in KiB; never less than it is. */
export function describeBytes(bytes: number): string {
  const [unit, name] = bytes >= 1024 ** 2 ? [1024 ** 2, "MiB"] : [1024, "KiB"];
  return `${Math.ceil((10 * bytes) / unit) / 10} ${name}`;
}

/** Bytes of UTF-8 in all of them. */
export function bytesOf(texts: Iterable<string>): number {
  let bytes = 0;
  for (const text of texts) bytes += Buffer.byteLength(text);
  return bytes;
}
